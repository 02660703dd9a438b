import { expect, it, jest } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { answer } from './receiver.js';
import { statusChange } from './webhook-fixture.js';
import { describeWebhooks } from './webhook-stage.js';

// Deliveries wait for their next tries.
jest.setTimeout(120_000);

describeWebhooks('webhook redelivery', (stage) => {
  it.each([
    ['the last try', []],
    ['a try', [3_600_000]],
  ])(
    'a redelivery requested while %s is in flight is made after the failure of that attempt',
    async (_, schedule) => {
      const gateway = await stage.start({ schedule });
      const held: ServerResponse[] = [];
      const customer = await stage.receiver((response) => void held.push(response));
      const { webhook_id: id } = await gateway.endpoints.set(stage.account, customer.url);
      await gateway.commit([statusChange(stage.account)]);
      await gateway.poll();
      await customer.first(1);
      stage.clock.advance(1);
      expect(await gateway.endpoints.redeliver(stage.account, id)).toBe(1);
      customer.respond = answer(204);
      held[0]!.writeHead(500).end();
      await gateway.idle();
      await stage.work(gateway);
      expect(customer.received.map((one) => one.id)).toEqual(
        Array(2).fill(customer.received[0]!.id),
      );
      expect(await stage.deliveries(id)).toEqual([
        expect.objectContaining({ attempts: 1, dueAt: null, deliveredAt: expect.any(Number) }),
      ]);
      expect((await stage.attempts(id)).map(({ error }) => error)).toEqual(['http_status', null]);
    },
  );

  it.each([1, 2])(
    'a redelivery requested %i times before the first attempt keeps its place',
    async (times) => {
      const customer = await stage.receiver();
      const { webhook_id: id } = await stage.gateway.endpoints.set(stage.account, customer.url);
      const { endpoints } = stage.gateway;
      const change = (sequence: number) =>
        statusChange(stage.account, { messageId: 'm', sequence });
      await stage.gateway.commit([change(1), change(2)]);
      for (let n = 0; n < times; n++) expect(await endpoints.redeliver(stage.account, id)).toBe(2);
      await stage.gateway.commit([change(3)]);
      await stage.work();
      expect(customer.received.map(({ data }) => data.sequence)).toEqual([1, 2, 3]);
    },
  );

  it('younger deliveries wait behind a redelivered backlog', async () => {
    const customer = await stage.receiver();
    stage.gateway = await stage.start({ concurrency: 1 });
    const { webhook_id: id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    const backlog = Array.from({ length: 99 }, () => statusChange(stage.account));
    await stage.gateway.commit(backlog);
    await stage.gateway.endpoints.redeliver(stage.account, id);
    await stage.gateway.commit(backlog.map((change) => ({ ...change, sequence: 2 })));
    await stage.work();
    expect(customer.received.map(({ data }) => data.sequence)).toEqual([
      ...Array(99).fill(1),
      ...Array(99).fill(2),
    ]);
  });
});
