import { expect, it } from '@jest/globals';
import {
  WEBHOOK_TABLES,
  WebhookAttemptEntity,
  WebhookDeliveryEntity,
  WebhookEndpointEntity,
} from '../../../src/webhooks/webhooks.tables.js';
import { WebhookAttempts } from '../../../src/webhooks/webhook-attempts.js';
import { WebhookDeliveryStore } from '../../../src/webhooks/webhook-delivery.store.js';
import { WorkQueues } from '@dundun/messaging/queue';
import { SECRETS, statusChange } from './webhook-fixture.js';
import { describeWebhooks } from './webhook-stage.js';

const URL = 'http://127.0.0.1:65535/hook';

describeWebhooks('webhook endpoints', (stage, db) => {
  it('setting the URL again moves the endpoint and keeps id and secret', async () => {
    const first = await stage.gateway.endpoints.set(stage.account, URL);
    expect(first).toEqual({
      webhook_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      url: URL,
      secret: expect.stringMatching(/^whsec_/),
    });
    expect(await stage.gateway.endpoints.set(stage.account, URL)).toEqual(first);
    const moved = await stage.gateway.endpoints.set(stage.account, `${URL}/new`);
    expect(moved).toEqual({ ...first, url: `${URL}/new` });
    expect(await stage.gateway.endpoints.list(stage.account)).toHaveLength(1);
  });

  it('setting the URL enables a disabled endpoint', async () => {
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, URL);
    await stage.gateway.endpoints.update(stage.account, webhook_id, { enabled: false });
    await stage.gateway.endpoints.set(stage.account, URL);
    expect(await stage.gateway.endpoints.get(stage.account, webhook_id)).toMatchObject({
      disabledAt: null,
      disabledReason: null,
    });
  });

  it('concurrent set commands create one endpoint', async () => {
    const others = [stage.gateway, await stage.start(), await stage.start()];
    const made = await Promise.all(
      others.flatMap((process) => [
        process.endpoints.set(stage.account, URL),
        process.endpoints.set(stage.account, URL),
      ]),
    );
    expect(new Set(made.map(({ webhook_id }) => webhook_id)).size).toBe(1);
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(1);
    expect(await stage.gateway.endpoints.list(stage.account)).toHaveLength(1);
  });

  it('an unknown account is refused and nothing stored', async () => {
    const before = await stage.source.getRepository(WebhookEndpointEntity).count();
    await expect(stage.gateway.endpoints.set('acc_nobody', URL)).rejects.toMatchObject({
      code: 'not_found',
      message: 'There is no account acc_nobody',
    });
    expect(await stage.source.getRepository(WebhookEndpointEntity).count()).toBe(before);
  });

  it('each endpoint has its own secret', async () => {
    const first = await stage.gateway.endpoints.set(stage.account, URL);
    const second = await stage.gateway.endpoints.add(stage.account, `${URL}/2`);
    const other = await stage.gateway.endpoints.set(await stage.gateway.account(), URL);
    expect(new Set([first.secret, second.secret, other.secret]).size).toBe(3);
  });

  it('a deleted endpoint frees its place', async () => {
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, URL);
    await stage.gateway.endpoints.add(stage.account, `${URL}/2`);
    await stage.gateway.endpoints.remove(stage.account, webhook_id);
    const again = await stage.gateway.endpoints.set(stage.account, URL);
    expect(again.webhook_id).not.toBe(webhook_id);
    expect((await stage.gateway.endpoints.list(stage.account)).map(({ url }) => url)).toEqual([
      URL,
      `${URL}/2`,
    ]);
  });

  it('deleting an endpoint deletes its deliveries and sends nothing more', async () => {
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, URL);
    await stage.gateway.commit(Array.from({ length: 1_500 }, () => statusChange(stage.account)));
    await stage.gateway.endpoints.remove(stage.account, webhook_id);
    const left = stage.source
      .getRepository(WebhookDeliveryEntity)
      .countBy({ endpointId: webhook_id });
    expect(await left).toBe(0);
  });

  it('deliveries above the retention age are deleted', async () => {
    const { webhook_id: endpointId } = await stage.gateway.endpoints.set(stage.account, URL);
    const { retention } = stage.gateway.options;
    await stage.gateway.commit(Array.from({ length: 1_200 }, () => statusChange(stage.account)));
    const [old] = await stage.source.getRepository(WebhookDeliveryEntity).findBy({ endpointId });
    await stage.gateway.transaction((manager) =>
      manager.insert(WebhookAttemptEntity, {
        endpointId,
        deliveryId: old!.id,
        messageId: old!.messageId,
        attempt: 1,
        startedAt: stage.clock.now(),
        duration: 1,
      }),
    );
    stage.clock.advance(retention / 2);
    await stage.gateway.commit([statusChange(stage.account)]);
    const purge = stage.gateway.sender.jobs.find(({ name }) => name === 'purge webhooks');
    const { signal } = new AbortController();
    await purge?.run(signal);
    const count = () => stage.source.getRepository(WebhookDeliveryEntity).countBy({ endpointId });
    expect(await count()).toBe(1_201);
    stage.clock.advance(retention / 2 + 1_000);
    await purge?.run(signal);
    expect(await count()).toBe(1);
    expect(await stage.source.getRepository(WebhookAttemptEntity).countBy({ endpointId })).toBe(0);
  });

  it('the migration can be reverted', async () => {
    const scratch = await db.open(WEBHOOK_TABLES);
    const [migration] = scratch.migrations;
    const runner = scratch.createQueryRunner();
    await migration!.down(runner);
    await migration!.down(runner);
    expect(await runner.hasTable('gateway_webhook_delivery')).toBe(false);
    await migration!.up(runner);
    await migration!.up(runner);
    for (const name of ['endpoint', 'delivery', 'attempt'])
      expect(await runner.hasTable(`gateway_webhook_${name}`)).toBe(true);
    await runner.release();
  });

  it('finding due deliveries reads the index only', async () => {
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, URL);
    for (let n = 0; n < 10; n++)
      await stage.gateway.commit(Array.from({ length: 2_000 }, () => statusChange(stage.account)));
    await stage.gateway.database.transaction((tx) =>
      tx.run('UPDATE gateway_webhook_delivery SET due_at = NULL, delivered_at = 1'),
    );
    await stage.gateway.commit([statusChange(stage.account)]);
    if (db.kind !== 'sqlite')
      await stage.source.query(
        db.kind === 'postgres'
          ? 'ANALYZE gateway_webhook_delivery'
          : 'ANALYZE TABLE gateway_webhook_delivery',
      );
    const asked: { sql: string; params: readonly unknown[] }[] = [];
    const { database } = stage.gateway;
    const recording = Object.create(database) as typeof database;
    recording.all = (sql, params) => {
      asked.push({ sql, params: params ?? [] });
      return database.all(sql, params);
    };
    const deliveries = new WebhookDeliveryStore(
      new WorkQueues({ database: recording }, stage.clock, {
        leaseTime: 1_000,
        shutdownTimeout: 1_000,
      }),
      SECRETS,
    );
    const until = stage.clock.now() + 2_000;
    expect((await deliveries.firstDue(until)).map(({ id }) => id)).toContain(webhook_id);
    expect((await deliveries.due(webhook_id, stage.clock.now(), 64)).due).toHaveLength(1);
    expect(await deliveries.firstDue(until, webhook_id)).toMatchObject([{ dueAt: 0 }]);
    expect(asked).toHaveLength(3);
    for (const { sql, params } of asked) {
      const explain = { sqlite: 'EXPLAIN QUERY PLAN ', postgres: 'EXPLAIN ', mariadb: 'EXPLAIN ' };
      const plan = JSON.stringify(await database.all(explain[db.kind] + sql, params));
      expect(plan).toContain('gateway_webhook_delivery_due');
      expect(plan).not.toMatch(
        /SCAN (gateway_webhook_delivery|d\b)|Seq Scan on gateway_webhook_delivery/,
      );
      const rows = JSON.parse(plan) as { table?: string; type?: string }[];
      const scanned = rows.filter(
        ({ table, type }) => table !== undefined && /delivery|^d$/.test(table) && type === 'ALL',
      );
      expect(scanned).toEqual([]);
    }
  });

  it('attempts are found in windows and counted by the index of their time', async () => {
    const { webhook_id: endpointId } = await stage.gateway.endpoints.set(stage.account, URL);
    const first = stage.clock.now();
    const attempts = stage.source.getRepository(WebhookAttemptEntity);
    const ids = { endpointId, deliveryId: stage.clock.id(), messageId: 'one' };
    const rows = Array.from({ length: 2_500 }, (_, n) => ({
      ...ids,
      attempt: 1,
      startedAt: first + n * 1_000,
      duration: 5,
      status: n === 0 ? 500 : 204,
      error: n === 0 ? ('http_status' as const) : null,
      response: null,
    }));
    for (let from = 0; from < rows.length; from += 250)
      await attempts.insert(rows.slice(from, from + 250));
    if (db.kind !== 'sqlite')
      await stage.source.query(
        db.kind === 'postgres'
          ? 'ANALYZE gateway_webhook_attempt'
          : 'ANALYZE TABLE gateway_webhook_attempt',
      );
    const asked: { sql: string; params: readonly unknown[] }[] = [];
    const { database } = stage.gateway;
    const recording = Object.create(database) as typeof database;
    recording.all = (sql, params) => {
      asked.push({ sql, params: params ?? [] });
      return database.all(sql, params);
    };
    const options = { leaseTime: 1_000, shutdownTimeout: 1_000 };
    const queues = new WorkQueues({ database: recording }, stage.clock, options);
    const reads = new WebhookAttempts(queues, stage.source);
    const failed = { result: 'failed' } as const;
    const before = await reads.page(endpointId, failed, { limit: 10 });
    expect(before).toMatchObject({ data: [], nextCursor: expect.any(String) });
    const cursor = before.nextCursor ?? '';
    const found = await reads.page(endpointId, failed, { limit: 10, cursor });
    expect(found).toMatchObject({ data: [{ status: 500, startedAt: first }], nextCursor: null });
    const times = { since: first + 1_000, until: first + 3_000, event: undefined };
    const page = await reads.page(endpointId, times, { limit: 10 });
    expect(page.data.map(({ startedAt }) => startedAt - first)).toEqual([2_000, 1_000]);
    await reads.page(endpointId, { event: 'webhook.test' }, { limit: 10, cursor });
    const counts = await reads.counts(endpointId, first, 60_000);
    const sum = (of: 'succeeded' | 'failed') =>
      counts.slots.reduce((total, slot) => total + slot[of], 0);
    expect([sum('succeeded'), sum('failed'), counts.isPartial]).toEqual([2_499, 1, false]);
    for (const { sql, params } of asked) {
      const explain = { sqlite: 'EXPLAIN QUERY PLAN ', postgres: 'EXPLAIN ', mariadb: 'EXPLAIN ' };
      const plan = JSON.stringify(await database.all(explain[db.kind] + sql, params));
      expect(plan).toContain('gateway_webhook_attempt_time');
      expect(plan).not.toMatch(/Seq Scan|SCAN gateway_webhook|SCAN d\b/);
    }
    const wrong = reads.page(endpointId, {}, { limit: 1, cursor: 'x' });
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_field' });
  });
});
