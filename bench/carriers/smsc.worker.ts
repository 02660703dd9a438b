import { COMMAND_STATUS, SmppServer } from '@dundun/smpp';
import type { AddressInfo } from 'node:net';
import type { Count } from '../harness/rounds.js';
import { serve } from '../harness/worker.serve.js';

interface Arrivals {
  readonly awaited: number;
  readonly done: (count: Count) => void;
  count: number;
  first: number;
}

/** `system_id`s whose answers take {@link LATENCY} milliseconds begin so. */
const FAR = 'far';
const LATENCY = 20;

const refused = new Set<string>();
const arrivals = new Map<string, Arrivals>();
let references = 0;
let port = 0;

/** An SMSC that accepts everything with an id. */
const server = new SmppServer({
  authenticate: ({ systemId }) => ({
    status: refused.has(systemId) ? COMMAND_STATUS.ESME_RBINDFAIL : COMMAND_STATUS.ESME_ROK,
  }),
  receiveWindow: 1_000,
  handlers: {
    submit_sm: async (_pdu, { systemId }) => {
      if (systemId.startsWith(FAR)) await new Promise((resolve) => setTimeout(resolve, LATENCY));
      note(systemId);
      return { messageId: String(++references) };
    },
  },
});

function note(systemId: string): void {
  const of = arrivals.get(systemId);
  if (!of) return;
  if (of.count++ === 0) of.first = performance.now();
  if (of.count < of.awaited) return;
  arrivals.delete(systemId);
  of.done({ count: of.count, ms: performance.now() - of.first });
}

serve({
  start: async () => {
    ({ port } = (await server.listen({ host: '127.0.0.1', port: 0 })) as AddressInfo);
  },
  port: async () => port,
  /** Ends the binds of the peer, and accepts none until `admit`. */
  refuse: async (systemId: string) => {
    refused.add(systemId);
    for (const session of server.sessions) if (session.systemId === systemId) session.close();
  },
  /** Accepts binds of the peer; resolves with the time from its first message to the last of `n`. */
  admit: ({ systemId, n }: { systemId: string; n: number }) => {
    refused.delete(systemId);
    return new Promise<Count>((done) =>
      arrivals.set(systemId, { awaited: n, done, count: 0, first: 0 }),
    );
  },
  stop: () => server.close(),
});
