import { measureHotAccount, measurePaidSends, measurePaidWay } from './billing/paying.figure.js';
import { amountText } from '../src/billing/money.js';
import { OTHERS, type Rate, RateTable } from '../src/billing/rate-cards/rate-table.js';
import { databaseKinds, describeDatabase } from './harness/database.place.js';
import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';

/** Measures the prices of a batch (M1), and what billing costs the ways of messages (M2, M3). */
const asked = request({ ms: 600, rounds: 5 }, { ms: 1_000, rounds: 15 });
const messages = asked.form === 'full' ? 10_000 : 2_000;

/** Batches that are priced. */
const BATCHES = asked.form === 'full' ? 101 : 15;

const RECIPIENTS = 100_000;
const COUNTRIES = 40;
/** Prefixes of networks in a country. */
const NETWORKS = 50;

const countries = Array.from({ length: COUNTRIES }, (_, n) => String(210 + n));

function rateOf(prefix: string, price: number): Rate {
  const amount = BigInt(price);
  return {
    channel: 'sms',
    prefix,
    category: null,
    price: amountText(amount),
    amount,
    billing: null,
  };
}

const rates = [
  rateOf(OTHERS, 50_000),
  ...countries.flatMap((country, n) => [
    rateOf(country, 10_000 + n),
    ...Array.from({ length: NETWORKS }, (_, network) =>
      rateOf(`${country}8${String(network).padStart(2, '0')}`, 5_000 + network),
    ),
  ]),
];

const table = new RateTable(rates);

/** Half of them are numbers of a network that has a price of its own. */
function recipientsOf(round: number): string[] {
  return Array.from({ length: RECIPIENTS }, (_, n) => {
    const country = countries[n % COUNTRIES] ?? '';
    const rest = String((n * 7_919 + round) % 10 ** 7).padStart(7, '0');
    return `${country}8${n % 2 === 0 ? '' : '9'}${rest}`;
  });
}

const times: number[] = [];
for (let round = 0; round <= BATCHES; round++) {
  const recipients = recipientsOf(round);
  const before = process.cpuUsage();
  const { groups, unpriced } = table.price('sms', null, recipients);
  const { user, system } = process.cpuUsage(before);
  const counted = groups.reduce((sum, group) => sum + group.recipients, 0);
  if (counted !== RECIPIENTS || unpriced !== -1) throw new Error('a recipient has no price');
  // The first round compiles.
  if (round > 0) times.push((user + system) / 1_000);
}
times.sort((a, b) => a - b);

const book = new ResultBook('billing', asked.form);
book.figure({
  id: 'M1',
  database: '–',
  what: `${RECIPIENTS.toLocaleString('en')} recipients in ${COUNTRIES} countries priced by ${rates.length.toLocaleString('en')} rates, CPU`,
  value: times[Math.floor(times.length / 2)] ?? NaN,
  unit: ' ms',
  goal: ['<=', 25],
});
book.figure({
  id: 'M1',
  database: '–',
  what: 'the same, the slowest round',
  value: times.at(-1) ?? NaN,
  unit: ' ms',
});
for (const kind of await databaseKinds()) {
  const name = await describeDatabase(kind);
  if (asked.wants('M2')) {
    await measurePaidSends(book, kind, name, asked);
    await measurePaidWay(book, kind, name, { messages, rounds: asked.rounds });
  }
  if (asked.wants('M3')) await measureHotAccount(book, kind, name, asked);
}
await book.close();
