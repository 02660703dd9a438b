import { afterEach, beforeAll, expect, it } from '@jest/globals';
import type { MessagingService } from '@dundun/messaging';
import {
  DeferredFailure,
  PausedFailure,
  PausedUncertainFailure,
  type PassReason,
  RetryableFailure,
  UncertainFailure,
} from '@dundun/messaging/ports';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { intend, LANE } from './intend.js';
import {
  type DispatchApp,
  DispatchFixture,
  ScriptedTransport,
  textOf,
} from './dispatch-fixture.js';

const MESSAGES = 30;
const CONCURRENCY = 4;
const REFUSALS = [
  ['certainly not accepted', (wait?: number) => new PausedFailure('throttled', 'x', wait)],
  ['kept under its key', (wait?: number) => new PausedUncertainFailure('throttled', 'x', wait)],
] as const;

function reasonsOf(messaging: MessagingService): Partial<Record<PassReason, number>> {
  return Object.fromEntries(
    messaging.passedMessages().map(({ reason, messages }) => [reason, messages]),
  );
}

describeOneDatabase('the order of a lane', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  /** Accepts the messages one after the other, and waits until all have left. */
  async function run(app: DispatchApp, script: ScriptedTransport['script']): Promise<string[]> {
    app.transport.script = script;
    for (let n = 0; n < MESSAGES; n++) await app.send(`n${n}`);
    await eventually(async () => expect(new Set(app.transport.texts).size).toBe(MESSAGES), 20_000);
    return app.transport.started.map(textOf);
  }

  it.each(
    REFUSALS.flatMap((refusal) => [undefined, 1_100].map((wait) => [...refusal, wait] as const)),
  )(
    'a throttled message (%s) leaves before all that had not started (%#)',
    async (_, failure, wait) => {
      const app = await fixture.boot({ concurrency: CONCURRENCY, backoff: 200 });
      const { transport } = app;
      let startedBefore = 0;
      const texts = await run(app, async (submission) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (textOf(submission) !== 'n10' || startedBefore > 0) return;
        startedBefore = transport.started.length;
        throw failure(wait);
      });
      expect(texts[startedBefore]).toBe('n10');
      expect(startedBefore).toBeLessThanOrEqual(10 + CONCURRENCY);
      expect(Object.keys(reasonsOf(app.messaging))).toEqual(
        startedBefore > 11 ? ['in_flight'] : [],
      );
    },
  );

  it.each(REFUSALS)(
    'messages that are throttled together (%s) leave again in their order, whatever the order of the answers',
    async (_, failure) => {
      const app = await fixture.boot({ concurrency: CONCURRENCY, backoff: 100 });
      const refused = new Set<string>();
      const texts = await run(app, async (submission) => {
        const text = textOf(submission);
        const n = Number(text.slice(1));
        if (n < 10 || n > 13 || refused.has(text)) return;
        // The last one is answered first.
        await new Promise((resolve) => setTimeout(resolve, 10 * (14 - n)));
        refused.add(text);
        throw failure();
      });
      const again = texts.filter((text, index) => texts.indexOf(text) < index);
      expect(again.filter((text, index) => again.indexOf(text) === index)).toEqual(
        [...refused].toSorted(),
      );
      expect(reasonsOf(app.messaging).unnamed).toBeUndefined();
    },
  );

  it('messages that a dead process left open are repeated in their order while their provider is probed', async () => {
    const dead = await fixture.boot({ dispatch: false });
    const sent = Array.from({ length: 6 }, (_, n) => `n${n}`);
    for (const text of sent) await dead.send(text);
    const { lease } = await intend(dead.store);
    await dead.store.lanes.release(LANE, lease.fence, null, true);
    const transport = new ScriptedTransport();
    let failures = 0;
    transport.script = async (submission) => {
      // The probe waits for the first message, and others become due meanwhile.
      if (textOf(submission) === 'n0') await new Promise((resolve) => setTimeout(resolve, 500));
      if (textOf(submission) === 'n1' && failures++ === 0)
        throw new UncertainFailure('http_500', 'x');
    };
    await fixture.boot({ concurrency: 2 }, transport);
    await eventually(async () => expect(new Set(transport.texts).size).toBe(sent.length));
    expect([...new Set(transport.started.map(textOf))]).toEqual(sent);
  });

  it('a message that its provider defers is counted as passed for that reason', async () => {
    const app = await fixture.boot({ concurrency: 1 });
    let deferrals = 0;
    await run(app, (submission) => {
      if (textOf(submission) === 'n3' && deferrals++ === 0)
        throw new DeferredFailure('greylisted', 'x', 300, 60_000);
    });
    expect(reasonsOf(app.messaging)).toEqual({ deferred: 1 });
  });

  it('a refused resend of a message whose answer was lost is counted as passed for its uncertainty', async () => {
    const app = await fixture.boot({ concurrency: CONCURRENCY, backoff: 200 });
    const allHaveStarted = () =>
      eventually(async () => expect(app.transport.started).toHaveLength(MESSAGES), 20_000);
    let tries = 0;
    await run(app, async (submission) => {
      if (textOf(submission) !== 'n3') return;
      tries++;
      if (tries === 1) {
        // Whatever the speed of the machine, later messages have started.
        await allHaveStarted();
        throw new UncertainFailure('http_500', 'x');
      }
      if (tries === 2) throw new RetryableFailure('http_503', 'x');
    });
    await eventually(async () => expect(tries).toBe(3), 20_000);
    // The first resend had backed off by itself.
    expect(reasonsOf(app.messaging)).toEqual({ parked: 1, uncertain: 1 });
  });
});
