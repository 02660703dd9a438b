import { afterEach, beforeEach, expect, it } from '@jest/globals';
import {
  PausedFailure,
  RetryableFailure,
  type SubmissionAccepted,
  UncertainFailure,
} from '@dundun/messaging/ports';
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, ScriptedTransport, textOf } from './dispatch-fixture.js';

describeOneDatabase('a second try', (database) => {
  let fixture: DispatchFixture;

  beforeEach(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it.each([
    ['refused', new RetryableFailure('unavailable', 'x')],
    ['paused', new PausedFailure('unreachable', 'x', 10)],
  ])(
    'a second try that is %s keeps the key of the first, whose answer was lost',
    async (_, then) => {
      const { send, sms, transport } = await fixture.boot();
      const failures = [new UncertainFailure('answer_lost', 'x'), then];
      transport.script = () => {
        const failure = failures.shift();
        if (failure) throw failure;
      };
      const id = await send('once');
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
      expect(transport.started).toHaveLength(3);
      expect(new Set(transport.started.map((submission) => submission.id)).size).toBe(1);
    },
  );

  it('a pending retry survives a takeover of a paused lane', async () => {
    const { send, sms, transport } = await fixture.boot();
    let lost = true;
    let throttled = true;
    transport.script = (submission) => {
      if (textOf(submission) === 'lost' && lost) {
        lost = false;
        throw new UncertainFailure('answer_lost', 'x', 1_200);
      }
      if (textOf(submission) === 'throttled' && throttled) {
        throttled = false;
        throw new PausedFailure('throttled', 'x', 1_500);
      }
    };
    const ids = await Promise.all([send('lost'), send('throttled')]);
    await eventually(async () => expect(lost).toBe(false));
    ids.push(await send('wakes the lane too early'));
    for (const id of ids)
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
  });

  it.each([
    [
      'throws at once',
      () => {
        throw new Error('broken');
      },
    ],
    ['answers nothing', () => Promise.resolve<unknown>(undefined)],
  ])('a retry follows when a transport %s', async (_, misbehave) => {
    class Misbehaving extends ScriptedTransport {
      #first = true;

      override submit(
        ...args: Parameters<ScriptedTransport['submit']>
      ): Promise<SubmissionAccepted> {
        if (!this.#first) return super.submit(...args);
        this.#first = false;
        return misbehave() as Promise<never>;
      }
    }
    const { send, sms } = await fixture.boot({}, new Misbehaving());
    const id = await send('x');
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
  });
});

describeEachDatabase(
  'a nested send on SQLite',
  (database) => {
    it('a send inside a SQLite transaction that does not join it is refused with the remedy', async () => {
      const fixture = new DispatchFixture(database);
      const { send, sms, messaging } = await fixture.boot();
      await expect(messaging.transaction(() => send('inside'))).rejects.toThrow('pass the manager');
      const id = await send('after');
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
      await fixture.clear();
    });
  },
  ['sqlite'],
);
