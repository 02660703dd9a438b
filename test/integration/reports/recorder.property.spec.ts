import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import type { DeliveryReport } from '@dundun/messaging/ports';
import { STATUS_RANK } from '../../../libs/messaging/src/message/status.js';
import { type DatabaseKind, describeEachDatabase } from '../../support/databases.js';
import { heldAnswer } from './paper.transport.js';
import { report, ReportsApp } from './reports-app.js';

// A property is tried with many orders of reports.
jest.setTimeout(120_000);

const RUNS: Record<DatabaseKind, number> = { sqlite: 60, postgres: 8, mariadb: 8 };
const RECIPIENTS = ['2348010000001', '2348010000002', '2348010000003'];
const STATUSES = [
  'sent',
  'expired',
  'undelivered',
  'failed',
  'rejected',
  'delivered',
  'read',
] as const;

/** One report of a provider about one recipient, and the way in which it names the message. */
interface Said {
  readonly position: number;
  readonly status: (typeof STATUSES)[number] | null;
  readonly by: 'recipient' | 'message id' | 'both';
  readonly minute: number;
}

const said = fc.record({
  position: fc.nat(RECIPIENTS.length - 1),
  status: fc.constantFrom(...STATUSES, null),
  by: fc.constantFrom('recipient' as const, 'message id' as const, 'both' as const),
  minute: fc.nat(2),
});

/** The reports, their order, repetition and grouping, and the time of the answer. */
const history = fc.array(said, { minLength: 1, maxLength: 8 }).chain((facts) => {
  const telling = fc
    .tuple(
      fc.shuffledSubarray([...facts.keys()], { minLength: facts.length }),
      fc.array(fc.nat(facts.length - 1), { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 14, maxLength: 14 }),
      fc.nat(14),
      fc.boolean(),
    )
    .map(([once, again, sizes, answerAt, together]) => ({
      order: [...once, ...again],
      sizes,
      answerAt,
      together,
    }));
  return fc.record({ facts: fc.constant(facts), tellings: fc.tuple(telling, telling) });
});

type Telling = { order: number[]; sizes: number[]; answerAt: number; together: boolean };

describeEachDatabase('any order of the same reports', (database) => {
  let app: ReportsApp;
  let told = 0;

  beforeAll(async () => {
    app = await ReportsApp.start(database);
  });
  afterAll(() => app.close());

  /** Records all reports and waits for them; the answer to the submit comes at a random place between them. */
  async function tell(facts: readonly Said[], telling: Telling): Promise<[unknown, unknown]> {
    const name = `told-${told++}`;
    const held = heldAnswer(() => ({
      reference: name,
      messageIds: RECIPIENTS.map((_, position) => `${name}-m${position}`),
    }));
    app.paper.answer = held.answer;
    const { id } = await app.sms.send({ from: 'ACME', to: RECIPIENTS, body: 'Hello' });
    await held.asked;
    const reports = facts.map((fact) => reportOf(fact, name));
    const steps: (() => Promise<void> | void)[] = [];
    for (let from = 0, n = 0; from < telling.order.length; n++) {
      const size = telling.sizes[n % telling.sizes.length] ?? 1;
      const group = telling.order.slice(from, (from += size)).map((index) => reports[index]!);
      steps.push(() => app.hear(...group));
    }
    steps.splice(Math.min(telling.answerAt, steps.length), 0, () => held.give());
    if (telling.together) await Promise.all(steps.map(async (step) => step()));
    else for (const step of steps) await step();
    await app.completed(id);
    await app.reconcile();
    return [await statuses(id), await log(id, name)];
  }

  async function statuses(id: string): Promise<unknown> {
    return (await app.sms.messages(id)).data.map(({ status }) => status);
  }

  /** The reports without the store's own log rows and without ids. */
  async function log(id: string, name: string): Promise<unknown> {
    const rows = await app.query<Record<string, unknown>>(
      `SELECT position, reference, message_id, recipient, status, raw_status, provider_time
       FROM messaging_report WHERE batch = '${id}' AND raw_status <> 'submit'`,
    );
    const waiting = await app.query(
      `SELECT id FROM messaging_report WHERE batch IS NULL AND (reference = '${name}' OR message_id LIKE '${name}-%')`,
    );
    expect(waiting).toEqual([]);
    return rows.map((row) => JSON.stringify(row).replaceAll(name, 'it')).sort();
  }

  it('any order of reports ends in the same statuses with each report logged once', () =>
    fc.assert(
      fc.asyncProperty(history, async ({ facts, tellings }) => {
        const [[status, first], [again, second]] = [
          await tell(facts, tellings[0]),
          await tell(facts, tellings[1]),
        ];
        expect(status).toEqual(expectedOf(facts));
        expect(again).toEqual(status);
        expect(second).toEqual(first);
        const distinct = new Set(facts.map((fact) => JSON.stringify(reportOf(fact, 'it'))));
        expect(first).toHaveLength(distinct.size);
      }),
      { numRuns: RUNS[database.kind] },
    ));
});

function reportOf({ position, status, by, minute }: Said, name: string): DeliveryReport {
  return report({
    ...(by !== 'message id' && { reference: name, recipient: RECIPIENTS[position]! }),
    ...(by !== 'recipient' && { messageId: `${name}-m${position}` }),
    status,
    rawStatus: status ?? 'odd',
    providerTime: new Date(Date.UTC(2026, 0, 1, 0, minute)),
  });
}

/** The highest rank said of each, and `sent` where nothing higher was. */
function expectedOf(facts: readonly Said[]): string[] {
  return RECIPIENTS.map((_, position) =>
    facts
      .filter((fact) => fact.position === position)
      .reduce<(typeof STATUSES)[number]>(
        (highest, { status }) =>
          status !== null && STATUS_RANK[status] > STATUS_RANK[highest] ? status : highest,
        'sent',
      ),
  );
}
