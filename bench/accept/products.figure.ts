import { Operator } from '../billing/paying.account.js';
import type { Extent } from '../harness/extent.js';
import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import { HttpLoad } from '../harness/http.load.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, ratio } from '../harness/rounds.js';
import { GatewayProcess } from './gateway.process.js';

/** Requests in flight. */
const LOADS = [1, 64] as const;

let sent = 0;

const PRODUCTS = {
  SMS: {
    path: '/ng/v1/sendsms',
    bodyOf: () => `{"from":"ACME","to":["${number()}"],"body":"Your code is 123456"}`,
  },
  call: {
    path: '/ng/v1/voice/calls',
    bodyOf: () => `{"from":"2348000000001","to":["${number()}"],"text":"Your code is 123456"}`,
  },
  order: {
    path: '/ng/v1/vas/orders',
    bodyOf: () =>
      `{"to":"${number()}","product":"airtime-ng","amount":"50","client_reference":"shop-${sent}"}`,
  },
} as const;

function number(): string {
  return `23480${10_000_000 + ++sent}`;
}

/**
 * A4: durable calls and orders per second through a gateway that only accepts, ÷ single SMS, of an
 * account that does not pay.
 */
export async function measureProducts(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { ms, rounds }: Extent,
): Promise<void> {
  const place = await makeDatabase(kind);
  const gateway = await GatewayProcess.start(place.url, { ROLE: 'api' });
  try {
    const operator = new Operator(place.url);
    await operator.orders(await operator.demo());
    await operator.frees();
    for (const inFlight of LOADS) {
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${gateway.token}`,
      };
      const loads = Object.entries(PRODUCTS).map(([product, { path, bodyOf }]) => {
        return { product, bodyOf, load: new HttpLoad(gateway.url, inFlight, { path, headers }) };
      });
      const sides = await alternate(
        loads.map(({ product, bodyOf, load }) => ({
          name: `${product}, ${inFlight} in flight`,
          pid: gateway.pid,
          run: () => load.run(ms, bodyOf),
        })),
        rounds,
      );
      book.sides('A4', name, sides);
      const [sms, call, order] = sides;
      if (!sms || !call || !order) throw new Error('a side is missing');
      for (const [what, side, least] of [
        ['calls', call, 0.9],
        ['orders', order, 0.7],
      ] as const)
        book.figure({
          id: 'A4',
          database: name,
          what: `durable single ${what} through the gateway ÷ SMS, ${inFlight} in flight`,
          value: ratio(side, sms),
          goal: ['>=', least],
        });
      await Promise.all(loads.map(({ load }) => load.close()));
    }
  } finally {
    await gateway.stop();
    await place.remove();
  }
}
