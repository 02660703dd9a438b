import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { UncertainFailure } from '@dundun/messaging/ports';
import { DataSource } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import {
  DispatchFixture,
  ForwardClock,
  relayedFixture,
  ScriptedTransport,
} from './dispatch-fixture.js';

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
});

// SQLite has no connection that could break.
describeEachDatabase(
  'a connection that breaks at a commit',
  (database) => {
    const used = relayedFixture(database);

    it.each([
      ['are honoured', WINDOW],
      ['are not honoured', 0],
    ])(
      'messages whose intent commit lost its answer are sent once where keys %s',
      async (_, idempotencyWindow) => {
        const transport = new ScriptedTransport({ maxRecipients: 1, idempotencyWindow });
        const { send, sms } = await used.fixture.boot({}, transport);
        for (const round of [1, 2]) {
          used.relayed.loseCommit('INSERT INTO messaging_submission');
          const ids = await Promise.all([send(`x${round}`), send(`y${round}`)]);
          for (const id of ids)
            await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
          expect(used.relayed.relay.isLosing).toBe(false);
        }
        expect(transport.started).toHaveLength(4);
        expect(transport.texts.toSorted()).toEqual(['x1', 'x2', 'y1', 'y2']);
      },
    );

    it.each([
      ['the answer to the acquisition of a lane', 'loseCommit', 'owner = v_owner'],
      ['the release of a lane', 'loseTransaction', 'owner = CASE'],
      ['the answer to the release of a lane', 'loseCommit', 'owner = CASE'],
    ] as const)(
      '%s is lost and the lane is not blocked until the lease expires',
      async (_, lose, statement) => {
        const { app, send, transport } = await used.fixture.boot({ lease: '10m' });
        await send('first');
        await eventually(async () => expect(transport.texts).toEqual(['first']));
        // The lane's holder still records late answers and does not resend.
        await eventually(async () =>
          expect(await app.get(DataSource).query('SELECT owner FROM messaging_lane')).toEqual([
            { owner: null },
          ]),
        );
        used.relayed[lose](statement);
        await send('second');
        await eventually(async () => expect(used.relayed.relay.isLosing).toBe(false));
        await send('third');
        await eventually(async () => expect(transport.texts).toEqual(['first', 'second', 'third']));
      },
    );
  },
  ['postgres', 'mariadb'],
);
