import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { WebhookDeliveryEntity } from '../../../src/webhooks/webhook-delivery.entity.js';
import { describeEachDatabase } from '../../support/databases.js';
import { openTables, statusChange, TestClock, WebhookProcess } from './webhook-fixture.js';

describeEachDatabase('webhook outbox', (db) => {
  let source: DataSource;
  let gateway: WebhookProcess;
  let clock: TestClock;
  let account: string;

  beforeAll(async () => {
    source = await openTables(db);
  });
  beforeEach(async () => {
    clock = new TestClock();
    gateway = new WebhookProcess(source, clock);
    account = await gateway.account();
  });

  const deliveries = (endpointId: string) =>
    source
      .getRepository(WebhookDeliveryEntity)
      .find({ where: { endpointId }, order: { position: 'ASC' } });

  it('writes the callback of decisions, without the text, due at once', async () => {
    const { webhook_id } = await gateway.endpoints.set(account, 'http://127.0.0.1:9/hook');
    const change = statusChange(account, {
      status: 'undelivered',
      sequence: 2,
      errorCode: 'ünreachable "\\\u0001" 📵',
    });
    await gateway.commit([change]);
    const [delivery, ...others] = await deliveries(webhook_id);
    expect(others).toEqual([]);
    expect(delivery).toMatchObject({ attempts: 0, dueAt: 0, deliveredAt: null, sequence: 2 });
    expect(delivery!.messageId).toBe(change.messageId);
    expect(delivery!.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    const event = JSON.parse(delivery!.payload) as { timestamp: string };
    expect(event).toEqual({
      type: 'sms.delivery_report',
      timestamp: new Date(delivery!.createdAt).toISOString(),
      data: {
        reference_id: change.batchId,
        message_id: change.messageId,
        to: '2348012345678',
        from: 'ACME',
        status: 'undelivered',
        error_code: 'ünreachable "\\\u0001" 📵',
        smsc_timestamp: '2026-01-31T09:00:00.123Z',
        sequence: 2,
      },
    });
  });

  it('writes only what was asked for, from sent on, and for whom has an enabled endpoint', async () => {
    const { webhook_id } = await gateway.endpoints.set(account, 'http://127.0.0.1:9/hook');
    const silent = await gateway.account();
    const off = await gateway.account();
    const disabled = await gateway.endpoints.set(off, 'http://127.0.0.1:9/off');
    await gateway.endpoints.update(off, disabled.webhook_id, { enabled: false });
    await gateway.commit([
      statusChange(account, { deliveryReport: 'none' }),
      statusChange(account, { status: 'queued', previous: 'sending' }),
      statusChange(account, { status: 'unknown' }),
      statusChange(account, { status: 'cancelled', previous: 'queued' }),
      statusChange(account, { channel: 'email' }),
      statusChange(silent),
      statusChange(off),
    ]);
    expect(
      await source.getRepository(WebhookDeliveryEntity).countBy({ endpointId: webhook_id }),
    ).toBe(0);
    expect(await deliveries(disabled.webhook_id)).toEqual([]);
    for (const status of [
      'sent',
      'expired',
      'undelivered',
      'failed',
      'rejected',
      'delivered',
      'read',
    ] as const)
      await gateway.commit([statusChange(account, { status })]);
    expect(await deliveries(webhook_id)).toHaveLength(7);
  });

  it('commits with the status or not at all', async () => {
    const { webhook_id } = await gateway.endpoints.set(account, 'http://127.0.0.1:9/hook');
    const failing = gateway.database.transaction(async (_sql, manager) => {
      await gateway.outbox.onStatusChanged([statusChange(account)], manager);
      throw new Error('the recorder failed after the listener');
    });
    await expect(failing).rejects.toThrow('the recorder failed');
    expect(await deliveries(webhook_id)).toEqual([]);
  });

  it('writes thousands in few statements, in the order of the changes', async () => {
    const { webhook_id } = await gateway.endpoints.set(account, 'http://127.0.0.1:9/hook');
    await gateway.commit([statusChange(account)]);
    const changes = Array.from({ length: 4_500 }, (_, n) =>
      statusChange(account, { messageId: `m-${n >> 1}`, sequence: 1 + (n & 1) }),
    );
    const statements: string[] = [];
    await gateway.database.transaction(async (_sql, manager) => {
      const { queryRunner } = manager;
      if (!queryRunner) throw new Error('no query runner');
      const query = queryRunner.query.bind(queryRunner);
      queryRunner.query = ((sql: string, ...rest: never[]) => {
        statements.push(sql);
        return query(sql, ...rest);
      }) as typeof queryRunner.query;
      try {
        await gateway.outbox.onStatusChanged(changes, manager);
      } finally {
        queryRunner.query = query as typeof queryRunner.query;
      }
    });
    expect(statements).toHaveLength(3);
    const written = await deliveries(webhook_id);
    expect(written.slice(1).map(({ messageId, sequence }) => `${messageId}#${sequence}`)).toEqual(
      changes.map(({ messageId, sequence }) => `${messageId}#${sequence}`),
    );
    expect(new Set(written.map(({ id }) => id)).size).toBe(4_501);
  });

  it('every endpoint of the account gets its own', async () => {
    const first = await gateway.endpoints.set(account, 'http://127.0.0.1:9/a');
    const second = await gateway.endpoints.add(account, 'http://127.0.0.1:9/b');
    await gateway.commit([statusChange(account)]);
    const [a] = await deliveries(first.webhook_id);
    const [b] = await deliveries(second.id);
    expect(a!.payload).toBe(b!.payload);
    expect(a!.id).not.toBe(b!.id);
  });

  describe('endpoints set elsewhere', () => {
    it('are known within a second, and asked for once in that time', async () => {
      const other = new WebhookProcess(source, clock);
      await gateway.commit([statusChange(account)]);
      const { webhook_id } = await other.endpoints.set(account, 'http://127.0.0.1:9/hook');
      clock.advance(999);
      await gateway.commit([statusChange(account)]);
      expect(await deliveries(webhook_id)).toHaveLength(1);
      await other.endpoints.update(account, webhook_id, { enabled: false });
      clock.advance(999);
      await gateway.commit([statusChange(account)]);
      expect(await deliveries(webhook_id)).toHaveLength(1);
    });

    it('by this process are known at once', async () => {
      await gateway.commit([statusChange(account)]);
      const { webhook_id } = await gateway.endpoints.set(account, 'http://127.0.0.1:9/hook');
      await gateway.commit([statusChange(account)]);
      expect(await deliveries(webhook_id)).toHaveLength(1);
      await gateway.endpoints.remove(account, webhook_id);
      await gateway.commit([statusChange(account)]);
      expect(await deliveries(webhook_id)).toEqual([]);
    });
  });
});
