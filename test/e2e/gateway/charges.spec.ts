import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type MessageStatusChanged, SmsService, VasService } from '@dundun/messaging';
import {
  MESSAGE_TRANSPORTS,
  type MessageTransport,
  RetryableFailure,
} from '@dundun/messaging/ports';
import fc from 'fast-check';
import { DataSource, type EntityManager } from 'typeorm';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { BillingCheck } from '../../../src/billing/billing-check.js';
import { AccountCharges } from '../../../src/billing/charging/account-charges.js';
import { MessageCosts } from '../../../src/billing/charging/message-costs.js';
import { ChargeStore } from '../../../src/billing/charging/charge.store.js';
import { BudgetsService } from '../../../src/billing/budgets/budgets.service.js';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { amountText, readAmount } from '../../../src/billing/money.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import { RateImports } from '../../../src/billing/rate-cards/rate-imports.service.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

const nothing = () => Promise.resolve();

/** The carrier rejects the first, never delivers the second, delivers the others. */
const [REJECTED, UNDELIVERED, DELIVERED, ABROAD] = [
  '2348012349903',
  '2348012349901',
  '2348012345678',
  '447700900123',
];

describeEachDatabase('charges of messages', (db) => {
  let gateway: TestGateway;
  let other: TestGateway;

  beforeAll(async () => {
    const settings = {
      DATABASE_URL: db.url,
      SMS_PRICES: 'NGN *=9.5 234=4.5',
      RETENTION_CONTENT: '72h',
      RETENTION_MESSAGES: '72h',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    };
    gateway = await new TestGateway(settings).start();
    other = await new TestGateway(settings).start();
  });
  afterAll(async () => {
    await other.destroy();
    await gateway.destroy();
  });

  const billing = () => gateway.running.app.get(BillingService, { strict: false });

  /** An account with a balance, which both processes know. */
  async function prepaid(amount: string) {
    const account = await gateway.account();
    const change = { amount, reference: 'INV-1', userId: null };
    await billing().topUp(account.accountId, change, nothing);
    await billing().setMode(account.accountId, { mode: 'prepaid' }, nothing);
    await eventually(async () => {
      for (const { running } of [gateway, other])
        expect(running.app.get(RateCards, { strict: false }).pays(account.accountId)).toBe(true);
    });
    return account;
  }

  const send = (token: string, to: string | string[], more: object = {}, of = gateway) =>
    of.call('POST', '/ng/v1/sendsms', {
      token,
      body: { from: 'ACME', to: [to].flat(), body: 'Hello', ...more },
    });

  const moneyOf = async (accountId: string) => {
    const { balance = 0n, reserved = 0n } = (await billing().account(accountId)) ?? {};
    return { balance: amountText(balance), reserved: amountText(reserved) };
  };

  it('a long text is charged per part, by the prefix of each recipient, once the carrier has it', async () => {
    const { accountId, apiToken } = await prepaid('100');
    const body = 'A text of more than 160 characters has two parts. '.repeat(4);
    const sent = await send(apiToken, [DELIVERED, ABROAD], { body });
    expect(sent.status).toBe(200);
    await eventually(async () =>
      expect(await moneyOf(accountId)).toEqual({ balance: '72.00', reserved: '0.00' }),
    );
    const { data } = await billing().entries(accountId, { limit: 10, cursor: undefined });
    const charges = data.filter(({ kind }) => kind === 'charge');
    expect(amountText(charges.reduce((sum, { amount }) => sum + amount, 0n))).toBe('-28.00');
    const list = await gateway.call('GET', '/ng/v1/sms', { token: apiToken });
    expect(list.body).toMatchObject({ data: [{ cost: 28, currency: 'NGN' }] });
  });

  it('a message that the carrier rejects costs nothing; one that is not delivered stays charged', async () => {
    const { accountId, apiToken } = await prepaid('9');
    await send(apiToken, [REJECTED, UNDELIVERED]);
    await eventually(async () =>
      expect(await moneyOf(accountId)).toEqual({ balance: '4.50', reserved: '0.00' }),
    );
    const { data } = await billing().entries(accountId, { limit: 10, cursor: undefined });
    const charges = data.filter(({ kind }) => kind === 'charge');
    expect(charges.map(({ note }) => note)).toEqual(['1 message']);
  });

  it('an account that pays on delivery pays for what arrived alone', async () => {
    const { accountId, apiToken } = await prepaid('100');
    const rule = { mode: 'prepaid', chargeAt: 'delivered' } as const;
    await billing().setMode(accountId, rule, nothing);
    await send(apiToken, [REJECTED, UNDELIVERED, DELIVERED]);
    await eventually(async () =>
      expect(await moneyOf(accountId)).toEqual({ balance: '95.50', reserved: '0.00' }),
    );
  });

  it('too little is 402 with the amounts, and stores nothing', async () => {
    const { accountId, apiToken } = await prepaid('5');
    const refused = await send(apiToken, [DELIVERED, ABROAD]);
    expect(refused).toMatchObject({
      status: 402,
      body: {
        error: {
          type: 'billing_error',
          code: 'insufficient_balance',
          message: 'The message costs 14.00 NGN, and 5.00 NGN are available; top up the balance',
          details: [
            { path: 'needed', message: '14.00' },
            { path: 'available', message: '5.00' },
            { path: 'currency', message: 'NGN' },
          ],
        },
      },
    });
    expect(await moneyOf(accountId)).toEqual({ balance: '5.00', reserved: '0.00' });
    const list = await gateway.call('GET', '/ng/v1/sms', { token: apiToken });
    expect(list.body).toMatchObject({ data: [] });
  });

  it('a channel without a price is 422 for an account that pays', async () => {
    const { accountId, apiToken } = await prepaid('5');
    const caller = '2348000000001';
    await gateway.senders.add({ accountId, channel: 'voice', sender: caller });
    const call = await gateway.call('POST', '/ng/v1/voice/calls', {
      token: apiToken,
      body: { from: caller, to: [DELIVERED], text: 'Hello' },
    });
    expect(call).toMatchObject({ status: 422, body: { error: { code: 'no_price' } } });
  });

  it('of a hundred sends over two processes as many are accepted as there is money for', async () => {
    const { accountId, apiToken } = await prepaid('270');
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        send(apiToken, REJECTED, { send_at: '2027-12-01T00:00:00Z' }, n % 2 ? other : gateway),
      ),
    );
    const counts = (status: number) => answers.filter((one) => one.status === status).length;
    expect([counts(200), counts(402)]).toEqual([60, 40]);
    expect(await moneyOf(accountId)).toEqual({ balance: '270.00', reserved: '270.00' });
  });

  it('an account that is spent is refused alone, also where its sends share statements with others', async () => {
    const rich = await prepaid('1000');
    const poor = await prepaid('9');
    const asked = jest.spyOn(
      gateway.running.app.get(AccountCharges, { strict: false }),
      'onAccepted',
    );
    const later = { send_at: '2027-12-01T00:00:00Z' };
    const accepted = async (of: { readonly apiToken: string }) =>
      (await send(of.apiToken, DELIVERED, later)).status === 200;
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => accepted(n % 2 ? rich : poor)),
    );
    expect(answers.filter((_, n) => n % 2)).toEqual(Array.from({ length: 20 }, () => true));
    expect(answers.filter((one, n) => n % 2 === 0 && one)).toHaveLength(2);
    // An account that has enough is not asked; the other account has a group of its own.
    asked.mockClear();
    await Promise.all([rich, poor, rich, poor].map((of) => accepted(of)));
    const tenants = asked.mock.calls.flatMap(([batches]) => batches.map(({ tenant }) => tenant));
    asked.mockRestore();
    expect(new Set(tenants)).toEqual(new Set([poor.accountId]));
    expect(await moneyOf(rich.accountId)).toEqual({ balance: '1000.00', reserved: '99.00' });
    expect(await moneyOf(poor.accountId)).toEqual({ balance: '9.00', reserved: '9.00' });
    expect(await billing().differences()).toEqual([]);
  });

  it('a batch that another process has ended, or settled by a report, is not charged from memory', async () => {
    const { accountId, apiToken } = await prepaid('100');
    const later = { send_at: '2027-12-01T00:00:00Z' };
    const batches: string[] = [];
    for (let n = 0; n < 3; n++) {
      const { body } = await send(apiToken, DELIVERED, later);
      batches.push((body as { reference_id: string }).reference_id);
    }
    const within = (
      { running: { app } }: TestGateway,
      work: (charges: AccountCharges, manager: EntityManager) => Promise<void>,
    ) =>
      app
        .get(DataSource, { strict: false })
        .transaction((manager) => work(app.get(AccountCharges, { strict: false }), manager));
    const changed = (
      batchId: string,
      more: Partial<MessageStatusChanged>,
    ): MessageStatusChanged => ({
      tenant: accountId,
      channel: 'sms',
      batchId,
      messageId: `${batchId}-0`,
      providerId: null,
      sender: 'ACME',
      recipient: DELIVERED,
      previous: 'queued',
      status: 'sent',
      errorCode: null,
      providerTime: new Date(),
      sequence: 1,
      deliveryReport: false,
      ...more,
    });
    const [ended = '', free = '', open = ''] = batches;
    await within(other, async (charges, manager) => {
      await charges.onEnded([{ tenant: accountId, batchId: ended, cause: 'retention' }], manager);
      await charges.onChanged([changed(free, { details: { billable: 0 } })], manager);
    });
    expect(await moneyOf(accountId)).toEqual({ balance: '100.00', reserved: '4.50' });
    const next = { previous: 'sent', status: 'failed', sequence: 2 } as const;
    await within(gateway, async (charges, manager) => {
      const changes = [changed(ended, {}), changed(free, next), changed(open, {})];
      // What each of them charged, which Insights counts.
      expect(await charges.onChanged(changes, manager)).toEqual(
        [0n, 0n, 4_500_000n].map((amount) => ({ amount, currency: 'NGN' })),
      );
    });
    expect(await moneyOf(accountId)).toEqual({ balance: '95.50', reserved: '0.00' });
    // No message has changed: a check would name the batches.
    await within(gateway, (charges, manager) =>
      charges.onEnded(
        batches.map((batchId) => ({ tenant: accountId, batchId, cause: 'erased' })),
        manager,
      ),
    );
  });

  it('retention ends what orders reserve, and leaves the orders with their entries', async () => {
    const vas = gateway.running.app.get(VasService, { strict: false });
    const store = gateway.running.app.get(MessageStore, { strict: false });
    const order = async ({ accountId, apiToken }: CreatedAccount, to: string) => {
      await vas.allow({ currency: 'NGN', daily: '1000', perNumber: '500' }, { tenant: accountId });
      const { body } = await gateway.call('POST', '/ng/v1/vas/orders', {
        token: apiToken,
        body: { to, product: 'airtime-ng', amount: '100', client_reference: to },
      });
      return String(body['id']);
    };
    const [released, charged] = [await prepaid('500'), await prepaid('500')];
    const unsettled = { mode: 'prepaid', unsettled: 'charge' } as const;
    await billing().setMode(charged.accountId, unsettled, nothing);
    const ids: string[] = [];
    for (const [n, account] of [released, charged].entries()) {
      // The answer of the first is lost, and no question settles it; the second fails.
      ids.push(await order(account, `234810000${n}9909`));
      await order(account, `234810000${n}9901`);
      await eventually(async () =>
        expect(await vas.find(ids[n]!, { tenant: account.accountId })).toMatchObject({
          status: 'unknown',
        }),
      );
      await eventually(async () =>
        expect(await moneyOf(account.accountId)).toEqual({ balance: '500.00', reserved: '100.00' }),
      );
    }
    await gateway.running.app.get(DataSource, { strict: false }).query(
      `UPDATE messaging_batch SET poll_at = NULL, completed_at = completed_at - ${5 * 86_400_000_000}
         WHERE channel = 'vas'`,
    );
    while (await store.purge.step(100));
    expect(await moneyOf(released.accountId)).toEqual({ balance: '500.00', reserved: '0.00' });
    expect(await moneyOf(charged.accountId)).toEqual({ balance: '400.00', reserved: '0.00' });
    expect(await billing().differences()).toEqual([]);
    // What an operator finds out later moves no money any more.
    const [first = '', second = ''] = ids;
    for (const [id, account, cost] of [
      [first, released, 0],
      [second, charged, 100],
    ] as const) {
      await vas.settle(id, { as: 'failed', by: 'usr_test', tenant: account.accountId });
      const read = await gateway.call('GET', `/ng/v1/vas/orders/${id}`, {
        token: account.apiToken,
      });
      expect(read).toMatchObject({ status: 200, body: { cost, currency: 'NGN' } });
    }
    expect(await moneyOf(charged.accountId)).toEqual({ balance: '400.00', reserved: '0.00' });
    const { data } = await billing().entries(charged.accountId, { limit: 10, cursor: undefined });
    expect(data.filter(({ kind }) => kind === 'charge')).toHaveLength(1);
    expect(await billing().differences()).toEqual([]);
  });

  it('a cancel gives back what has not left, by the rate of each recipient', async () => {
    const { accountId, apiToken } = await prepaid('100');
    const { body } = await send(apiToken, [ABROAD, DELIVERED, REJECTED], {
      send_at: '2027-12-01T00:00:00Z',
    });
    expect(await moneyOf(accountId)).toEqual({ balance: '100.00', reserved: '18.50' });
    const { reference_id: id } = body as { reference_id: string };
    await gateway.call('DELETE', `/ng/v1/sms/${id}`, { token: apiToken });
    expect(await moneyOf(accountId)).toEqual({ balance: '100.00', reserved: '0.00' });
  });

  it('reports and callbacks have the cost of their message at each change', async () => {
    const { accountId, apiToken } = await prepaid('100');
    const receiver = await Receiver.start();
    const webhooks = gateway.running.app.get(WebhookEndpointsService, { strict: false });
    await webhooks.set(accountId, receiver.url);
    const { body } = await send(apiToken, [REJECTED, UNDELIVERED, ABROAD], {
      delivery_report: 'yes',
    });
    const { reference_id: id } = body as { reference_id: string };
    const told = () =>
      receiver.received
        .map(({ body }) => (JSON.parse(body) as { data: Record<string, unknown> }).data)
        .map(({ to, status, cost, currency }) => [to, status, cost, currency].join(' '))
        .toSorted();
    const expected = [
      `${UNDELIVERED} sent 4.5 NGN`,
      `${UNDELIVERED} undelivered 4.5 NGN`,
      `${REJECTED} rejected 0 NGN`,
      `${ABROAD} delivered 9.5 NGN`,
      `${ABROAD} sent 9.5 NGN`,
    ].toSorted();
    await eventually(async () => expect(told()).toEqual(expected));
    await receiver.close();
    const reports = await gateway.call('GET', `/ng/v1/sms/${id}/reports`, { token: apiToken });
    const data = reports.body['data'] as Record<string, unknown>[];
    const listed = data.map(({ to, status, cost, currency }) =>
      [to, status, cost, currency].join(' '),
    );
    expect(listed.toSorted()).toEqual(expected);
    const read = await gateway.call('GET', `/ng/v1/sms/${id}`, { token: apiToken });
    expect(read.body).toMatchObject({ cost: 14, currency: 'NGN' });
  });

  it('messages of a send to several people that expired after a refusal cost nothing, also in lists', async () => {
    const { accountId: tenant } = await prepaid('100');
    const costs = gateway.running.app.get(MessageCosts, { strict: false });
    const validUntil = Date.now() + 5_000;
    const refusing = [gateway, other].map(({ running }) => {
      const transports = running.app.get<ReadonlyMap<string, MessageTransport>>(
        MESSAGE_TRANSPORTS,
        { strict: false },
      );
      const [transport] = transports.values();
      const submit = transport!.submit.bind(transport);
      return jest.spyOn(transport!, 'submit').mockImplementation(async (submission, signal) => {
        if (submission.tenant !== tenant) return submit(submission, signal);
        await wait(validUntil - Date.now());
        throw new RetryableFailure('unavailable', 'The carrier takes nothing');
      });
    });
    const sms = gateway.running.app.get(SmsService, { strict: false });
    const sent = { from: 'ACME', to: [DELIVERED, ABROAD], body: 'Hello' };
    await sms.send(sent, { tenant, validFor: '5s' });
    await eventually(async () => {
      const { data } = await sms.list({ tenant });
      expect(data.map(({ status, attempts }) => [status, attempts > 0])).toEqual([
        ['expired', true],
        ['expired', true],
      ]);
      const costOf = await costs.ofMessages(data);
      expect(data.map((message) => costOf(message)?.cost)).toEqual([0, 0]);
      expect(await moneyOf(tenant)).toEqual({ balance: '100.00', reserved: '0.00' });
    });
    for (const spy of refusing) spy.mockRestore();
  });

  it('an account that is not charged reads as before, and its callbacks have no cost', async () => {
    const { accountId, apiToken } = await gateway.account();
    const receiver = await Receiver.start();
    const webhooks = gateway.running.app.get(WebhookEndpointsService, { strict: false });
    await webhooks.set(accountId, receiver.url);
    const { body } = await send(apiToken, DELIVERED, { delivery_report: 'yes' });
    const { reference_id: id } = body as { reference_id: string };
    const [first] = await receiver.first(1);
    await receiver.close();
    expect(first?.data).not.toHaveProperty('cost');
    const reports = await gateway.call('GET', `/ng/v1/sms/${id}/reports`, { token: apiToken });
    expect(reports.body['data']).toContainEqual(
      expect.objectContaining({ status: 'sent', cost: null, currency: null }),
    );
  });

  it('an estimate is that of the recipient', async () => {
    const { apiToken: token } = await gateway.account();
    const estimate = (more: object) =>
      gateway.call('POST', '/ng/v1/sms/estimate', { token, body: { body: 'Hello', ...more } });
    expect((await estimate({ to: DELIVERED })).body).toMatchObject({ cost: 4.5, currency: 'NGN' });
    expect((await estimate({})).body).toMatchObject({ cost: 9.5, currency: 'NGN' });
  });

  it('a check recomputes the batches from their messages, and readiness says what it found', async () => {
    const { accountId, apiToken } = await prepaid('100');
    const { body } = await send(apiToken, [DELIVERED, ABROAD], {
      send_at: '2027-12-01T00:00:00Z',
    });
    const { reference_id: id } = body as { reference_id: string };
    const check = gateway.running.app.get(BillingCheck, { strict: false });
    const source = gateway.running.app.get(DataSource, { strict: false });
    const ready = async () => (await gateway.call('GET', '/health/ready')).body;
    expect(await check.run()).toEqual([]);
    expect(await ready()).toMatchObject({ details: { billing: { status: 'up' } } });
    // The batch and its account agree with each other, and not with the messages.
    const add = async (amount: string) => {
      for (const [table, key, value] of [
        ['gateway_billing_batch', 'batch', id],
        ['gateway_billing_account', 'account_id', accountId],
      ])
        await source.query(
          `UPDATE ${table} SET reserved = reserved + (${amount}) WHERE ${key} = '${value}'`,
        );
    };
    await add('-20000000');
    const difference = {
      account: accountId,
      what: `reserved of batch ${id}`,
      stored: '-6.00',
      computed: '14.00',
    };
    expect(await check.run()).toEqual([difference]);
    expect(await ready()).toMatchObject({
      status: 'degraded',
      details: { billing: { status: 'degraded', reason: 'money_differs', differences: 1 } },
    });
    await add('20000000');
    expect(await check.run()).toEqual([]);
    expect(await ready()).toMatchObject({ details: { billing: { status: 'up' } } });
  });

  it('of two processes one checks in a night', async () => {
    const source = gateway.running.app.get(DataSource, { strict: false });
    const night = async () =>
      Promise.all(
        [gateway, other].map(async ({ running }) => {
          const check = running.app.get(BillingCheck, { strict: false });
          let ran = 0;
          const { run } = check;
          check.run = () => {
            ran++;
            return run.call(check);
          };
          await check.nightly();
          await check.nightly();
          check.run = run;
          return ran;
        }),
      );
    expect((await night()).toSorted((a, b) => a - b)).toEqual([0, 1]);
    expect(await night()).toEqual([0, 0]);
    // The clock was two days ahead at the last check, and is set back.
    const ahead = Date.now() + 2 * 86_400_000;
    await source.query(`UPDATE gateway_billing_check SET started_at = ${ahead}`);
    expect((await night()).toSorted((a, b) => a - b)).toEqual([0, 1]);
  });

  it('a send under a key that waits for the row of its account is accepted, and never 409', async () => {
    if (db.kind === 'sqlite') return;
    const { accountId, apiToken } = await prepaid('100');
    const source = gateway.running.app.get(DataSource, { strict: false });
    const holder = source.createQueryRunner();
    await holder.startTransaction();
    await holder.query(
      `SELECT balance FROM gateway_billing_account WHERE account_id = '${accountId}' FOR UPDATE`,
    );
    const sending = gateway.call('POST', '/ng/v1/sendsms', {
      token: apiToken,
      headers: { 'idempotency-key': 'waits' },
      body: { from: 'ACME', to: [DELIVERED], body: 'Hello' },
    });
    await wait(2_000);
    await holder.commitTransaction();
    await holder.release();
    expect((await sending).status).toBe(200);
  });

  it('a card in another currency than the money of accounts that use it is refused, and names them', async () => {
    const { accountId } = await prepaid('1');
    const imports = gateway.running.app.get(RateImports, { strict: false });
    const csv = 'channel,prefix,price\nsms,*,1\n';
    const version = { card: 'default', currency: 'USD', from: new Date('2027-12-01T00:00:00Z') };
    const refused = imports.import(csv, version, nothing);
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_field',
      message: expect.stringContaining('(NGN)'),
    });
    expect(await billing().account(accountId)).toMatchObject({ currency: 'NGN' });
  });

  it.each([
    ['of an account with budgets', true],
    ['of an account without budgets', false],
  ])(
    'random sends, top-ups, cancels and reports %s leave sums that agree, and never less than its limit',
    async (_, hasBudgets) => {
      const { accountId, apiToken } = await prepaid('200');
      const budgets = gateway.running.app.get(BudgetsService, { strict: false });
      const budget = { period: 'month', limit: '1000000' } as const;
      if (hasBudgets) {
        await budgets.set(accountId, budget, nothing);
        await budgets.set(accountId, { ...budget, key: 'api_token' }, nothing);
      }
      const numbers = fc.constantFrom(
        REJECTED,
        UNDELIVERED,
        DELIVERED,
        ABROAD,
        ...['9904', '9905', '9907'].map((end) => `234801234${end}`),
      );
      const step = fc.oneof(
        fc.record({
          to: fc.uniqueArray(numbers, { minLength: 1, maxLength: 4 }),
          later: fc.boolean(),
        }),
        fc.constant('cancel' as const),
        fc.constant('top-up' as const),
      );
      let topUps = 0;
      const scheduled: string[] = [];
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 8 }), async (steps) => {
          await Promise.all(
            steps.map(async (one, n) => {
              const of = n % 2 ? other : gateway;
              if (one === 'top-up') {
                const change = { amount: '7.25', reference: `T-${topUps++}`, userId: null };
                return billing().topUp(accountId, change, nothing);
              }
              if (one === 'cancel') {
                const id = scheduled.pop();
                return id && of.call('DELETE', `/ng/v1/sms/${id}`, { token: apiToken });
              }
              const more = one.later ? { send_at: '2027-12-01T00:00:00Z' } : {};
              const { status, body } = await send(apiToken, one.to, more, of);
              expect([200, 402]).toContain(status);
              if (status === 200 && one.later)
                scheduled.push((body as { reference_id: string }).reference_id);
            }),
          );
          expect(await billing().differences()).toEqual([]);
          const { balance, reserved } = (await billing().account(accountId))!;
          expect(balance - reserved).toBeGreaterThanOrEqual(0n);
        }),
        { numRuns: 8 },
      );
      for (const id of scheduled)
        await gateway.call('DELETE', `/ng/v1/sms/${id}`, { token: apiToken });
      await eventually(
        async () => expect((await moneyOf(accountId)).reserved).toBe('0.00'),
        30_000,
      );
      // The sums of another program: the messages by their statuses, each at its rate.
      const rows: { recipient: string; status: number; n: string | number }[] =
        await gateway.running.app.get(DataSource, { strict: false }).query(
          `SELECT m.recipient, m.status, count(*) AS n FROM messaging_message m
         JOIN messaging_batch b ON b.id = m.batch
         WHERE b.tenant = '${accountId}' GROUP BY m.recipient, m.status`,
        );
      const free = new Set([70, 80, 120]);
      const spent = rows.reduce((sum, { recipient, status, n }) => {
        const rate = readAmount(recipient.startsWith('234') ? '4.5' : '9.5')!;
        return free.has(Number(status)) ? sum : sum + rate * BigInt(n);
      }, 0n);
      const paid = readAmount('200')! + readAmount('7.25')! * BigInt(topUps);
      expect((await moneyOf(accountId)).balance).toBe(amountText(paid - spent));
      expect(await billing().differences()).toEqual([]);
    },
  );

  it('transactions that change several accounts take them in one order', async () => {
    if (db.kind === 'sqlite') return;
    const accounts = await Promise.all(['1', '2', '3'].map((amount) => prepaid(amount)));
    const ids = accounts.map(({ accountId }) => accountId);
    const turns = Array.from({ length: 60 }, (_, n) => {
      const { app } = (n % 2 ? gateway : other).running;
      const charges = app.get(AccountCharges, { strict: false });
      const store = app.get(ChargeStore, { strict: false });
      const order = n % 3 ? ids.toSorted() : ids.toSorted().toReversed();
      // Without the retries of the library, which would hide a deadlock.
      return app.get(DataSource, { strict: false }).transaction(async (manager) => {
        if (n % 4 === 0) await charges.lock(order, manager);
        const [reference, note, at] = [`R-${n}`, '1 message', Date.now()];
        const moves = order.map((accountId) => ({ accountId, reserved: 0n, amount: 0n }));
        await store.move(
          store.join(manager),
          [],
          moves.map((one) => ({ ...one, reference, note, at })),
        );
        await wait(2);
      });
    });
    await expect(Promise.all(turns)).resolves.toHaveLength(60);
  });
});
