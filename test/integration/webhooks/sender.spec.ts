import { expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../../support/eventually.js';
import { answer } from './receiver.js';
import { describeWebhooks } from './webhook-stage.js';
import { statusChange } from './webhook-fixture.js';

describeWebhooks('webhook sender', (stage) => {
  it('a callback verifies with the standardwebhooks package and its attempt is recorded', async () => {
    const customer = await stage.receiver(answer(200, {}, 'thanks'));
    const { webhook_id, secret } = await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    const [got, ...more] = customer.received;
    expect(more).toEqual([]);
    expect(got!.path).toBe('/hook?key=1');
    expect(got!.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(new Webhook(secret).verify(got!.body, got!.headers)).toMatchObject({
      type: 'sms.delivery_report',
    });
    const [delivery] = await stage.deliveries(webhook_id);
    expect(delivery).toMatchObject({ id: got!.id, attempts: 1, dueAt: null });
    expect(delivery!.payload).toBe(got!.body);
    expect(delivery!.deliveredAt).not.toBeNull();
    expect(await stage.attempts(webhook_id)).toMatchObject([
      { deliveryId: got!.id, attempt: 1, status: 200, error: null, response: 'thanks' },
    ]);
  });

  it('a commit wakes the sender without a poll', async () => {
    const customer = await stage.receiver();
    await stage.gateway.endpoints.set(stage.account, customer.url);
    for (const count of [1, 2]) {
      const change = statusChange(stage.account);
      await stage.gateway.commit([change]);
      stage.gateway.wakes.onStatusCommitted(change);
      await customer.first(count);
    }
    await stage.gateway.idle();
    expect(customer.received).toHaveLength(2);
  });

  it('a retry has the same id and body with a fresh signature', async () => {
    const customer = await stage.receiver(answer(500, {}, 'no\u0000pe'));
    const { webhook_id, secret } = await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    stage.clock.advance(4_999);
    await stage.work();
    expect(customer.received).toHaveLength(1);
    stage.clock.advance(5_000);
    await stage.work();
    expect(customer.received).toHaveLength(2);
    customer.respond = answer(200);
    stage.clock.advance(300_000 * 1.2);
    await stage.work();
    await stage.work();
    const [first, second, third] = customer.received;
    expect(customer.received).toHaveLength(3);
    expect([second!.id, third!.id]).toEqual([first!.id, first!.id]);
    expect([second!.body, third!.body]).toEqual([first!.body, first!.body]);
    expect(second!.headers['webhook-timestamp']).not.toBe(first!.headers['webhook-timestamp']);
    expect(third!.headers['webhook-signature']).toBe(
      new Webhook(secret).sign(
        third!.id,
        new Date(Number(third!.headers['webhook-timestamp']) * 1_000),
        third!.body,
      ),
    );
    expect(await stage.attempts(webhook_id)).toMatchObject([
      { attempt: 1, status: 500, error: 'http_status', response: 'no\ufffdpe' },
      { attempt: 2, status: 500, error: 'http_status' },
      { attempt: 3, status: 200, error: null },
    ]);
  });

  it('the first retry is due 5 to 5.5 s after the answer, however long its body takes', async () => {
    const customer = await stage.receiver((response) => {
      response.writeHead(500).flushHeaders();
      setTimeout(() => {
        stage.clock.advance(60_000);
        response.end();
      }, 50);
    });
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    const [delivery] = await stage.deliveries(webhook_id);
    const [attempt] = await stage.attempts(webhook_id);
    const wait = delivery!.dueAt! - (attempt!.startedAt + attempt!.duration);
    expect(wait).toBeGreaterThanOrEqual(5_000);
    expect(wait).toBeLessThanOrEqual(5_500);
  });

  it('a lane that waits for new callbacks makes a retry when it is due', async () => {
    const gateway = await stage.start({ linger: 600_000, schedule: [50] });
    const customer = await stage.receiver(answer(500));
    const { webhook_id } = await gateway.endpoints.set(stage.account, customer.url);
    await gateway.commit([statusChange(stage.account)]);
    await gateway.poll();
    await eventually(async () =>
      expect(await stage.deliveries(webhook_id)).toMatchObject([{ attempts: 1 }]),
    );
    stage.clock.advance(1_000);
    await customer.first(2);
  });

  it('a delivery is exhausted after ten attempts', async () => {
    const customer = await stage.receiver(answer(503));
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    for (let n = 0; n < 12; n++) {
      await stage.work();
      stage.clock.advance(24 * 3_600_000 * 1.2);
      // Ten days of failing would disable it.
      await stage.gateway.endpoints.update(stage.account, webhook_id, { enabled: false });
      await stage.gateway.endpoints.update(stage.account, webhook_id, { enabled: true });
    }
    expect(customer.received).toHaveLength(10);
    expect(await stage.deliveries(webhook_id)).toMatchObject([
      { attempts: 10, dueAt: null, deliveredAt: null },
    ]);
  });

  it('during a rotation both secrets verify and afterwards the new one only', async () => {
    const customer = await stage.receiver();
    const { webhook_id, secret: old } = await stage.gateway.endpoints.set(
      stage.account,
      customer.url,
    );
    const { secret: next } = await stage.gateway.endpoints.rotateSecret(stage.account, webhook_id);
    expect(next).not.toBe(old);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    const [during] = customer.received;
    for (const secret of [old, next])
      expect(() => new Webhook(secret).verify(during!.body, during!.headers)).not.toThrow();
    stage.clock.advance(stage.gateway.options.rotation);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    expect(customer.received[1]!.headers['webhook-signature']!.split(' ')).toHaveLength(1);
  });

  it('every secret of repeated rotations verifies for a day', async () => {
    const customer = await stage.receiver();
    const { endpoints } = stage.gateway;
    const { webhook_id: id, secret: old } = await endpoints.set(stage.account, customer.url);
    const next = await Promise.all([1, 2].map(() => endpoints.rotateSecret(stage.account, id)));
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    const [during] = customer.received;
    for (const secret of [old, ...next.map((one) => one.secret)])
      expect(() => new Webhook(secret).verify(during!.body, during!.headers)).not.toThrow();
  });
});
