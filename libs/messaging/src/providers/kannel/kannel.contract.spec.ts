import { describe, it } from '@jest/globals';
import { HTTP_WAYS, transportContext } from '../../../../../test/support/transport-context.js';
import { messageTransportContract, type TransportUnderTest } from '../../testing/index.js';
import { kannel, type KannelTransport } from './kannel.transport.js';
import { SendsmsServer } from '../../../../../test/support/sendsms-server.js';

interface UnderTest extends TransportUnderTest {
  readonly server: SendsmsServer;
}

for (const [way, httpService] of HTTP_WAYS)
  messageTransportContract<UnderTest>(
    `kannel ${way}`,
    {
      start: async () => {
        const server = await SendsmsServer.start();
        const { url, username, password } = server;
        const transport = kannel({
          url,
          username,
          password,
          callback: {
            url: 'http://127.0.0.1:9/reports',
            secret: 'a secret of its own'.replaceAll(' ', '-'),
          },
        })(transportContext({ http: httpService() })) as KannelTransport;
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
      sender: 'ACME',
      recipient: (index) => String(2348012340000 + index),
      refused: { recipients: ['9912345678'] },
      proxyAnswer: ({ server }, answer, when) => server.answerAsProxy(answer, when),
      lostAnswer: { arm: ({ server }) => server.loseNextAnswer(), settles: false },
      pushes: false,
      polls: false,
    },
    { describe, it },
  );
