import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ContactsService, SmsService, WhatsAppService } from '@dundun/messaging';
import type { InboundMessage } from '@dundun/messaging/ports';
import { AccountSettings } from '../../../src/accounts/account-settings.js';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { AccountSenders } from '../../../src/senders/account-senders.js';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { eventually } from '../../support/eventually.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

const HOUR = 3_600_000;
const NONE = { max: 0, per: 0 };

describe('settings of an account, changed beside a running gateway', () => {
  const gateway = new TestGateway();
  let account: CreatedAccount;

  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  /** Settings as the gateway has read them. */
  const known = () => gateway.running.app.get(AccountSettings, { strict: false });

  /** The JSON answer of a command, or its error. */
  async function dundun(...args: string[]): Promise<Record<string, unknown>> {
    const settings = { NODE_ENV: 'test', DATABASE_URL: gateway.databaseUrl };
    const { code, stdout, stderr } = await commandLine(
      [...args, '--account', account.accountId, '--json'],
      settings,
      process.cwd(),
    );
    return JSON.parse(code === 0 ? stdout : stderr) as Record<string, unknown>;
  }

  it('the rate of an account limits its lanes, and a changed rate applies without a restart', async () => {
    const rate = (...args: string[]) => dundun('account', 'rate', ...args);
    expect(await rate()).toEqual({ account_id: account.accountId, rate: null });
    expect(await rate('--rate', '1/h')).toEqual({ account_id: account.accountId, rate: '1/h' });
    await eventually(async () =>
      expect(known().rateLimit(NONE)(`${account.accountId}:sms`)).toEqual({ max: 1, per: HOUR }),
    );
    const to = ['2348012345678', '2348012345679', '2348012345670'];
    const { reference_id: id } = (
      await gateway.call('POST', '/ng/v1/sendsms', {
        token: account.apiToken,
        body: { from: 'ACME', to, body: 'Hello' },
      })
    ).body;
    const sms = gateway.running.app.get(SmsService, { strict: false });
    const delivered = async () =>
      (await sms.batch(String(id), { tenant: account.accountId })).counts.delivered ?? 0;
    await eventually(async () => expect(await delivered()).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await delivered()).toBe(1);
    expect(await rate('--rate', '100/s')).toMatchObject({ rate: '100/s' });
    await eventually(async () => expect(await delivered()).toBe(3));
    expect(await rate('--clear')).toMatchObject({ rate: null });
    expect(await rate('--rate', 'fast')).toMatchObject({
      error: { code: 'invalid_field', message: expect.stringContaining('50/s') },
    });
  });

  it('the consent words of an account opt out and in, and its replies answer them', async () => {
    const words = (...args: string[]) => dundun('account', 'words', ...args);
    const { app } = gateway.running;
    const number = String(
      await app.get(AccountSenders, { strict: false }).firstOf(account.accountId, 'whatsapp'),
    );
    const contacts = app.get(ContactsService, { strict: false });
    const from = '2348012345601';
    const messageOf = (text: string): InboundMessage => {
      const of = { messageId: `wamid.${text}`, bsuid: null, sentAt: new Date() };
      return { ...of, channel: 'whatsapp', from, to: number, text };
    };
    const write = (text: string): Promise<unknown> =>
      app
        .get(InboundRecorder, { strict: false })
        .record([messageOf(text)], { transport: 'simulator' });
    const consent = async () =>
      (await contacts.find(from, { tenant: account.accountId }))?.consents.whatsapp?.state;
    const replies = async () => {
      const { data } = await app
        .get(WhatsAppService, { strict: false })
        .batches({ tenant: account.accountId });
      return data.map(({ content }) => (content?.kind === 'text' ? content.text : null));
    };
    const own = ['--stop', 'hapana', '--start', 'ndiyo', '--stop-reply', 'You are out'];
    expect(await words(...own)).toEqual({
      account_id: account.accountId,
      stop: ['hapana'],
      start: ['ndiyo'],
      stop_reply: 'You are out',
      start_reply: null,
    });
    await eventually(async () =>
      expect(
        known().inbound.consent?.('ndiyo', { ...messageOf('ndiyo'), tenant: account.accountId }),
      ).toBe('opted_in'),
    );
    await write('Ndiyo!');
    await eventually(async () => expect(await consent()).toBe('opted_in'));
    await write('unsubscribe');
    await write('HAPANA');
    await eventually(async () => expect(await consent()).toBe('opted_out'));
    await eventually(async () => expect(await replies()).toEqual(['You are out']));
    expect(await words('--start', 'stop')).toMatchObject({ error: { code: 'invalid_field' } });
    expect(await words('--clear')).toMatchObject({ stop: null, start: null, stop_reply: null });
  });
});
