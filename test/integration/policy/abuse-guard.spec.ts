import { afterEach, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { type Clock, MessagingService, SmsService, VerificationService } from '@dundun/messaging';
import { HoldsService, MessagingOperations } from '@dundun/messaging/operations';
import { type GuardFinding, GuardRefusedError, type GuardRules } from '@dundun/messaging/ports';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { VerificationStore } from '../../../libs/messaging/src/channels/verification/verification-store.js';
import { WindowCounts } from '../../../libs/messaging/src/store/verbs/window-counts.js';
import { OUTCOME_SUMS } from '../../../libs/messaging/src/store/schema/outcomes.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { GatedTransport } from './gated.transport.js';
import { bootApp } from './policy-app.js';

const HOUR = 3_600_000;

class LeapingClock implements Clock {
  leap = 0;
  now = () => systemClock.now() + this.leap;
  monotonic = () => systemClock.monotonic() + this.leap;
  id = () => systemClock.id();
}

describeEachDatabase('the guard against abuse', (database) => {
  const apps: TestingModule[] = [];
  let tenants = 0;

  async function boot(rules: GuardRules) {
    const tenant = `guarded-${process.pid}-${++tenants}`;
    const clock = new LeapingClock();
    const transport = new GatedTransport();
    const findings: GuardFinding[] = [];
    const start = () =>
      bootApp(
        database.options(),
        {
          transport: () => transport,
          erasure: { keys: [Buffer.alloc(32, 1).toString('base64')] },
          store: { outcomes: true },
          policy: {
            guard: (of) => (of === tenant ? rules : undefined),
            onFinding: (finding) => findings.push(finding),
          },
        },
        { clock },
      );
    const [one, other] = [await start(), await start()];
    apps.push(one, other);
    const send = (to: string | string[], { app = one, ...options } = {}) =>
      app.get(SmsService).send({ from: 'ACME', to, body: 'x' }, { tenant, ...options });
    return { one, other, tenant, clock, findings, transport, send };
  }
  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
  });

  /** A number of a range of its own. */
  const number = (range: number, n = 0) =>
    `23480${String(30_000_000 + tenants * 100_000 + range * 100 + n)}`;

  it('a limit of messages to one recipient is exact with two processes, and ends with its window', async () => {
    const { one, other, send, clock, findings, tenant } = await boot({
      recipient: { limit: '5/h' },
    });
    const to = number(1);
    const sends = Array.from({ length: 20 }, (_, n) =>
      send(to, { app: n % 2 === 0 ? one : other }).then(
        () => 'sent',
        (error: unknown) => error,
      ),
    );
    const results = await Promise.all(sends);
    expect(results.filter((result) => result === 'sent')).toHaveLength(5);
    const refusals = results.filter((result) => result !== 'sent');
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(GuardRefusedError);
      expect(refusal).toMatchObject({
        code: 'recipient_limited',
        rule: 'recipient',
        message: 'More than 5 messages to one recipient in 1 h',
      });
    }
    expect(findings[0]).toMatchObject({
      tenant,
      channel: 'sms',
      rule: 'recipient',
      action: 'deny',
    });
    expect(JSON.stringify(findings)).not.toContain(to);
    // Other recipients and tenants are not concerned.
    await send(number(2));
    await one.get(SmsService).send({ from: 'ACME', to, body: 'x' }, { tenant: `${tenant}-other` });
    clock.leap += HOUR;
    await send(to);
  });

  it('what is rolled back, refused or repeated under its key is not counted', async () => {
    const { one, send, tenant } = await boot({ recipient: { limit: '3/h' } });
    const to = number(1);
    const messaging = one.get(MessagingService);
    await expect(
      messaging.transaction(async (manager) => {
        await send(to, { manager } as object);
        throw new Error('taken back');
      }),
    ).rejects.toThrow('taken back');
    const first = await send(to, { idempotencyKey: 'one' } as object);
    for (let n = 0; n < 3; n++)
      expect(await send(to, { idempotencyKey: 'one' } as object)).toMatchObject({
        id: first.id,
        replayed: true,
      });
    // Refused for another recipient: nothing of it counts.
    const full = number(5);
    for (let n = 0; n < 3; n++) await send(full);
    await expect(send([to, full])).rejects.toMatchObject({ code: 'recipient_limited' });
    await send(to);
    await send(to);
    await expect(send(to)).rejects.toMatchObject({ code: 'recipient_limited' });
    const { data } = await one.get(SmsService).list({ tenant });
    expect(data).toHaveLength(6);
  });

  it('countries are only those of the rules', async () => {
    const { send } = await boot({ countries: { only: ['NG'] } });
    await send(number(1));
    await expect(send([number(1), '14165550123'])).rejects.toMatchObject({
      code: 'country_not_allowed',
      message: 'Messages to CA are not allowed',
    });
    const { send: sendBut, findings } = await boot({
      countries: { except: ['CA'], action: 'alert' },
    });
    await sendBut(number(1));
    expect(findings).toEqual([]);
    await sendBut('14165550123');
    await sendBut('14165550124');
    expect(findings).toMatchObject([{ rule: 'countries', action: 'alert' }]);
  });

  it('numbers that follow each other are counted once each, whoever sends and however often', async () => {
    const { one, other, send } = await boot({ range: { limit: '10/h' } });
    for (let n = 0; n < 10; n++) {
      await send(number(1, n), { app: n % 2 === 0 ? one : other });
      await send(number(1, n));
    }
    await expect(send(number(1, 50))).rejects.toMatchObject({ code: 'range_limited' });
    await send(number(1, 3));
    await send(number(2, 50));
    // Eleven of one range in one send.
    await expect(send(Array.from({ length: 11 }, (_, n) => number(3, n)))).rejects.toMatchObject({
      code: 'range_limited',
    });
  });

  it('over a limit with hold the lane rests until an operator lets it go', async () => {
    const { one, send, tenant, transport, findings } = await boot({
      prefix: { limit: '3/h', action: 'hold' },
    });
    for (let n = 0; n < 3; n++) await send(number(1, n));
    const own = () => transport.submissions.filter((one) => one.tenant === tenant);
    await eventually(async () => expect(own()).toHaveLength(3));
    const held = await send(number(1, 50));
    await eventually(async () =>
      expect(await one.get(MessagingService).lanes()).toMatchObject([
        {
          lane: `${tenant}:sms`,
          hold: {
            reason: 'guard',
            note: 'guard: More than 3 messages to numbers that differ in their last four digits only in 1 h',
          },
        },
      ]),
    );
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const counts = async () => (await one.get(SmsService).batch(held.id, { tenant })).counts;
    expect(await counts()).toEqual({ queued: 1 });
    expect(await one.get(MessagingOperations).resumeLane(`${tenant}:sms`)).toBe(true);
    await eventually(async () => expect(await counts()).toEqual({ sent: 1 }));
    // The release stands: only the first message over the limit holds.
    const next = await send(number(1, 51));
    await eventually(async () =>
      expect((await one.get(SmsService).batch(next.id, { tenant })).counts).toEqual({ sent: 1 }),
    );
    expect(findings).toHaveLength(1);
  });

  it('what a lane accepts after its hold waits in its order, whichever process accepts it', async () => {
    const { one, other, send, tenant, transport } = await boot({
      prefix: { limit: '3/h', action: 'hold' },
    });
    await Promise.all([0, 1, 2].map((n) => send(number(1, n))));
    const own = () => transport.submissions.filter((one) => one.tenant === tenant);
    await eventually(async () => expect(own()).toHaveLength(3));
    // The first is over the limit; then each second one is, in one group and by both processes.
    const accepted: string[] = [];
    for (let n = 0; n < 30; n += 3) {
      const app = n % 2 === 0 ? one : other;
      const some = [0, 1, 2].map((more) =>
        number((n + more) % 2 === 0 ? 1 : 100 * (n + more + 2), 40 + n + more),
      );
      await Promise.all(some.map((to) => send(to, { app })));
      accepted.push(...some);
    }
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(own()).toHaveLength(3);
    await one.get(MessagingOperations).resumeLane(`${tenant}:sms`);
    await eventually(async () => expect(own()).toHaveLength(33));
    const started = own().slice(3);
    expect(started.flatMap(({ recipients }) => recipients)).toEqual(accepted);
  });

  it("an operator's pause keeps its end and note beside the hold of a limit", async () => {
    const { one, send, tenant } = await boot({ prefix: { limit: '1/h', action: 'hold' } });
    const operations = one.get(MessagingOperations);
    const holds = one.get(HoldsService);
    const lane = `${tenant}:sms`;
    await operations.pauseLane(lane, { reason: 'Carrier works tonight', for: '1h' });
    const [pause] = (await holds.list()).filter(({ lanes }) => lanes === lane);
    await send(number(1, 1));
    await send(number(1, 2));
    const own = (await holds.list()).filter(({ lanes }) => lanes === lane);
    expect(own).toMatchObject([{ reason: 'guard', until: null }, pause!]);
    expect(await operations.resumeLane(lane)).toBe(true);
    expect((await holds.list()).filter(({ lanes }) => lanes === lane)).toEqual([]);
  });

  it('growth is measured against the busiest hour of the tenant itself', async () => {
    const { one, send, tenant, clock } = await boot({ growth: { factor: 2, from: 5 } });
    const store = one.get(MessageStore, { strict: false });
    const hour = clock.now() - (clock.now() % HOUR);
    await store.database.transaction((tx) =>
      tx.run(
        `INSERT INTO messaging_outcome_hour (start, tenant, channel, provider, country, sender, tag, category,
           status, minutes, ${OUTCOME_SUMS.join(', ')})
         VALUES (?, ?, 'sms', 'p', 'NG', 'ACME', '', '', 80, 60, 10${', 0'.repeat(OUTCOME_SUMS.length - 1)})`,
        [(hour - 5 * HOUR) * 1_000, tenant],
      ),
    );
    await send(Array.from({ length: 20 }, (_, n) => number(n)));
    await expect(send(number(30))).rejects.toMatchObject({
      code: 'growth_limited',
      message: 'More than 20 messages of the account in 1 h',
    });
    clock.leap += HOUR;
    await send(number(30));
  });

  it('a large send refused by a limit is stored with nothing, and counts nowhere', async () => {
    const { one, send, tenant } = await boot({ recipient: { limit: '1/h' } });
    const many = Array.from({ length: 3_000 }, (_, n) => number(10, n));
    await send(many[2_999]!);
    await expect(send(many)).rejects.toMatchObject({ code: 'recipient_limited' });
    expect((await one.get(SmsService).list({ tenant })).data).toHaveLength(1);
    await send(many.slice(0, 2_999));
    await expect(send(many[0]!)).rejects.toMatchObject({ code: 'recipient_limited' });
  });

  it('one-time codes are bounded too, beside their own limits', async () => {
    const { one, tenant } = await boot({ recipient: { limit: '1/h' } });
    const verification = one.get(VerificationService);
    const start = (to: string) =>
      verification.start({ to, channel: 'sms', from: 'ACME' }, { tenant });
    await start(number(1));
    // The wait of codes after the first one comes first.
    await expect(start(number(1))).rejects.toMatchObject({ code: 'rate_limited' });
    await one.get(SmsService).send({ from: 'ACME', to: number(2), body: 'x' }, { tenant });
    await expect(start(number(2))).rejects.toMatchObject({ code: 'recipient_limited' });
  });
});

