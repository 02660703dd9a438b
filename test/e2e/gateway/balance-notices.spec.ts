import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import { BalanceMails } from '../../../src/billing/thresholds/balance-mails.js';
import {
  type NewThresholds,
  ThresholdsService,
} from '../../../src/billing/thresholds/thresholds.service.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { MailServer } from '../../support/mail-server.js';
import { TestGateway } from './test-gateway.js';

const nothing = () => Promise.resolve();

interface Told {
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

describeEachDatabase('notices of balances', (db) => {
  let relay: MailServer;
  let customer: Receiver;
  let gateway: TestGateway;
  let other: TestGateway;
  let references = 0;

  beforeAll(async () => {
    relay = await MailServer.start();
    customer = await Receiver.start();
    const settings = {
      DATABASE_URL: db.url,
      SMS_PRICES: 'NGN *=4.5',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      EMAIL_CARRIER: 'smtp',
      SMTP_URL: relay.url,
      SMTP_TLS: 'off',
      BILLING_EMAIL_FROM: 'Dundun <billing@demo.test>',
    };
    gateway = await new TestGateway(settings).start();
    other = await new TestGateway(settings).start();
  });
  afterAll(async () => {
    await other.destroy();
    await gateway.destroy();
    await customer.close();
    await relay.close();
  });
  beforeEach(() => {
    customer.received.length = 0;
    relay.accepted.length = 0;
  });

  const billing = (of = gateway) => of.running.app.get(BillingService, { strict: false });
  const change = (accountId: string, kind: 'topUp' | 'adjust', amount: string) =>
    billing()[kind](accountId, { amount, reference: `R-${references++}`, userId: null }, nothing);
  const settings = (accountId: string, given: NewThresholds) =>
    gateway.running.app.get(ThresholdsService, { strict: false }).set(accountId, given, nothing);

  async function prepaid(balance: string, given: NewThresholds) {
    const account = await gateway.account();
    const { accountId } = account;
    await gateway.call('POST', '/ng/v1/webhooks', {
      token: account.apiToken,
      body: { url: customer.url },
    });
    await change(accountId, 'topUp', balance);
    await billing().setMode(accountId, { mode: 'prepaid' }, nothing);
    await settings(accountId, given);
    await eventually(async () => {
      for (const { running } of [gateway, other])
        expect(running.app.get(RateCards, { strict: false }).pays(accountId)).toBe(true);
    });
    return account;
  }

  /** Callbacks of balances, in the order of their ids. */
  const told = (accountId: string): Told[] =>
    customer.received
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ body }) => JSON.parse(body) as Told)
      .filter(({ type, data }) => type.startsWith('account.') && data['account_id'] === accountId);
  const send = (token: string, count: number, of = gateway) =>
    of.call('POST', '/ng/v1/sendsms', {
      token,
      body: {
        from: 'ACME',
        to: Array.from({ length: count }, (_, n) => `23480${10_000_000 + n}`),
        body: 'Hello',
      },
    });

  it('charges that pass amounts tell each once, over two processes, and again after it was above', async () => {
    const { accountId, apiToken } = await prepaid('90', { thresholds: ['50', '20'] });
    const sends = Array.from({ length: 20 }, (_, n) => send(apiToken, 1, n % 2 ? other : gateway));
    for (const { status } of await Promise.all(sends)) expect(status).toBe(200);
    const shown = () =>
      told(accountId)
        .map(({ type, data }) => `${type} ${data['threshold'] ?? '-'}`)
        .toSorted((a, b) => a.localeCompare(b));
    const all = [
      'account.balance_exhausted -',
      'account.balance_low 20.00',
      'account.balance_low 50.00',
    ];
    await eventually(async () => expect(shown()).toEqual(all), 20_000);
    const [exhausted] = told(accountId).filter(({ type }) => type.endsWith('exhausted'));
    expect(exhausted?.data).toEqual({
      account_id: accountId,
      balance: '0.00',
      credit_limit: '0.00',
      currency: 'NGN',
    });
    expect((await billing().account(accountId))?.balance).toBe(0n);
    await change(accountId, 'topUp', '30');
    await change(accountId, 'adjust', '-15');
    await eventually(async () => expect(shown()).toHaveLength(4), 20_000);
    expect(shown()).toEqual([all[0], all[1], all[1], all[2]]);
  });

  it('a change that fails tells nothing, and a new amount above the balance has not been passed', async () => {
    const { accountId } = await prepaid('90', { thresholds: ['50'] });
    const failing = () => Promise.reject(new Error('the audit log is full'));
    const down = { amount: '-60', reference: `R-${references++}`, userId: null };
    await expect(billing().adjust(accountId, down, failing)).rejects.toThrow('audit log');
    await settings(accountId, { thresholds: ['100', '50'] });
    await change(accountId, 'adjust', '-60');
    await eventually(async () => expect(told(accountId)).toHaveLength(1), 20_000);
    expect(told(accountId)[0]?.data).toMatchObject({ threshold: '50.00', balance: '30.00' });
    const rows: unknown[] = await gateway.running.app
      .get(DataSource, { strict: false })
      .query(`SELECT 1 FROM gateway_webhook_delivery WHERE message_id = '${accountId}'`);
    expect(rows).toHaveLength(1);
  });

  it('an e-mail goes to the addresses of the account once, also where two processes look', async () => {
    const emails = ['ada@example.com', 'grace@example.com'];
    const { accountId } = await prepaid('10', { thresholds: ['5'], emails });
    await change(accountId, 'adjust', '-10');
    const mails = [gateway, other].map(({ running }) =>
      running.app.get(BalanceMails, { strict: false }),
    );
    await Promise.all([...mails, ...mails].map((one) => one.run()));
    await eventually(async () => expect(relay.accepted).toHaveLength(4), 20_000);
    await Promise.all(mails.map((one) => one.run()));
    const mailsOf = (subject: string) =>
      relay.accepted
        .filter(({ message }) => message.includes(`Subject: ${subject}`))
        .flatMap(({ to }) => to)
        .toSorted((a, b) => a.localeCompare(b));
    expect(mailsOf('The balance is below 5.00 NGN')).toEqual(emails);
    expect(mailsOf('The balance is spent')).toEqual(emails);
    for (const { message } of relay.accepted)
      expect(message.toString()).toMatch(/^From: "?Dundun"? <billing@demo\.test>/m);
    const left: unknown[] = await gateway.running.app
      .get(DataSource, { strict: false })
      .query('SELECT 1 FROM gateway_billing_notice');
    expect(left).toEqual([]);
  });

  it('wrong amounts and addresses are named, and change nothing', async () => {
    const { accountId } = await prepaid('10', { thresholds: ['5'] });
    const wrong: readonly (readonly [NewThresholds, string])[] = [
      [{ thresholds: ['5', '0'] }, 'thresholds[1]: must be'],
      [{ thresholds: Array.from({ length: 11 }, (_, n) => `${n + 1}`) }, 'must be at most 10'],
      [{ emails: ['nobody'] }, 'emails[0]: must be an e-mail address'],
    ];
    for (const [given, message] of wrong)
      await expect((async () => settings(accountId, given))()).rejects.toMatchObject({
        message: expect.stringContaining(message),
      });
    const kept = await gateway.running.app
      .get(ThresholdsService, { strict: false })
      .find(accountId);
    expect(kept).toEqual({ thresholds: [5_000_000n], emails: [] });
  });
});
