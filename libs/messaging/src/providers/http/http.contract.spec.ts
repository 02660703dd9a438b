import { describe, it } from '@jest/globals';
import { HTTP_WAYS, transportContext } from '../../../../../test/support/transport-context.js';
import { messageTransportContract, type TransportUnderTest } from '../../testing/index.js';
import type { VoiceContent } from '../../message/content/voice-content.js';
import { http, type HttpTransport } from './http.transport.js';
import { InterfaceServer } from '../../../../../test/support/interface-server.js';

interface UnderTest extends TransportUnderTest {
  readonly service: InterfaceServer;
}

for (const [way, httpService] of HTTP_WAYS)
  messageTransportContract<UnderTest>(
    `http ${way}`,
    {
      start: async () => {
        const service = await InterfaceServer.start();
        const transport = http({ baseUrl: service.url, apiToken: service.apiToken })(
          transportContext({ http: httpService() }),
        ) as HttpTransport;
        return {
          transport,
          service,
          accepted: () => service.accepted.size,
          close: async () => {
            await transport.onApplicationShutdown();
            await service.close();
          },
        };
      },
      sender: 'ACME',
      recipient: (index) => String(2348012340000 + index),
      refused: { sender: 'NOBODY' },
      proxyAnswer: ({ service }, answer, when) => service.answerAsProxy(answer, when),
      lostAnswer: { arm: ({ service }) => service.loseNextAnswer(), settles: true },
      pushes: false,
      polls: true,
    },
    { describe, it },
  );

messageTransportContract<UnderTest>(
  'http, on email',
  {
    start: async () => {
      const service = await InterfaceServer.start();
      const { url: baseUrl, apiKey } = service;
      const transport = http({ baseUrl, apiKey })(transportContext()) as HttpTransport;
      return {
        transport,
        service,
        accepted: () => service.acceptedEmails.size,
        close: async () => {
          await transport.onApplicationShutdown();
          await service.close();
        },
      };
    },
    changes: {
      channel: 'email',
      content: {
        kind: 'email',
        from: { email: 'shop@example.com' },
        subject: 'Hello',
        text: 'Hello',
      },
    },
    sender: 'shop@example.com',
    recipient: (index) => `n${index}@example.org`,
    refused: {
      content: {
        kind: 'email',
        from: { email: 'shop@example.net' },
        subject: 'Hello',
        text: 'Hello',
      },
    },
    proxyAnswer: ({ service }, answer, when) => service.answerAsProxy(answer, when),
    pushes: false,
    polls: true,
  },
  { describe, it },
);

messageTransportContract<UnderTest>(
  'http, on WhatsApp',
  {
    start: async () => {
      const service = await InterfaceServer.start();
      const { url: baseUrl, apiToken, apiKey } = service;
      const transport = http({ baseUrl, apiToken, apiKey })(transportContext()) as HttpTransport;
      return {
        transport,
        service,
        accepted: () => service.acceptedWhatsApp.size,
        close: async () => {
          await transport.onApplicationShutdown();
          await service.close();
        },
      };
    },
    changes: { channel: 'whatsapp' },
    most: 1,
    sender: '2348000000001',
    recipient: (index) => String(2348012340000 + index),
    refused: { recipients: ['2348012349903'] },
    proxyAnswer: ({ service }, answer, when) => service.answerAsProxy(answer, when),
    pushes: false,
    polls: true,
  },
  { describe, it },
);

messageTransportContract<UnderTest>(
  'http, on voice',
  {
    start: async () => {
      const service = await InterfaceServer.start();
      const { url: baseUrl, apiToken } = service;
      const transport = http({ baseUrl, apiToken })(transportContext()) as HttpTransport;
      return {
        transport,
        service,
        accepted: () => service.acceptedCalls.size,
        close: async () => {
          await transport.onApplicationShutdown();
          await service.close();
        },
      };
    },
    changes: {
      channel: 'voice',
      content: {
        kind: 'call',
        text: 'Hello',
        repeat: 1,
        ringTimeout: 30_000,
        maxDuration: 600_000,
        machine: 'hangup',
        category: 'transactional',
      } satisfies VoiceContent,
    },
    sender: '2348000000001',
    recipient: (index) => String(2348012340000 + index),
    refused: { sender: '2348000000009' },
    proxyAnswer: ({ service }, answer, when) => service.answerAsProxy(answer, when),
    pushes: false,
    polls: true,
  },
  { describe, it },
);
