import { describe, expect, it } from '@jest/globals';
import { WebhookDeliveryEntity } from '../../../src/webhooks/webhooks.tables.js';
import { statusChange } from './webhook-fixture.js';
import { describeWebhooks } from './webhook-stage.js';

describeWebhooks('webhook outbox', (stage) => {
  it('the outbox writes the documented callback without the text, due at once', async () => {
    const { webhook_id } = await stage.gateway.endpoints.set(
      stage.account,
      'http://127.0.0.1:65535/hook',
    );
    const change = statusChange(stage.account, {
      status: 'undelivered',
      sequence: 2,
      errorCode: 'ünreachable "\\\u0001" 📵',
    });
    await stage.gateway.commit([change]);
    const [delivery, ...others] = await stage.deliveries(webhook_id);
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

  it('the outbox writes callbacks from sent on, for requested reports and enabled endpoints', async () => {
    const { webhook_id } = await stage.gateway.endpoints.set(
      stage.account,
      'http://127.0.0.1:65535/hook',
    );
    const silent = await stage.gateway.account();
    const off = await stage.gateway.account();
    const disabled = await stage.gateway.endpoints.set(off, 'http://127.0.0.1:65535/off');
    await stage.gateway.endpoints.update(off, disabled.webhook_id, { enabled: false });
    await stage.gateway.commit([
      statusChange(stage.account, { deliveryReport: false }),
      statusChange(stage.account, { status: 'queued', previous: 'sending' }),
      statusChange(stage.account, { status: 'unknown' }),
      statusChange(stage.account, { status: 'cancelled', previous: 'queued' }),
      statusChange(stage.account, { channel: 'unregistered' }),
      statusChange(silent),
      statusChange(off),
    ]);
    expect(
      await stage.source.getRepository(WebhookDeliveryEntity).countBy({ endpointId: webhook_id }),
    ).toBe(0);
    expect(await stage.deliveries(disabled.webhook_id)).toEqual([]);
    for (const status of [
      'sent',
      'expired',
      'undelivered',
      'failed',
      'rejected',
      'delivered',
      'read',
    ] as const)
      await stage.gateway.commit([statusChange(stage.account, { status })]);
    expect(await stage.deliveries(webhook_id)).toHaveLength(7);
  });

  it('a delivery row commits with its status or not at all', async () => {
    const { webhook_id } = await stage.gateway.endpoints.set(
      stage.account,
      'http://127.0.0.1:65535/hook',
    );
    const failing = stage.gateway.transaction(async (manager) => {
      await stage.gateway.outbox.onStatusChanged([statusChange(stage.account)], manager);
      throw new Error('the recorder failed after the listener');
    });
    await expect(failing).rejects.toThrow('the recorder failed');
    expect(await stage.deliveries(webhook_id)).toEqual([]);
  });

  it('the outbox writes thousands of rows in few statements and in order', async () => {
    const { webhook_id } = await stage.gateway.endpoints.set(
      stage.account,
      'http://127.0.0.1:65535/hook',
    );
    const changes = Array.from({ length: 4_500 }, (_, n) =>
      statusChange(stage.account, { messageId: `m-${n >> 1}`, sequence: 1 + (n & 1) }),
    );
    const statements: string[] = [];
    await stage.gateway.transaction(async (manager) => {
      const { queryRunner } = manager;
      if (!queryRunner) throw new Error('no query runner');
      const query = queryRunner.query.bind(queryRunner);
      queryRunner.query = ((sql: string, ...rest: never[]) => {
        statements.push(sql);
        return query(sql, ...rest);
      }) as typeof queryRunner.query;
      try {
        await stage.gateway.outbox.onStatusChanged(changes, manager);
      } finally {
        queryRunner.query = query as typeof queryRunner.query;
      }
    });
    // One reads the endpoints, three write.
    expect(statements).toHaveLength(4);
    const written = await stage.deliveries(webhook_id);
    expect(written.map(({ messageId, sequence }) => `${messageId}#${sequence}`)).toEqual(
      changes.map(({ messageId, sequence }) => `${messageId}#${sequence}`),
    );
    expect(new Set(written.map(({ id }) => id)).size).toBe(4_500);
  });

  it('each endpoint of the account gets its own delivery', async () => {
    const first = await stage.gateway.endpoints.set(stage.account, 'http://127.0.0.1:65535/a');
    const second = await stage.gateway.endpoints.add(stage.account, 'http://127.0.0.1:65535/b');
    await stage.gateway.commit([statusChange(stage.account)]);
    const [a] = await stage.deliveries(first.webhook_id);
    const [b] = await stage.deliveries(second.id);
    expect(a!.payload).toBe(b!.payload);
    expect(a!.id).not.toBe(b!.id);
  });

  describe('endpoints changed by another process', () => {
    it('an endpoint set by another process is known within a second by one query', async () => {
      const other = await stage.start();
      await stage.gateway.commit([statusChange(stage.account)]);
      const { webhook_id } = await other.endpoints.set(
        stage.account,
        'http://127.0.0.1:65535/hook',
      );
      stage.clock.advance(999);
      await stage.gateway.commit([statusChange(stage.account)]);
      expect(await stage.deliveries(webhook_id)).toHaveLength(1);
      await other.endpoints.update(stage.account, webhook_id, { enabled: false });
      stage.clock.advance(999);
      await stage.gateway.commit([statusChange(stage.account)]);
      expect(await stage.deliveries(webhook_id)).toHaveLength(1);
    });

    it('an endpoint set by this process is known at once', async () => {
      await stage.gateway.commit([statusChange(stage.account)]);
      const { webhook_id } = await stage.gateway.endpoints.set(
        stage.account,
        'http://127.0.0.1:65535/hook',
      );
      await stage.gateway.commit([statusChange(stage.account)]);
      expect(await stage.deliveries(webhook_id)).toHaveLength(1);
      await stage.gateway.endpoints.remove(stage.account, webhook_id);
      await stage.gateway.commit([statusChange(stage.account)]);
      expect(await stage.deliveries(webhook_id)).toEqual([]);
    });
  });
});
