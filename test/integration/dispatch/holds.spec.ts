import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { MESSAGING_MIGRATIONS, migrateDatabase } from '@dundun/messaging/migrations';
import { HoldsService } from '@dundun/messaging/operations';
import { setTimeout } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import { Holds } from '../../../libs/messaging/src/store/verbs/holds.js';
import { DatabaseEngine } from '../../../libs/messaging/src/engines/database.engine.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import {
  type DispatchApp,
  DispatchFixture,
  ForwardClock,
  Gate,
  ScriptedTransport,
} from './dispatch-fixture.js';

const HOUR = 3_600_000;

const HOLD = { lanes: 'a:*', reason: 'account_suspended' };

const holdsOf = ({ app }: DispatchApp) => app.get(HoldsService);

describeEachDatabase('holds on lanes', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(async () => {
    const source = await database.open();
    await source.query('DELETE FROM messaging_hold');
    await source.destroy();
    await fixture.clear();
  });

  const statusOf = async (booted: DispatchApp, id: string, tenant = '') =>
    (await booted.sms.batch(id, { tenant })).counts;

  it('a held lane accepts messages, and sends them after its release', async () => {
    const booted = await fixture.boot();
    await holdsOf(booted).hold(HOLD);
    const held = await booted.send('held', { tenant: 'a' });
    const free = await booted.send('of another', { tenant: 'b' });
    await booted.send('of a longer name', { tenant: 'aa' });
    await eventually(async () =>
      expect(booted.transport.texts.toSorted()).toEqual(['of a longer name', 'of another']),
    );
    const { since } = (await holdsOf(booted).list())[0]!;
    expect(await booted.messaging.lanes()).toMatchObject([
      { lane: 'a:sms', leased: false, pauseReason: null, hold: { ...HOLD, since } },
    ]);
    expect(await booted.messaging.queueAges()).toEqual({ high: 0, normal: 0 });
    expect(await booted.sms.batch(held, { tenant: 'a' })).toMatchObject({
      status: 'queued',
      held: true,
      reason: HOLD.reason,
    });
    expect(await booted.sms.batch(free, { tenant: 'b' })).toMatchObject({
      held: false,
      reason: null,
    });
    expect(await holdsOf(booted).release({ ...HOLD, reason: 'other' })).toBe(false);
    expect(await holdsOf(booted).release(HOLD)).toBe(true);
    await eventually(async () => expect(booted.transport.texts).toContain('held'));
  });

  it('a hold ends no request in flight, and starts no message that was prepared', async () => {
    const gate = new Gate();
    const booted = await fixture.boot({ concurrency: 1 });
    booted.transport.script = () => gate.opened;
    const first = await booted.send('in flight', { tenant: 'a' });
    const second = await booted.send('prepared', { tenant: 'a' });
    await eventually(async () => expect(booted.transport.started).toHaveLength(1));
    await holdsOf(booted).hold(HOLD);
    gate.open();
    await eventually(async () => expect(await statusOf(booted, first, 'a')).toEqual({ sent: 1 }));
    await eventually(async () =>
      expect(await booted.messaging.lanes()).toMatchObject([{ lane: 'a:sms', leased: false }]),
    );
    expect(await statusOf(booted, second, 'a')).toEqual({ queued: 1 });
    expect(booted.transport.started).toHaveLength(1);
    await holdsOf(booted).release(HOLD);
    await eventually(async () => expect(booted.transport.texts).toEqual(['in flight', 'prepared']));
  });

  it('from the moment a hold resolves, this process starts nothing on its lanes', async () => {
    const booted = await fixture.boot();
    for (const [n, lanes] of ['*:sms', 'a:sms', 'a:*', '*'].entries()) {
      const hold = { lanes, reason: 'account_suspended' };
      await booted.send(`before ${n}`, { tenant: 'a' });
      await eventually(async () => expect(booted.transport.texts).toContain(`before ${n}`));
      await holdsOf(booted).hold(hold);
      await booted.send(`held ${n}`, { tenant: 'a' });
      await setTimeout(250);
      expect(booted.transport.texts).not.toContain(`held ${n}`);
      await holdsOf(booted).release(hold);
      await eventually(async () => expect(booted.transport.texts).toContain(`held ${n}`));
    }
  });

  it("a hold in the caller's transaction counts after its commit", async () => {
    const booted = await fixture.boot();
    await booted.messaging.transaction((manager) => holdsOf(booted).hold(HOLD, { manager }));
    await setTimeout(50);
    await booted.send('held', { tenant: 'a' });
    await setTimeout(250);
    expect(booted.transport.texts).toEqual([]);
  });

  it('each process reads the same identity of the database, which another database has not', async () => {
    const stores = [
      await fixture.boot({ dispatch: false }),
      await fixture.boot({ dispatch: false }),
    ];
    const [one, same] = await Promise.all(
      stores.map(({ app }) => app.get(MessageStore, { strict: false }).holds.identity()),
    );
    expect(one).toMatch(/^[\w/-]{10,}$/);
    expect(same).toBe(one);
    const source = await new DataSource({
      ...database.options(),
      ...(database.kind === 'sqlite'
        ? { database: (await database.another()).slice('sqlite:'.length) }
        : { url: await database.another() }),
      migrations: [...MESSAGING_MIGRATIONS],
    } as DataSourceOptions).initialize();
    await migrateDatabase(source);
    const clock = { now: () => Date.now() };
    expect(await new Holds(databaseOf(source), clock).identity()).not.toBe(one);
    await source.destroy();
  });

  it('a hold in a transaction that is rolled back holds no lane', async () => {
    const booted = await fixture.boot({ dispatch: false });
    const failing = booted.messaging.transaction(async (manager) => {
      await holdsOf(booted).hold(HOLD, { manager });
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await holdsOf(booted).list()).toEqual([]);
  });

  it.each([
    ['lanes', { lanes: 'a*', reason: 'x' }],
    ['lanes', { lanes: '', reason: 'x' }],
    ['lanes', { lanes: '*:*', reason: 'x' }],
    ['reason', { lanes: '*', reason: 'Two words' }],
  ])('a hold with wrong %s is refused', async (path, hold) => {
    const booted = await fixture.boot({ dispatch: false });
    await expect(holdsOf(booted).hold(hold)).rejects.toMatchObject({ fields: [{ path }] });
    expect(await holdsOf(booted).list()).toEqual([]);
  });

  it('cancelWaiting cancels queued and scheduled batches of the lanes, and no others', async () => {
    const booted = await fixture.boot({ dispatch: false });
    const message = { from: 'ACME', to: '2348012345678', body: 'x' };
    const later = { ...message, sendAt: new Date(Date.now() + HOUR) };
    const queued = await booted.send('x', { tenant: 'a' });
    const scheduled = (await booted.sms.send(later, { tenant: 'a' })).id;
    const other = await booted.send('x', { tenant: 'b' });
    expect(await holdsOf(booted).cancelWaiting('a:*')).toBe(2);
    expect(await statusOf(booted, queued, 'a')).toEqual({ cancelled: 1 });
    expect(await statusOf(booted, scheduled, 'a')).toEqual({ cancelled: 1 });
    expect(await statusOf(booted, other, 'b')).toEqual({ queued: 1 });
    expect(await holdsOf(booted).cancelWaiting('a:*')).toBe(0);
  });

  /** Accepts messages, leaves one in flight, and marks the database as restored. */
  async function restored(capabilities: { readonly idempotencyWindow: number }) {
    const clock = new ForwardClock();
    const lost = new ScriptedTransport({ maxRecipients: 1, idempotencyWindow: HOUR });
    lost.script = (_, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('no answer'))),
      );
    const before = await fixture.boot(
      { shutdownTimeout: 10, concurrency: 1 },
      lost,
      undefined,
      [],
      clock,
    );
    const inFlight = await before.send('in flight');
    await eventually(async () => expect(lost.started).toHaveLength(1));
    const queued = await before.send('queued');
    const message = { from: 'ACME', to: '2348012345678', body: 'scheduled' };
    const scheduled = (await before.sms.send({ ...message, sendAt: new Date(clock.now() + HOUR) }))
      .id;
    await before.app.close();
    clock.ahead += 1_000;
    const marking = await fixture.boot({ dispatch: false }, lost, undefined, [], clock);
    await holdsOf(marking).markRestored();
    clock.ahead += 1_000;
    const transport = new ScriptedTransport({ maxRecipients: 1, ...capabilities });
    const engine = new DatabaseEngine();
    const booted = await fixture.boot({}, transport, engine, [], clock);
    const fresh = await booted.send('accepted after the restore');
    return { booted, engine, transport, ids: { inFlight, queued, scheduled, fresh } };
  }

  it('a restored database sends nothing, and shows the effect of a release', async () => {
    const { booted, engine, transport, ids } = await restored({ idempotencyWindow: HOUR });
    expect(await holdsOf(booted).restoredWork()).toEqual([
      { lane: ':sms', channel: 'sms', queued: 1, scheduled: 1, resendable: 1, lost: 0 },
    ]);
    expect(await statusOf(booted, ids.fresh)).toEqual({ queued: 1 });
    await engine.run(':sms');
    expect(transport.started).toEqual([]);
  });

  it('a release with send sends what was queued, and resends under its key', async () => {
    const { booted, transport, ids } = await restored({ idempotencyWindow: HOUR });
    await holdsOf(booted).releaseRestored('send');
    await eventually(async () => expect(transport.texts).toContain('accepted after the restore'));
    expect(transport.texts).toEqual(['in flight', 'queued', 'accepted after the restore']);
    expect(transport.started[0]!.id).toBe(`${ids.inFlight}-s0`);
    expect(await statusOf(booted, ids.scheduled)).toEqual({ queued: 1 });
    await expect(holdsOf(booted).releaseRestored('send')).rejects.toMatchObject({
      code: 'not_restored',
    });
  });

  it('a release with unknown sends later messages only', async () => {
    const { booted, transport, ids } = await restored({ idempotencyWindow: 0 });
    expect(await holdsOf(booted).restoredWork()).toMatchObject([{ resendable: 0, lost: 1 }]);
    await holdsOf(booted).releaseRestored('unknown');
    await eventually(async () => expect(transport.texts).toEqual(['accepted after the restore']));
    await eventually(async () => {
      expect(await statusOf(booted, ids.inFlight)).toEqual({ unknown: 1 });
      expect(await statusOf(booted, ids.queued)).toEqual({ unknown: 1 });
    });
    expect(await statusOf(booted, ids.scheduled)).toEqual({ queued: 1 });
    expect((await booted.sms.message(`${ids.queued}-0`)).errorCode).toBe('restored');
  });

  it('a settled message stays unknown where the process dies before it is recorded', async () => {
    const { booted, transport, ids } = await restored({ idempotencyWindow: HOUR });
    const { outcomes } = booted.store;
    const record = outcomes.record.bind(outcomes);
    outcomes.record = (outcome) =>
      outcome.result === 'unknown' && outcome.errorCode === 'restored'
        ? Promise.reject(new Error('died'))
        : record(outcome);
    await holdsOf(booted).releaseRestored('unknown');
    const source = booted.app.get(DataSource);
    await eventually(async () => {
      const open: unknown[] = await source.query(
        `SELECT 1 FROM messaging_submission WHERE batch = '${ids.queued}' AND outcome IS NULL`,
      );
      expect(open).toHaveLength(1);
    });
    await booted.app.close();
    const next = await fixture.boot({}, transport);
    await eventually(async () => expect(await statusOf(next, ids.queued)).toEqual({ unknown: 1 }));
    expect(transport.texts).not.toContain('queued');
  });
});
