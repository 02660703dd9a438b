import { describe, it } from '@jest/globals';
import { messageTransportContract, type TransportUnderTest } from '../../testing/index.js';
import { HTTP_WAYS, transportContext } from '../../../../../test/support/transport-context.js';
import { WhatsAppCloudServer } from '../../../../../test/support/whatsapp-cloud-server.js';
import { whatsappCloud, type WhatsAppCloudTransport } from './whatsapp-cloud.transport.js';

interface UnderTest extends TransportUnderTest {
  readonly server: WhatsAppCloudServer;
}

for (const [way, httpService] of HTTP_WAYS)
  messageTransportContract<UnderTest>(
    `whatsapp-cloud ${way}`,
    {
      start: async () => {
        const server = await WhatsAppCloudServer.start();
        const { url: baseUrl, token, phoneNumberId } = server;
        const transport = whatsappCloud({ baseUrl, token, phoneNumberId })(
          transportContext({ http: httpService() }),
        ) as WhatsAppCloudTransport;
        return {
          transport,
          server,
          accepted: () => server.taken.length,
          close: async () => {
            await transport.onApplicationShutdown();
            await server.close();
          },
        };
      },
      changes: { channel: 'whatsapp' },
      sender: '',
      recipient: (index) => String(2348012340000 + index),
      refused: { recipients: ['9912345678'] },
      proxyAnswer: ({ server }, answer, when) => server.answerAsProxy(answer, when),
      lostAnswer: { arm: ({ server }) => server.loseNextAnswer(), settles: false },
      pushes: false,
      polls: false,
    },
    { describe, it },
  );
