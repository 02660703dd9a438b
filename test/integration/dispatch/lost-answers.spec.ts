import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { UncertainFailure } from '@dundun/messaging';
import { DataSource } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture, ForwardClock, Gate, ScriptedTransport } from './dispatch-fixture.js';

const WINDOW = 3_600_000;

describeEachDatabase('an answer that was lost', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('a submission without an answer is not resent after the idempotency window', async () => {
    const clock = new ForwardClock();
    const transport = new ScriptedTransport({ maxRecipients: 1, idempotencyWindow: WINDOW });
    const { send, sms } = await fixture.boot({}, transport, undefined, [], clock);
    transport.script = () => {
      // The machine sleeps before the second try is due.
      setTimeout(() => (clock.ahead += 2 * WINDOW), 20);
      throw new UncertainFailure('timeout', 'x', 800);
    };
    const id = await send('x');
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ unknown: 1 }));
    expect(transport.started).toHaveLength(1);
  });

  it.each([
    ['and keys are honoured', WINDOW],
    ['and keys are not', 0],
  ])(
    'messages whose intent commit lost its answer (%s) are sent once',
    async (_, idempotencyWindow) => {
      const transport = new ScriptedTransport({ maxRecipients: 1, idempotencyWindow });
      const { send, sms, store } = await fixture.boot({}, transport);
      const record = store.intents.record.bind(store.intents);
      let losses = 2;
      store.intents.record = async (intent) => {
        const live = await record(intent);
        if (intent.submissions.length > 0 && losses-- > 0)
          throw Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });
        return live;
      };
      const ids = await Promise.all([send('x'), send('y')]);
      for (const id of ids)
        await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
      expect(transport.started).toHaveLength(2);
      expect(transport.texts.toSorted()).toEqual(['x', 'y']);
    },
  );

  it.each(['acquire', 'release'] as const)(
    "a lost answer to a lane's %s does not block the lane until the lease expires",
    async (step) => {
      const { app, send, transport, store } = await fixture.boot({ lease: '10m' });
      await send('first');
      await eventually(async () => expect(transport.texts).toEqual(['first']));
      // The lane's holder still records late answers and does not resend.
      await eventually(async () =>
        expect(await app.get(DataSource).query('SELECT owner FROM messaging_lane')).toEqual([
          { owner: null },
        ]),
      );
      const { lanes } = store;
      const lost = new Gate();
      const lose = (answer: unknown) => {
        Object.assign(lanes, { [step]: done });
        lost.open();
        void answer;
        throw Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });
      };
      const done = (lanes[step] as (...args: unknown[]) => Promise<unknown>).bind(lanes);
      Object.assign(lanes, {
        [step]: async (...args: unknown[]) => lose(step === 'acquire' && (await done(...args))),
      });
      await send('second');
      await lost.opened;
      await send('third');
      await eventually(async () => expect(transport.texts).toEqual(['first', 'second', 'third']));
    },
  );
});
