import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  type Submission,
  UncertainFailure,
} from '@dundun/messaging/ports';
import fc from 'fast-check';
import { Intents } from '../../../libs/messaging/src/store/verbs/intents.js';
import { type DatabaseKind, describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type DispatchApp, DispatchFixture, ScriptedTransport } from './dispatch-fixture.js';

/** The provider's reaction to one request. */
const ANSWERS = ['accepts', 'refuses', 'pauses', 'rejects', 'loses', 'loses the answer'] as const;
type Answer = (typeof ANSWERS)[number];

interface Sent {
  readonly size: number;
  readonly high: boolean;
  /** After so many more requests, if at all. */
  readonly cancelAfter: number | null;
}

const RUNS: Record<DatabaseKind, number> = { sqlite: 25, postgres: 10, mariadb: 5 };

/** A provider that honours keys and logs messages; it answers as scripted, then accepts. */
class Book extends ScriptedTransport {
  readonly taken = new Map<string, Submission>();
  answers: Answer[] = [];
  /** Keys that came back with other recipients. */
  readonly conflicts: string[] = [];

  constructor() {
    super({ maxRecipients: 3, idempotencyWindow: 3_600_000 });
    this.script = async (submission) => {
      await new Promise((resolve) => setImmediate(resolve));
      const known = this.taken.get(submission.id);
      if (known && String(known.recipients) !== String(submission.recipients))
        this.conflicts.push(submission.id);
      switch (this.answers.shift()) {
        case 'refuses':
          if (!known) throw new RetryableFailure('http_503', 'x', 1);
          break;
        case 'pauses':
          throw new PausedFailure('throttled', 'x', 1);
        case 'rejects':
          if (!known) throw new PermanentFailure('http_400', 'x');
          break;
        case 'loses':
          throw new UncertainFailure('timeout', 'x', 1);
        case 'loses the answer':
          this.taken.set(submission.id, submission);
          throw new UncertainFailure('timeout', 'x', 1);
        default:
      }
      this.taken.set(submission.id, submission);
    };
  }
}

describeEachDatabase('random provider answers and cancellations', (database) => {
  const fixture = new DispatchFixture(database);
  const book = new Book();
  let app: DispatchApp;
  let count = 0;
  beforeAll(async () => {
    const engineless = { backoff: 1, concurrency: 3, maxAttempts: 50 };
    app = await fixture.boot(engineless, book);
  });
  afterAll(() => fixture.clear());

  /** The commit of one of the next intents is made, and its answer lost. */
  const loseCommit = (after: number) => {
    const { intents } = app.store;
    const { record } = Intents.prototype;
    let calls = 0;
    intents.record = async (intent) => {
      const live = await record.call(intents, intent);
      if (calls++ === after) throw Object.assign(new Error('lost'), { code: 'ECONNRESET' });
      return live;
    };
  };

  const send = async ({ size, high, cancelAfter }: Sent) => {
    const to = Array.from({ length: size }, () => String(2348010000000 + count++));
    const { id } = await app.sms.send(
      { from: 'ACME', to, body: 'x' },
      { class: high ? 'high' : 'normal' },
    );
    if (cancelAfter === null) return { id, to };
    const from = book.started.length;
    for (let turns = 0; turns < 50 && book.started.length < from + cancelAfter; turns++)
      await new Promise((resolve) => setImmediate(resolve));
    await app.sms.cancel(id).catch(() => undefined);
    return { id, to };
  };

  it("every message ends, no recipient gets it twice, and the store agrees with the provider's log", async () => {
    const sent = fc.record({
      size: fc.integer({ min: 1, max: 7 }),
      high: fc.boolean(),
      cancelAfter: fc.option(fc.nat(4)),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(sent, { minLength: 1, maxLength: 6 }),
        fc.array(fc.constantFrom(...ANSWERS), { maxLength: 12 }),
        fc.option(fc.nat(2)),
        async (sends, answers, lost) => {
          book.answers = [...answers];
          loseCommit(lost ?? Infinity);
          const batches = await Promise.all(sends.map(send));
          for (const { id, to } of batches) {
            await eventually(async () =>
              expect(['completed', 'cancelled']).toContain((await app.sms.batch(id)).status),
            );
            await eventually(async () => {
              const { counts } = await app.sms.batch(id);
              expect(counts.sending ?? 0).toBe(0);
              expect(counts.queued ?? 0).toBe(0);
            });
            const taken = [...book.taken.values()].filter(({ batchId }) => batchId === id);
            const reached = taken.flatMap(({ recipients }) => recipients);
            expect(new Set(reached).size).toBe(reached.length);
            const { counts } = await app.sms.batch(id);
            expect(counts.sent ?? 0).toBe(reached.length);
            const ended = [counts.sent, counts.rejected, counts.cancelled, counts.failed];
            expect(ended.reduce<number>((sum, n) => sum + (n ?? 0), 0)).toBe(to.length);
          }
        },
      ),
      { numRuns: RUNS[database.kind] },
    );
  });
});