describeEachDatabase(
  'the guard against abuse, while a large send is stored',
  (database) => {
    it('other sends of the tenant are accepted before its recipients are stored', async () => {
      const tenant = `large-${process.pid}`;
      const start = () =>
        bootApp(database.options(), {
          transport: () => new GatedTransport(),
          policy: {
            guard: () => ({ recipient: { limit: '10/h' }, growth: { factor: 2, from: 9_000 } }),
          },
        });
      const [one, other] = [await start(), await start()];
      const source = await database.open();
      const runner = source.createQueryRunner();
      try {
        const to = Array.from({ length: 3_000 }, (_, n) => `23480${40_000_000 + n}`);
        const send = (app: TestingModule, recipients: string | string[], tags: string[] = []) =>
          app.get(SmsService).send({ from: 'ACME', to: recipients, body: 'x', tags }, { tenant });
        // The large send waits in the middle of its rows.
        if (database.kind === 'postgres') await runner.startTransaction();
        await runner.query(
          database.kind === 'postgres'
            ? 'LOCK TABLE messaging_batch_label IN ACCESS EXCLUSIVE MODE'
            : 'LOCK TABLES messaging_batch_label WRITE',
        );
        let isStored = false;
        const large = send(one, to, ['news']).then(() => (isStored = true));
        await new Promise((resolve) => setTimeout(resolve, 500));
        await send(other, to[0]!);
        expect(isStored).toBe(false);
        if (database.kind === 'postgres') await runner.commitTransaction();
        else await runner.query('UNLOCK TABLES');
        await large;
        for (let n = 2; n < 10; n++) await send(n % 2 === 0 ? one : other, to[0]!);
        await expect(send(one, to[0]!)).rejects.toMatchObject({ code: 'recipient_limited' });
      } finally {
        await runner.release();
        await source.destroy();
        await Promise.all([one.close(), other.close()]);
      }
    });
  },
  ['postgres', 'mariadb'],
);

