import { messageTransportContract, type TransportUnderTest } from '@dundun/messaging/testing';
import { describe, it } from '@jest/globals';
import { AcmeServer } from './acme.server.js';
import { AcmeTransport } from './acme.transport.js';

const BLOCKED = '2348012345670';

interface UnderTest extends TransportUnderTest {
  readonly server: AcmeServer;
}

messageTransportContract<UnderTest>(
  'the example acme',
  {
    start: async () => {
      const server = new AcmeServer();
      server.blocked.add(BLOCKED);
      const url = await server.start();
      return {
        transport: new AcmeTransport({ url, token: 'acme-token' }),
        server,
        accepted: () => server.accepted.size,
        close: () => server.stop(),
      };
    },
    sender: 'ACME',
    recipient: (index) => String(2348022345000 + index),
    refused: { recipients: [BLOCKED] },
    lostAnswer: {
      arm: ({ server }) => {
        server.next = { status: 502, body: '<html></html>', accepts: true };
      },
      settles: true,
    },
    proxyAnswer: ({ server }, { status, body }, when) => {
      server.next = { status, body, accepts: when === 'after acceptance' };
    },
    pushes: false,
    polls: false,
  },
  { describe, it },
);
