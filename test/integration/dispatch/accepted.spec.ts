import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { StatusListeners } from '@dundun/messaging';
import { DataSource } from 'typeorm';
import {
  type PreparedSubmission,
  slice,
} from '../../../libs/messaging/src/dispatch/submissions.js';
import type { Lease } from '../../../libs/messaging/src/store/lane-leases.js';
import type { Outcome } from '../../../libs/messaging/src/store/outcome.js';
import { STATUS_RANK } from '../../../libs/messaging/src/message/status.js';
import { describeEachDatabase } from '../../support/databases.js';
import { somebodyWaits } from '../../support/lock-waits.js';
import { type DispatchApp, DispatchFixture, Gate } from './dispatch-fixture.js';

const LANE = ':sms';
const TRANSPORT = 'scripted';
const TO = '2348012345678';
const ANSWERS = [
  ['with an id', true],
  ['with a reference alone', false],
] as const;

describeEachDatabase('an acceptance', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  /** A drain up to the start of its requests; a submission has at most `share` recipients. */
  async function intend({ store }: DispatchApp, share = 1) {
    const { fence } = (await store.lanes.acquire(LANE)) as Lease;
    const planned = await store.work.plan(LANE, 100);
    const limits = {
      provider: TRANSPORT,
      share: () => share,
      now: 0,
      wallNow: Date.now(),
      most: Infinity,
    };
    const { intent, prepared } = slice(planned, () => undefined, limits);
    const live = await store.intents.record({
      lane: LANE,
      fence,
      ...intent,
    });
    return { live, prepared, fence };
  }

  const accepted = (item: PreparedSubmission, fence: number, named = true): Outcome => ({
    batch: item.batch,
    n: item.n,
    firstPosition: item.firstPosition,
    lastPosition: item.lastPosition,
    provider: TRANSPORT,
    fence,
    result: 'accepted',
    reference: `ref-${item.submission.id}`,
    ...(named && { messageIds: new Map([[item.firstPosition, `id-${item.submission.id}`]]) }),
    intended: item,
  });

  const reported = ({ store }: DispatchApp, batch: string) =>
    store.reports.record(
      [
        {
          submissionId: `${batch}-s0`,
          reference: null,
          messageId: null,
          recipient: TO,
          status: 'delivered',
          rawStatus: 'DELIVRD',
          errorCode: null,
          providerTime: null,
        },
      ],
      { provider: TRANSPORT },
    );

  const storyOf = async ({ sms }: DispatchApp, batch: string) =>
    (await sms.reports({ batchIds: [batch] })).data.map(({ status, sequence }) => [
      status,
      sequence,
    ]);

  it.each(ANSWERS)('told twice %s, at once or later, is recorded once', async (_how, named) => {
    const app = await fixture.boot({ dispatch: false });
    const ids = [await app.send('a'), await app.send('b'), await app.send('c')];
    const { prepared, fence } = await intend(app);
    const tell = () =>
      Promise.all(prepared.map((item) => app.store.outcomes.record(accepted(item, fence, named))));
    await Promise.all([tell(), tell()]);
    await tell();
    for (const id of ids) {
      expect(await app.sms.batch(id)).toMatchObject({ status: 'completed', counts: { sent: 1 } });
      expect(await storyOf(app, id)).toEqual([['sent', 1]]);
    }
  });

  it.each(ANSWERS)(
    '%s takes nothing back from what was reported before it',
    async (_how, named) => {
      const app = await fixture.boot({ dispatch: false });
      const [early, late] = [await app.send('early'), await app.send('late')];
      const { prepared, fence } = await intend(app);
      await reported(app, early);
      await Promise.all(
        prepared.map((item) => app.store.outcomes.record(accepted(item, fence, named))),
      );
      expect(await app.sms.batch(early)).toMatchObject({
        status: 'completed',
        counts: { delivered: 1 },
      });
      expect(await storyOf(app, early)).toEqual([['delivered', 1]]);
      expect(await storyOf(app, late)).toEqual([['sent', 1]]);
      for (const id of named ? [early, late] : [])
        expect(
          await app.store.reads.message(`id-${id}-s0`, { tenant: '', channel: 'sms' }),
        ).toMatchObject({ id: `${id}-0` });
    },
  );

  it.each(ANSWERS)(
    '%s raises what was given up as unknown, and completes what it is told together with',
    async (_how, named) => {
      const app = await fixture.boot({ dispatch: false });
      const [unknown, fresh] = [await app.send('unknown'), await app.send('fresh')];
      const { prepared, fence } = await intend(app);
      const [first] = prepared as [PreparedSubmission, PreparedSubmission];
      const { intended: _, messageIds: __, reference: ___, ...head } = accepted(first, fence);
      await app.store.outcomes.record({ ...head, result: 'unknown', errorCode: 'outcome_lost' });
      expect((await app.sms.batch(unknown)).counts).toEqual({ unknown: 1 });
      await Promise.all(
        prepared.map((item) => app.store.outcomes.record(accepted(item, fence, named))),
      );
      for (const id of [unknown, fresh])
        expect(await app.sms.batch(id)).toMatchObject({ status: 'completed', counts: { sent: 1 } });
    },
  );

  it('leaves the same rows whether or not the answer told more than a reference', async () => {
    const app = await fixture.boot({ dispatch: false });
    const ids = [await app.send('bare'), await app.send('detailed')];
    const { prepared, fence } = await intend(app);
    const [bare, detailed] = prepared.map((item) => accepted(item, fence, false)) as [
      Outcome,
      Outcome,
    ];
    await app.store.outcomes.record(bare);
    await app.store.outcomes.record({ ...detailed, details: { cost: 1 } });
    const rowsOf = async (id: string) =>
      (
        (await app.app.get(DataSource).query(
          `SELECT b.state, b.poll_at - b.completed_at AS polled_after, b.completed_at - s.finished_at AS apart,
             s.outcome, s.error_code, m.status, m.sequence, m.reference, m.error_code AS reason, r.tenant, r.position,
             r.provider, r.message_id, r.recipient, r.status AS logged, r.raw_status, r.sequence AS log_sequence, r.hash,
             r.error_code AS log_error, s.finished_at - r.received_at AS later
           FROM messaging_batch b JOIN messaging_submission s ON s.batch = b.id JOIN messaging_message m ON m.batch = b.id
           JOIN messaging_report r ON r.batch = b.id AND r.reference = s.reference WHERE b.id = '${id}'`,
        )) as Record<string, unknown>[]
      ).map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [k, String(v)])));
    const [first, second] = await Promise.all(ids.map(rowsOf));
    expect(first).toHaveLength(1);
    expect(first).toEqual(second);
  });

  it.each(['before', 'after'])(
    'that is told together with a doubt, and %s it, keeps its reference',
    async (when) => {
      const app = await fixture.boot({ dispatch: false });
      const to = [TO, '2348012345679'];
      const { id } = await app.sms.send({ from: 'ACME', to, body: 'x' });
      const { prepared, fence } = await intend(app, 2);
      const { messageIds: _, ...outcome } = accepted(prepared[0] as PreparedSubmission, fence);
      const { intended: __, reference: ___, ...head } = outcome;
      const doubt: Outcome = { ...head, result: 'unknown', errorCode: 'outcome_lost' };
      const told = when === 'before' ? [outcome, doubt] : [doubt, outcome];
      await Promise.all(told.map((one) => app.store.outcomes.record(one)));
      expect(await app.sms.batch(id)).toMatchObject({ status: 'completed', counts: { sent: 2 } });
      await app.store.reports.record(
        to.map((recipient) => ({
          reference: `ref-${id}-s0`,
          messageId: null,
          recipient,
          status: 'delivered' as const,
          rawStatus: 'DELIVRD',
          errorCode: null,
          providerTime: null,
        })),
        { provider: TRANSPORT },
      );
      expect((await app.sms.batch(id)).counts).toEqual({ delivered: 2 });
    },
  );

  it('of a part completes no batch; that of the last part does', async () => {
    const app = await fixture.boot({ dispatch: false });
    const to = [TO, '2348012345679', '2348012345680'];
    const { id } = await app.sms.send({ from: 'ACME', to, body: 'x' });
    const { prepared, fence } = await intend(app);
    expect(prepared).toHaveLength(3);
    const [last, ...others] = prepared as [PreparedSubmission, ...PreparedSubmission[]];
    await Promise.all(others.map((item) => app.store.outcomes.record(accepted(item, fence))));
    expect(await app.sms.batch(id)).toMatchObject({
      status: 'sending',
      counts: { sending: 1, sent: 2 },
    });
    await app.store.outcomes.record(accepted(last, fence));
    expect(await app.sms.batch(id)).toMatchObject({ status: 'completed', counts: { sent: 3 } });
  });

  it('of many recipients in one request raises each of them', async () => {
    const app = await fixture.boot({ dispatch: false });
    const to = [TO, '2348012345679', '2348012345680'];
    const { id } = await app.sms.send({ from: 'ACME', to, body: 'x' });
    const { prepared, fence } = await intend(app, 100);
    await reported(app, id);
    const [{ messageIds: _, ...outcome }] = prepared.map((item) => accepted(item, fence)) as [
      Outcome,
    ];
    await app.store.outcomes.record(outcome);
    expect(await app.sms.batch(id)).toMatchObject({
      status: 'completed',
      counts: { sent: 2, delivered: 1 },
    });
  });

  it('nothing starts of a batch that was cancelled after it was planned; the others do', async () => {
    const app = await fixture.boot({ dispatch: false });
    const [kept, cancelled] = [await app.send('kept'), await app.send('cancelled')];
    const { fence } = (await app.store.lanes.acquire(LANE)) as Lease;
    const planned = await app.store.work.plan(LANE, 100);
    await app.sms.cancel(cancelled);
    const limits = {
      provider: TRANSPORT,
      share: () => 1,
      now: 0,
      wallNow: Date.now(),
      most: Infinity,
    };
    const { intent } = slice(planned, () => undefined, limits);
    const live = await app.store.intents.record({
      lane: LANE,
      fence,
      ...intent,
    });
    expect([...live]).toEqual([kept]);
    expect((await app.sms.batch(kept)).counts).toEqual({ sending: 1 });
    expect(await app.sms.batch(cancelled)).toMatchObject({
      status: 'cancelled',
      counts: { cancelled: 1 },
    });
  });

  // SQLite has one writer at a time; on MariaDB the second waits for the first one's messages.
  if (database.kind === 'postgres')
    it('of the last two parts, by two processes at once, completes the batch', async () => {
      const processes = [
        await fixture.boot({ dispatch: false }),
        await fixture.boot({ dispatch: false }),
      ] as const;
      const together = new Gate();
      let inside = 0;
      for (const { app } of processes)
        app.get(StatusListeners).add({
          onStatusChanged: () => {
            if (++inside === 2) together.open();
            return together.opened;
          },
        });
      const [{ sms }] = processes;
      const { id } = await sms.send({ from: 'ACME', to: [TO, '2348012345679'], body: 'x' });
      const { prepared, fence } = await intend(processes[0]);
      const parts = prepared as [PreparedSubmission, PreparedSubmission];
      await Promise.all(
        processes.map(({ store }, n) => store.outcomes.record(accepted(parts[n]!, fence))),
      );
      expect(await sms.batch(id)).toMatchObject({ status: 'completed', counts: { sent: 2 } });
    });

  if (database.kind === 'postgres')
    it('that has waited for a report gives the message its id', async () => {
      const app = await fixture.boot({ dispatch: false });
      const id = await app.send('x');
      const { prepared, fence } = await intend(app);
      const elsewhere = await database.open();
      const report = elsewhere.createQueryRunner();
      await report.startTransaction();
      await report.query(
        `UPDATE messaging_message SET status = ${STATUS_RANK.delivered}, sequence = 1 WHERE batch = '${id}'`,
      );
      const recorded = app.store.outcomes.record(
        accepted(prepared[0] as PreparedSubmission, fence),
      );
      await somebodyWaits(database.kind, elsewhere);
      await report.commitTransaction();
      await report.release();
      await recorded;
      expect(await app.sms.batch(id)).toMatchObject({
        status: 'completed',
        counts: { delivered: 1 },
      });
      expect(
        await app.store.reads.message(`id-${id}-s0`, { tenant: '', channel: 'sms' }),
      ).toMatchObject({ id: `${id}-0` });
    });
});
