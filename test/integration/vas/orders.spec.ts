import {
  MessageValidationError,
  MESSAGING_CLOCK,
  MessagingModule,
  MessagingService,
  simulator,
  VAS_ORDER_OPEN,
  type VasOrder,
  type VasOrderOpen,
  VasReferenceReusedError,
  VasService,
} from '@dundun/messaging';
import { HoldsService } from '@dundun/messaging/operations';
import { PermanentFailure, type Submission, type VasOrderContent } from '@dundun/messaging/ports';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { randomUUID } from 'node:crypto';
import { ChannelContext } from '../../../libs/messaging/src/channels/channel.service.js';
import { HoldWatch } from '../../../libs/messaging/src/dispatch/hold-watch.js';
import { openOrdersJob } from '../../../libs/messaging/src/jobs/messaging.jobs.js';
import { MESSAGE_TRANSPORTS } from '../../../libs/messaging/src/ports/message-transport.js';
import { Router } from '../../../libs/messaging/src/routing/router.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { ForwardClock } from '../dispatch/dispatch-fixture.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Operator } from './operator.js';

const DAY = 86_400_000;
const CAPS = { currency: 'NGN', daily: '1000', perNumber: '500' };

let numbers = 1_000;
/** A number that no order before has: a second order to one number may be a duplicate. */
const numberOf = (end = '0000') => `23480${++numbers}${end}`;

