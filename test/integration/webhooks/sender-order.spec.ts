import { describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { answer } from './receiver.js';
import { describeWebhooks } from './webhook-stage.js';
import { statusChange } from './webhook-fixture.js';

describeWebhooks('webhook sender, order and shares', (stage) => {
  it('a failed delivery delays no later one and first attempts go in order', async () => {
    const customer = await stage.receiver((response, { data }) => {
      response.writeHead(data.sequence === 1 ? 500 : 200).end();
    });
    await stage.gateway.endpoints.set(stage.account, customer.url);
    const batchId = stage.clock.id();
    const changes = [1, 2, 3].flatMap((sequence) =>
      Array.from({ length: 20 }, (_, n) =>
        statusChange(stage.account, { batchId, messageId: `${batchId}-${n}`, sequence }),
      ),
    );
    await stage.gateway.commit(changes);
    await stage.work();
    expect(customer.received).toHaveLength(60);
    for (let n = 0; n < 20; n++) {
      const ofMessage = customer.received.filter(
        (one) => one.data.message_id === `${batchId}-${n}`,
      );
      expect(ofMessage.map(({ data }) => data.sequence)).toEqual([1, 2, 3]);
    }
    customer.respond = answer(200);
    stage.clock.advance(10_000);
    await stage.work();
    expect(customer.received.slice(60).map(({ data }) => data.sequence)).toEqual(Array(20).fill(1));
  });

  it('first attempts of one message never overlap', async () => {
    const open = new Set<string>();
    let overlaps = 0;
    const customer = await stage.receiver(async (response, { data }) => {
      if (open.has(data.message_id)) overlaps++;
      open.add(data.message_id);
      await new Promise((resolve) => setTimeout(resolve, 1));
      open.delete(data.message_id);
      response.end();
    });
    await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit(
      Array.from({ length: 120 }, (_, n) =>
        statusChange(stage.account, { messageId: `m-${n % 3}`, sequence: 1 + Math.floor(n / 3) }),
      ),
    );
    await stage.work();
    expect(customer.received).toHaveLength(120);
    expect(overlaps).toBe(0);
    expect(customer.most).toBeGreaterThan(1);
  });

  it('a hanging receiver delays no other account', async () => {
    stage.gateway = await stage.start({ shutdownTimeout: 50 });
    const hanging = await stage.receiver(() => undefined);
    const healthy = await stage.receiver();
    const other = await stage.gateway.account();
    await stage.gateway.endpoints.set(stage.account, hanging.url);
    await stage.gateway.endpoints.set(other, healthy.url);
    await stage.gateway.commit(Array.from({ length: 300 }, () => statusChange(stage.account)));
    await stage.gateway.commit(Array.from({ length: 300 }, () => statusChange(other)));
    const polled = stage.gateway.poll();
    await healthy.first(300);
    expect(hanging.open).toBeLessThanOrEqual(stage.gateway.options.concurrency);
    expect(hanging.received.length).toBeLessThanOrEqual(stage.gateway.options.concurrency);
    await polled;
    await stage.gateway.stop();
  });

  it("deliveries keep to the endpoint's concurrency", async () => {
    const customer = await stage.receiver(async (response) => {
      await new Promise((resolve) => setImmediate(resolve));
      response.end();
    });
    stage.gateway = await stage.start({ concurrency: 4 });
    await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit(Array.from({ length: 200 }, () => statusChange(stage.account)));
    await stage.work();
    expect(customer.received).toHaveLength(200);
    expect(customer.most).toBeLessThanOrEqual(4);
    expect(customer.most).toBeGreaterThan(1);
  });

  describe('several processes', () => {
    it('several processes share deliveries without sending one twice', async () => {
      const customers = await Promise.all(Array.from({ length: 4 }, () => stage.receiver()));
      const accounts = await Promise.all(customers.map(() => stage.gateway.account()));
      const others = [stage.gateway, await stage.start(), await stage.start()];
      const work = customers.map(async ({ url }, n) => {
        const account = accounts[n]!;
        const { webhook_id } = await stage.gateway.endpoints.set(account, url);
        await stage.gateway.commit(Array.from({ length: 150 }, () => statusChange(account)));
        for (const process of others) process.sender.wake(webhook_id);
      });
      await Promise.all([...work, ...others.map((process) => process.poll())]);
      await Promise.all(customers.map((customer) => customer.first(150)));
      await Promise.all(others.map((process) => process.idle()));
      for (const customer of customers) {
        expect(customer.received).toHaveLength(150);
        expect(new Set(customer.received.map(({ id }) => id)).size).toBe(150);
      }
    });

    it('deliveries of a dead process are sent by another after the lease under the same id', async () => {
      const customer = await stage.receiver(() => undefined);
      const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
      stage.gateway = await stage.start({ shutdownTimeout: 50 });
      await stage.gateway.commit([statusChange(stage.account)]);
      await stage.gateway.poll();
      await customer.first(1);
      const heir = await stage.start();
      await stage.work(heir);
      expect(customer.received).toHaveLength(1);
      await stage.endLeases();
      customer.respond = answer(200);
      await stage.work(heir);
      expect(customer.received).toHaveLength(2);
      expect(customer.received[1]!.id).toBe(customer.received[0]!.id);
      const [delivery] = await stage.deliveries(webhook_id);
      expect(delivery!.deliveredAt).not.toBeNull();
      await stage.gateway.stop();
      expect((await stage.deliveries(webhook_id))[0]).toMatchObject({ dueAt: null, attempts: 1 });
    });

    it('a process resumed after its lease expired sends nothing', async () => {
      const customer = await stage.receiver();
      await stage.gateway.endpoints.set(stage.account, customer.url);
      await stage.gateway.commit(
        [1, 2].map((sequence) => statusChange(stage.account, { messageId: 'm', sequence })),
      );
      const { deliveries } = stage.gateway;
      const due = deliveries.due.bind(deliveries);
      let isFrozen = true;
      deliveries.due = async (...query) => {
        const found = await due(...query);
        if (!isFrozen) return found;
        isFrozen = false;
        stage.clock.advance(stage.gateway.options.lease);
        await stage.endLeases();
        await stage.work(await stage.start());
        return found;
      };
      await stage.work();
      expect(customer.received.map(({ data }) => data.sequence)).toEqual([1, 2]);
    });

    it('a late failure of a former holder does not undo a success', async () => {
      const late: ServerResponse[] = [];
      const customer = await stage.receiver((response) => void late.push(response));
      const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
      await stage.gateway.commit([statusChange(stage.account)]);
      await stage.gateway.poll();
      await customer.first(1);
      await stage.endLeases();
      customer.respond = answer(200);
      await stage.work(await stage.start());
      for (const response of late) response.writeHead(500).end();
      await stage.gateway.idle();
      expect(await stage.attempts(webhook_id)).toMatchObject([{ status: 200 }, { status: 500 }]);
      const [delivery] = await stage.deliveries(webhook_id);
      expect(delivery).toMatchObject({ dueAt: null, deliveredAt: expect.any(Number) });
    });
  });

  it('a stop ends attempts in flight within its deadline and leaves the rest due', async () => {
    const customer = await stage.receiver(() => undefined);
    stage.gateway = await stage.start({ timeout: 60_000, shutdownTimeout: 50 });
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit(Array.from({ length: 50 }, () => statusChange(stage.account)));
    await stage.gateway.poll();
    await customer.first(4);
    await stage.gateway.stop();
    const rest = await stage.deliveries(webhook_id);
    expect(rest.map(({ dueAt }) => dueAt)).toEqual(Array(50).fill(0));
    expect(await stage.holderOf(webhook_id)).toBeNull();
    customer.respond = answer(200);
    const next = await stage.start();
    await stage.work(next);
    expect(new Set(customer.received.map(({ id }) => id)).size).toBe(50);
    for (const { deliveredAt } of await stage.deliveries(webhook_id))
      expect(deliveredAt).not.toBeNull();
  });

  it('an answer that arrives during a stop is recorded', async () => {
    let release: () => void = () => undefined;
    stage.gateway = await stage.start({ shutdownTimeout: 60_000 });
    const customer = await stage.receiver((response) => {
      release = () => void response.end('late');
    });
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.gateway.poll();
    await customer.first(1);
    const stopped = stage.gateway.stop();
    release();
    await stopped;
    expect(await stage.attempts(webhook_id)).toMatchObject([{ status: 200, response: 'late' }]);
  });
});
