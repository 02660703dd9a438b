import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { WebhookAttemptEntity } from '../../../src/webhooks/webhook-attempt.entity.js';
import { WebhookDeliveriesRepository } from '../../../src/webhooks/webhook-deliveries.repository.js';
import { WebhookDeliveryEntity } from '../../../src/webhooks/webhook-delivery.entity.js';
import { WebhookEndpointEntity } from '../../../src/webhooks/webhook-endpoint.entity.js';
import { WebhookPurgeJob } from '../../../src/webhooks/webhook-purge.job.js';
import { WEBHOOK_TABLES } from '../../../src/webhooks/webhooks.tables.js';
import { describeEachDatabase } from '../../support/databases.js';
import { openTables, statusChange, TestClock, WebhookProcess } from './webhook-fixture.js';

const URL = 'http://127.0.0.1:9/hook';

describeEachDatabase('webhook endpoints', (db) => {
  let source: DataSource;
  let clock: TestClock;
  let gateway: WebhookProcess;
  let account: string;

  beforeAll(async () => {
    source = await openTables(db);
  });
  beforeEach(async () => {
    clock = new TestClock();
    gateway = new WebhookProcess(source, clock);
    account = await gateway.account();
  });

  it('setting the URL again moves the one endpoint and keeps id and secret', async () => {
    const first = await gateway.endpoints.set(account, URL);
    expect(first).toEqual({
      webhook_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      url: URL,
      secret: expect.stringMatching(/^whsec_/),
    });
    expect(await gateway.endpoints.set(account, URL)).toEqual(first);
    const moved = await gateway.endpoints.set(account, `${URL}/new`);
    expect(moved).toEqual({ ...first, url: `${URL}/new` });
    expect(await gateway.endpoints.list(account)).toHaveLength(1);
  });

  it('setting the URL enables a disabled endpoint', async () => {
    const { webhook_id } = await gateway.endpoints.set(account, URL);
    await gateway.endpoints.update(account, webhook_id, { enabled: false });
    await gateway.endpoints.set(account, URL);
    expect(await gateway.endpoints.get(account, webhook_id)).toMatchObject({
      disabledAt: null,
      disabledReason: null,
    });
  });

  it('set at the same time by several processes makes one endpoint', async () => {
    const others = [gateway, new WebhookProcess(source, clock), new WebhookProcess(source, clock)];
    const made = await Promise.all(
      others.flatMap((process) => [
        process.endpoints.set(account, URL),
        process.endpoints.set(account, URL),
      ]),
    );
    expect(new Set(made.map(({ webhook_id }) => webhook_id)).size).toBe(1);
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(1);
    expect(await gateway.endpoints.list(account)).toHaveLength(1);
  });

  it('an unknown account is told, and nothing is stored', async () => {
    const before = await source.getRepository(WebhookEndpointEntity).count();
    await expect(gateway.endpoints.set('acc_nobody', URL)).rejects.toMatchObject({
      code: 'not_found',
      message: 'There is no account acc_nobody',
    });
    expect(await source.getRepository(WebhookEndpointEntity).count()).toBe(before);
  });

  it('every endpoint has a secret of its own', async () => {
    const first = await gateway.endpoints.set(account, URL);
    const second = await gateway.endpoints.add(account, `${URL}/2`);
    const other = await gateway.endpoints.set(await gateway.account(), URL);
    expect(new Set([first.secret, second.secret, other.secret]).size).toBe(3);
  });

  it('a place that became free is taken again', async () => {
    const { webhook_id } = await gateway.endpoints.set(account, URL);
    await gateway.endpoints.add(account, `${URL}/2`);
    await gateway.endpoints.remove(account, webhook_id);
    const again = await gateway.endpoints.set(account, URL);
    expect(again.webhook_id).not.toBe(webhook_id);
    expect((await gateway.endpoints.list(account)).map(({ url }) => url)).toEqual([
      URL,
      `${URL}/2`,
    ]);
  });

  it('deleted, its deliveries are gone too and nothing of it is sent', async () => {
    const { webhook_id } = await gateway.endpoints.set(account, URL);
    await gateway.commit(Array.from({ length: 1_500 }, () => statusChange(account)));
    await gateway.endpoints.remove(account, webhook_id);
    const left = source.getRepository(WebhookDeliveryEntity).countBy({ endpointId: webhook_id });
    expect(await left).toBe(0);
  });

  it('what is older than its retention is deleted, and nothing else', async () => {
    const { webhook_id: endpointId } = await gateway.endpoints.set(account, URL);
    const { retention } = gateway.options;
    await gateway.commit(Array.from({ length: 1_200 }, () => statusChange(account)));
    const [old] = await source.getRepository(WebhookDeliveryEntity).findBy({ endpointId });
    await gateway.database.transaction((_sql, manager) =>
      manager.insert(WebhookAttemptEntity, {
        endpointId,
        deliveryId: old!.id,
        messageId: old!.messageId,
        attempt: 1,
        startedAt: clock.now(),
        duration: 1,
      }),
    );
    clock.advance(retention / 2);
    await gateway.commit([statusChange(account)]);
    const purge = new WebhookPurgeJob(gateway.database, clock, gateway.options);
    await purge.run();
    const count = () => source.getRepository(WebhookDeliveryEntity).countBy({ endpointId });
    expect(await count()).toBe(1_201);
    clock.advance(retention / 2 + 1_000);
    await purge.run();
    expect(await count()).toBe(1);
    expect(await source.getRepository(WebhookAttemptEntity).countBy({ endpointId })).toBe(0);
  });

  it('the migration takes itself back', async () => {
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

  it('looking for what is due reads the index alone, however long the history', async () => {
    const { webhook_id } = await gateway.endpoints.set(account, URL);
    for (let n = 0; n < 10; n++)
      await gateway.commit(Array.from({ length: 2_000 }, () => statusChange(account)));
    await gateway.database.transaction((sql) =>
      sql.run('UPDATE gateway_webhook_delivery SET due_at = NULL, delivered_at = 1'),
    );
    await gateway.commit([statusChange(account)]);
    if (db.kind !== 'sqlite')
      await source.query(
        db.kind === 'postgres'
          ? 'ANALYZE gateway_webhook_delivery'
          : 'ANALYZE TABLE gateway_webhook_delivery',
      );
    const asked: { sql: string; params: readonly unknown[] }[] = [];
    const spying = Object.create(gateway.database) as typeof gateway.database;
    spying.all = (sql, params) => {
      asked.push({ sql, params: params ?? [] });
      return gateway.database.all(sql, params);
    };
    const deliveries = new WebhookDeliveriesRepository(spying);
    expect(await deliveries.endpointsDue(clock.now(), clock.id())).toContain(webhook_id);
    expect(await deliveries.due(webhook_id, clock.now(), { first: 48, retries: 16 })).toHaveLength(
      1,
    );
    expect(await deliveries.isDue(webhook_id, clock.now())).toBe(true);
    expect(asked).toHaveLength(3);
    for (const { sql, params } of asked) {
      const explain = { sqlite: 'EXPLAIN QUERY PLAN ', postgres: 'EXPLAIN ', mariadb: 'EXPLAIN ' };
      const plan = JSON.stringify(await gateway.database.all(explain[db.kind] + sql, params));
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
});