describeEachDatabase(
  'windows of limits',
  (database) => {
    it('a window that the job for old ones deletes while a send locks it is locked and counted', async () => {
      const app = await bootApp(database.options());
      try {
        const store = app.get(MessageStore, { strict: false });
        const codes = new VerificationStore(store.database);
        const counts = new WindowCounts(store.database);
        const key = { tenant: 'shop', scope: 'g_recipient', subject: `old-${process.pid}` };
        const started = async (by: number) =>
          store.database.transaction(async (tx) => {
            let deleted: Promise<void> | undefined;
            const run = async (...statement: Parameters<typeof tx.run>) => {
              const rows = await tx.run(...statement);
              const deletes = () =>
                store.database.transaction((sql) => codes.forget(sql, 0, 1_000));
              deleted ??= deletes();
              // On MariaDB the delete may wait for the commit of this transaction.
              if (database.kind === 'postgres') await deleted;
              return rows;
            };
            const [found] = await counts.lock({ run, all: tx.all.bind(tx) }, [key]);
            await counts.set(tx, [{ ...found!, windowAt: 5_000, started: found!.started + by }]);
            return { before: found!.started, deleted };
          });
        const first = await started(1);
        await first.deleted;
        await store.database.transaction((tx) =>
          tx.run('UPDATE messaging_verification_limit SET window_at = 0 WHERE tenant = ?', [
            'shop',
          ]),
        );
        const next = await started(3);
        await next.deleted;
        expect(database.kind === 'postgres' ? [0] : [0, 1]).toContain(next.before);
        const expected = next.before + 3;
        await store.database.transaction(async (tx) => {
          expect(await counts.lockOne(tx, key)).toMatchObject({ started: expected });
        });
      } finally {
        await app.close();
      }
    });
  },
  ['postgres', 'mariadb'],
);
