import { type DatabaseKind } from '../harness/database.place.js';
import type { ResultBook } from '../harness/result.book.js';
import { ratio } from '../harness/rounds.js';
import { startGatewayRelay } from './gateway.relay.js';
import { startKannelRelay } from './kannel.relay.js';
import { alternateRelays, CONNECTIONS, type Relay } from './relay.js';

/** K: the same messages through the gateway and through Kannel, each with a network that delivers every message. */
export async function measureRelays(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { messages, rounds }: { messages: number; rounds: number },
): Promise<void> {
  const relays: Relay[] = [];
  try {
    relays.push(await startGatewayRelay(kind));
    relays.push(await startKannelRelay());
    const [gateway, kannel] = await alternateRelays(relays, messages, rounds);
    if (!gateway || !kannel) throw new Error('a side is missing');
    book.sides('K', name, [gateway.accepted, kannel.accepted, gateway.delivered, kannel.delivered]);
    for (const [what, ours, theirs] of [
      ['accepted', gateway.accepted, kannel.accepted],
      ['delivered, the customer told,', gateway.delivered, kannel.delivered],
    ] as const)
      book.figure({
        id: 'K',
        database: name,
        what: `single messages ${what} ÷ Kannel (spool store), ${CONNECTIONS} in flight`,
        value: ratio(ours, theirs),
        goal: ['>=', 1.5],
      });
  } finally {
    for (const relay of relays) await relay.stop();
  }
}
