import { describe, it } from '@jest/globals';
import { HttpService } from '@nestjs/axios';
import axios from 'axios';
import { registryOf } from '../../channels/built-in-channels.js';
import { systemClock } from '../../ports/clock.js';
import { messageTransportContract, type TransportUnderTest } from '../../testing/index.js';
import { http, type HttpTransport } from './http.transport.js';
import { InterfaceServer } from './interface-server.fixture.js';

interface UnderTest extends TransportUnderTest {
  readonly service: InterfaceServer;
}

const ways: [string, () => HttpService][] = [
  ['http', () => new HttpService(axios.create())],
  [
    'http through interceptors',
    () => {
      const httpService = new HttpService(axios.create());
      httpService.axiosRef.interceptors.request.use((config) => config);
      return httpService;
    },
  ],
];

for (const [name, httpService] of ways)
  messageTransportContract<UnderTest>(
    name,
    {
      start: async () => {
        const service = await InterfaceServer.start();
        const transport = http({ baseUrl: service.url, apiToken: service.apiToken })({
          channels: registryOf(),
          http: httpService(),
          clock: systemClock,
        }) as HttpTransport;
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
      lostAnswer: { arm: ({ service }) => service.loseNextAnswer(), settles: true },
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
      const transport = http({ baseUrl, apiToken, apiKey })({
        channels: registryOf(),
        http: new HttpService(axios.create()),
        clock: systemClock,
      }) as HttpTransport;
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
    pushes: false,
    polls: true,
  },
  { describe, it },
);