describeEachDatabase('orders of airtime and data', (database) => {
  let app: TestingModule;
  let vas: VasService;
  let operator: Operator;
  let store: MessageStore;
  let tenant: string;
  const clock = new ForwardClock();

  beforeAll(async () => {
    operator = new Operator();
    app = await Test.createTestingModule({
      imports: [
        ScheduleModule.forRoot(),
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          providers: { operator: () => operator, main: simulator() },
          routes: [{ channel: 'vas', use: 'operator' }, { use: 'main' }],
          store: { idempotencyWindow: '1m', retention: { content: '1m', messages: '1m' } },
          reports: { giveUpAfter: '1m' },
          callbackPath: false,
          overrides: [{ provide: MESSAGING_CLOCK, useValue: clock }],
        }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
    vas = app.get(VasService);
    store = app.get(MessageStore, { strict: false });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    Object.assign(operator, { loses: false, answer: () => 'delivered', refuse: () => undefined });
    tenant = randomUUID();
    await vas.allow(CAPS, { tenant });
  });

  const orderOf = (given: Partial<VasOrder> = {}): VasOrder => ({
    to: numberOf(),
    product: 'airtime',
    amount: '100',
    clientReference: randomUUID(),
    ...given,
  });
  const reaches = (id: string, status: string) =>
    eventually(async () => expect(await vas.find(id, { tenant })).toMatchObject({ status }));
  /** The operator's requests of the tenant, by their keys. */
  const requests = () => operator.requests.filter((one) => one.tenant === tenant);
  const keyOf = (submission: Submission | undefined) =>
    (submission?.content as VasOrderContent | undefined)?.key ?? '';
  const pollNow = async () => {
    await store.database.transaction((tx) =>
      tx.run(
        "UPDATE messaging_batch SET poll_at = 1 WHERE channel = 'vas' AND poll_at IS NOT NULL",
      ),
    );
  };

  it('an order reaches the operator once and reads back what the operator told', async () => {
    const order = orderOf({ amount: '100.00' });
    const { id, replayed, order: placed } = await vas.order(order, { tenant });
    expect(replayed).toBe(false);
    expect(placed).toMatchObject({ id, status: 'queued', to: order.to, amount: '100', cost: null });
    await reaches(id, 'processing');
    await pollNow();
    await reaches(id, 'delivered');
    expect(await vas.find(id, { tenant })).toMatchObject({
      clientReference: order.clientReference,
      to: order.to,
      type: 'airtime',
      amount: '100',
      currency: 'NGN',
      cost: '97',
      deliveredAmount: '100',
      operatorReference: 'op-1',
      settlement: null,
    });
    expect(await vas.findByReference(order.clientReference, { tenant })).toMatchObject({ id });
    expect(await vas.findByReference(order.clientReference, { tenant: 'other' })).toBeUndefined();
    expect((await vas.list({ tenant })).data).toMatchObject([{ id, status: 'delivered' }]);
  });

  it('fifty parallel posts of one order are one order and reach the operator once', async () => {
    const order = orderOf();
    const receipts = await Promise.all(
      Array.from({ length: 50 }, () => vas.order(order, { tenant })),
    );
    expect(new Set(receipts.map(({ id }) => id)).size).toBe(1);
    expect(receipts.filter(({ replayed }) => !replayed)).toHaveLength(1);
    await reaches(receipts[0]!.id, 'processing');
    expect(requests()).toHaveLength(1);
    expect(operator.book.get(keyOf(requests()[0]))).toBe(1);
  });

  it('a reference names its order for ever, after years and after the deletion of the batch', async () => {
    const order = orderOf();
    const first = await vas.order(order, { tenant });
    await reaches(first.id, 'processing');
    clock.ahead += 3_650 * DAY;
    expect(await vas.order(order, { tenant })).toMatchObject({ id: first.id, replayed: true });
    await expect(vas.order({ ...order, amount: '200' }, { tenant })).rejects.toThrow(
      VasReferenceReusedError,
    );
    await store.database.transaction((tx) =>
      tx.run('DELETE FROM messaging_batch WHERE id = ?', [first.id]),
    );
    expect(await vas.order(order, { tenant })).toMatchObject({ id: first.id, replayed: true });
    await vas.forbid({ tenant });
    expect(await vas.order(order, { tenant })).toMatchObject({ id: first.id, replayed: true });
    clock.ahead -= 3_650 * DAY;
  });

  it('retention erases no order', async () => {
    const { id } = await vas.order(orderOf(), { tenant });
    await reaches(id, 'processing');
    await pollNow();
    await reaches(id, 'delivered');
    await store.database.transaction((tx) =>
      tx.run('UPDATE messaging_batch SET completed_at = 1, poll_at = NULL WHERE id = ?', [id]),
    );
    while (await store.purge.step(100));
    expect(await vas.find(id, { tenant })).toMatchObject({
      status: 'delivered',
      to: expect.stringMatching(/^\d{10,}$/),
    });
  });

  it('the same number, product and amount within a minute is a duplicate, unless allowed', async () => {
    const order = orderOf();
    await vas.order(order, { tenant });
    const again = { ...order, clientReference: randomUUID() };
    await expect(vas.order(again, { tenant })).rejects.toMatchObject({ code: 'duplicate_order' });
    await expect(
      vas.order(orderOf({ to: order.to, amount: '101' }), { tenant }),
    ).resolves.toBeDefined();
    await expect(vas.order({ ...again, allowDuplicate: true }, { tenant })).resolves.toBeDefined();
    await expect(vas.order(order, { tenant })).resolves.toMatchObject({ replayed: true });
  });

  it('an order that failed is no duplicate and counts towards no cap', async () => {
    operator.refuse = () => {
      throw new PermanentFailure('wrong_number', 'No such number');
    };
    const order = orderOf({ amount: '500' });
    const { id } = await vas.order(order, { tenant });
    await reaches(id, 'rejected');
    expect(await vas.find(id, { tenant })).toMatchObject({ errorCode: 'wrong_number', cost: null });
    operator.refuse = () => undefined;
    const again = await vas.order({ ...order, clientReference: randomUUID() }, { tenant });
    expect(again.replayed).toBe(false);
  });

  it('caps per account and per number hold under concurrency', async () => {
    const to = numberOf();
    const attempts = await Promise.allSettled([
      ...Array.from({ length: 20 }, () =>
        vas.order(orderOf({ to, allowDuplicate: true }), { tenant }),
      ),
      ...Array.from({ length: 20 }, () => vas.order(orderOf(), { tenant })),
    ]);
    const accepted = attempts.filter(({ status }) => status === 'fulfilled');
    expect(accepted).toHaveLength(10);
    const toOne = attempts.slice(0, 20).filter(({ status }) => status === 'fulfilled');
    expect(toOne.length).toBeLessThanOrEqual(5);
    const codes = attempts.flatMap((one) =>
      one.status === 'rejected' ? (one.reason as { code: string }).code : [],
    );
    expect(new Set(codes)).toEqual(new Set(['cap_exceeded']));
    await expect(vas.order(orderOf({ amount: '0.5' }), { tenant })).rejects.toMatchObject({
      code: 'cap_exceeded',
    });
    clock.ahead += DAY + 1_000;
    await expect(vas.order(orderOf(), { tenant })).resolves.toBeDefined();
  });

  it('failed orders do not count towards the cap, and no order above it is sent', async () => {
    operator.refuse = () => {
      throw new PermanentFailure('wrong_number', 'No such number');
    };
    const large = () => vas.order(orderOf({ amount: '500' }), { tenant });
    for (const { id } of [await large(), await large()]) await reaches(id, 'rejected');
    operator.refuse = () => undefined;
    await large();
    await large();
    await expect(large()).rejects.toMatchObject({ code: 'cap_exceeded' });
    await vas.allow({ ...CAPS, daily: '1200' }, { tenant });
    await expect(large()).rejects.toMatchObject({
      code: 'cap_exceeded',
      message: expect.stringContaining('200 of 1200 NGN are left'),
    });
    await vas.order(orderOf({ amount: '200' }), { tenant });
    await expect(vas.order(orderOf(), { tenant })).rejects.toMatchObject({ code: 'cap_exceeded' });
  });

  it('the cap per number counts orders to every form of a number', async () => {
    const [one, other] = ['5215512345678', '525512345678'];
    await vas.order(orderOf({ to: one, amount: '300' }), { tenant });
    const second = vas.order(orderOf({ to: other, amount: '201' }), { tenant });
    await expect(second).rejects.toMatchObject({ code: 'cap_exceeded' });
    await vas.order(orderOf({ to: other, amount: '200' }), { tenant });
    const third = vas.order(orderOf({ to: one, amount: '1' }), { tenant });
    await expect(third).rejects.toMatchObject({ code: 'cap_exceeded' });
  });

  it('caps and references hold across processes, and refused orders delay no others', async () => {
    const other = new VasService(
      app.get(ChannelContext, { strict: false }),
      app.get(Router, { strict: false }),
      app.get(MESSAGE_TRANSPORTS, { strict: false }),
    );
    const [same, off] = [orderOf(), randomUUID()];
    const outcomes = await Promise.allSettled(
      [vas, other].flatMap((one) => [
        one.order(same, { tenant }),
        one.order(orderOf(), { tenant: off }),
        ...Array.from({ length: 15 }, () => one.order(orderOf(), { tenant })),
      ]),
    );
    const done = outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    // Ten of a hundred are the cap; the same order is one of them, or was refused by both.
    expect(new Set(done.map(({ id }) => id)).size).toBe(10);
    expect(done.filter(({ replayed }) => !replayed)).toHaveLength(10);
    const codes = outcomes.flatMap((one) =>
      one.status === 'rejected' ? (one.reason as { code: string }).code : [],
    );
    expect(new Set(codes)).toEqual(new Set(['cap_exceeded', 'vas_not_allowed']));
    expect(codes.filter((code) => code === 'vas_not_allowed')).toHaveLength(2);
    expect((await vas.list({ tenant })).data).toHaveLength(10);
  });

  it('orders are refused without an allowance, and in another currency', async () => {
    const other = randomUUID();
    await expect(vas.order(orderOf(), { tenant: other })).rejects.toMatchObject({
      code: 'vas_not_allowed',
    });
    await expect(
      vas.order(orderOf({ product: 'airtime-gh', amount: '5' }), { tenant }),
    ).rejects.toMatchObject({ code: 'vas_not_allowed' });
    expect(await vas.allowance({ tenant: other })).toBeUndefined();
    expect(await vas.allowance({ tenant })).toEqual(CAPS);
  });

  it.each<[string, Partial<VasOrder>, string]>([
    ['an amount above the product', { amount: '99999999' }, 'amount'],
    ['an amount below the product', { amount: '0.4' }, 'amount'],
    ['a number as amount', { amount: 100 as unknown as string }, 'amount'],
    ['an amount with five decimals', { amount: '1.00001' }, 'amount'],
    ['an exponent', { amount: '1e2' }, 'amount'],
    ['a negative amount', { amount: '-1' }, 'amount'],
    ['no amount', { amount: undefined }, 'amount'],
    ['an amount of a bundle', { product: 'bundle' }, 'amount'],
    ['an unknown product', { product: 'none' }, 'product'],
    ['another currency', { currency: 'USD' }, 'currency'],
    ['another network', { network: 'Test GH' }, 'network'],
    ['no number', { to: 'grp_0123456789' }, 'to'],
    ['a reference with a space', { clientReference: 'a b' }, 'clientReference'],
    ['no reference', { clientReference: '' }, 'clientReference'],
  ])('%s is refused by name', async (_, given, path) => {
    const failure = await vas.order(orderOf(given), { tenant }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MessageValidationError);
    expect((failure as MessageValidationError).fields.map((field) => field.path)).toEqual([path]);
  });

  it('the channel takes no order beside VasService', async () => {
    const send = app
      .get(MessagingService)
      .channel('vas')
      .send(
        { to: numberOf(), content: { kind: 'vas.airtime', product: 'airtime', amount: '1' } },
        { tenant },
      );
    await expect(send).rejects.toThrow(MessageValidationError);
  });

  it('a lost answer is unknown, is never sent again, and is found by the order’s key', async () => {
    operator.loses = true;
    operator.answer = () => undefined;
    const { id } = await vas.order(orderOf(), { tenant });
    await reaches(id, 'unknown');
    operator.answer = () => 'delivered';
    await pollNow();
    await reaches(id, 'delivered');
    expect(requests()).toHaveLength(1);
    expect(operator.asked).toContain(keyOf(requests()[0]));
  });

  it('a callback by the key finds an order whose answer was lost, and a reversal follows', async () => {
    operator.loses = true;
    operator.answer = () => undefined;
    const { id } = await vas.order(orderOf(), { tenant });
    await reaches(id, 'unknown');
    const key = keyOf(requests()[0]);
    const report = (status: string) => ({
      reference: key,
      messageId: null,
      recipient: null,
      status,
      rawStatus: status,
      errorCode: null,
      providerTime: null,
    });
    await store.reports.record([report('reversed')], { provider: 'operator' });
    await store.reports.record([report('delivered')], { provider: 'operator' });
    expect(await vas.find(id, { tenant })).toMatchObject({ status: 'reversed' });
  });

  it('an order without an outcome stays unknown for ten years, is polled on, and is announced once', async () => {
    operator.loses = true;
    operator.answer = () => undefined;
    const order = orderOf();
    const { id } = await vas.order(order, { tenant });
    await reaches(id, 'unknown');
    const told: VasOrderOpen[] = [];
    // The app's own job would tell of the order first.
    app.get(SchedulerRegistry).deleteInterval('messaging.orders');
    const job = openOrdersJob(() => vas.takeOpen(), {
      wants: () => true,
      publish: (name, payload) => {
        expect(name).toBe(VAS_ORDER_OPEN);
        told.push(payload as VasOrderOpen);
      },
    });
    const { signal } = new AbortController();
    await job.run(signal);
    expect(told.filter((one) => one.orderId === id)).toEqual([]);

    const waits: number[] = [];
    for (let year = 0; year <= 10; year++) {
      await eventually(async () => {
        // The age of the order passes, and its next question is due.
        await store.database.transaction(async (tx) => {
          const age = year * 365 * DAY * 1_000;
          await tx.run(
            `UPDATE messaging_batch SET completed_at = ${store.database.dialect.now} - ${age}, poll_at = 1, polls = ? WHERE id = ?`,
            [Math.min(year * 365, 32_000), id],
          );
        });
        // The app's own job may claim it first.
        const asked = (await store.reportPolls.claim(500)).filter((one) =>
          one.submissionId.startsWith(id),
        );
        expect(asked).toHaveLength(1);
      });
      const [row] = await store.database.all<{ wait: string | number }>(
        `SELECT poll_at - ${store.database.dialect.now} AS wait FROM messaging_batch WHERE id = ?`,
        [id],
      );
      waits.push(Math.round(Number(row?.wait) / 1e6));
      await job.run(signal);
      clock.ahead += 365 * DAY;
    }
    clock.ahead -= 11 * 365 * DAY;
    expect(waits[0]).toBeLessThanOrEqual(10);
    expect(waits.slice(1).every((wait) => wait > 86_000 && wait <= 86_400)).toBe(true);
    expect(await vas.find(id, { tenant })).toMatchObject({ status: 'unknown', settlement: null });
    expect(told.filter((one) => one.orderId === id)).toMatchObject([
      { tenant, clientReference: order.clientReference },
    ]);
    expect(requests()).toHaveLength(1);
  });

  it('a person settles an open order, which is recorded, and no order that has an outcome', async () => {
    operator.loses = true;
    operator.answer = () => undefined;
    const { id } = await vas.order(orderOf(), { tenant });
    await reaches(id, 'unknown');
    const settled = await vas.settle(id, {
      as: 'failed',
      by: 'ada',
      note: 'not in the book',
      tenant,
    });
    expect(settled).toMatchObject({
      status: 'failed',
      errorCode: 'settled_by_operator',
      settlement: { as: 'failed', by: 'ada', note: 'not in the book' },
    });
    await expect(vas.settle(id, { as: 'delivered', by: 'eve', tenant })).rejects.toMatchObject({
      code: 'already_settled',
    });
    await expect(vas.settle(randomUUID(), { as: 'failed', by: 'a', tenant })).rejects.toMatchObject(
      {
        code: 'not_found',
      },
    );
    // A report of the operator still raises the status.
    const key = keyOf(requests()[0]);
    const none = { messageId: null, recipient: null, errorCode: null, providerTime: null };
    await store.reports.record(
      [{ ...none, reference: key, status: 'delivered', rawStatus: 'SUCCESSFUL' }],
      { provider: 'operator' },
    );
    expect(await vas.find(id, { tenant })).toMatchObject({ status: 'delivered' });
  });

  it('a restored database holds its orders until the release of their channel', async () => {
    const holds = app.get(HoldsService);
    const watch = app.get(HoldWatch, { strict: false });
    await holds.markRestored();
    expect(await holds.list()).toMatchObject([{ lanes: '*' }, { lanes: '*:vas' }]);
    await eventually(async () =>
      expect((await app.get(MessagingService).lanes()).every(({ leased }) => !leased)).toBe(true),
    );
    await eventually(async () => expect(watch.of(`${tenant}:vas`)).toBeDefined());
    const { id } = await vas.order(orderOf(), { tenant });
    await holds.releaseRestored('unknown');
    expect(await holds.list()).toMatchObject([{ lanes: '*:vas', reason: 'restored' }]);
    expect(await vas.find(id, { tenant })).toMatchObject({ status: 'queued' });
    await holds.releaseRestoredChannel('vas');
    await reaches(id, 'processing');
    await expect(holds.releaseRestoredChannel('vas')).rejects.toMatchObject({
      code: 'not_restored',
    });
  });
});
