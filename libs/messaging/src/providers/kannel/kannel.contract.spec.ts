import { describe, it } from '@jest/globals';
import { HttpService } from '@nestjs/axios';
import axios from 'axios';
import { registryOf } from '../../channels/built-in-channels.js';
import { systemClock } from '../../ports/clock.js';
import { messageTransportContract, type TransportUnderTest } from '../../testing/index.js';
import { kannel, type KannelTransport } from './kannel.transport.js';
import { SendsmsServer } from './sendsms-server.fixture.js';

interface UnderTest extends TransportUnderTest {
  readonly server: SendsmsServer;
}

const ways: [string, () => HttpService][] = [
  ['kannel', () => new HttpService(axios.create())],
  [
    'kannel through interceptors',
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
        const server = await SendsmsServer.start();
        const { url, username, password } = server;
        const transport = kannel({
          url,
          username,
          password,
          callbackUrl: 'http://127.0.0.1:9/reports',
          callbackSecret: 'a secret of its own'.replaceAll(' ', '-'),
        })({ channels: registryOf(), http: httpService(), clock: systemClock }) as KannelTransport;
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
      lostAnswer: { arm: ({ server }) => server.loseNextAnswer(), settles: false },
      pushes: false,
      polls: false,
    },
    { describe, it },
  );
