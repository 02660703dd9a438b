import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ContactsService } from '@dundun/messaging';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { describeOneDatabase } from '../../support/databases.js';
import { DnsServer } from '../../support/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { complaint, statusNotification } from '../../support/mail-reports.js';
import { MailServer } from '../../support/mail-server.js';
import { sendMail } from '../../support/send-mail.js';
import { SigningDomain } from '../../support/signed-mail.js';
import { commandLine } from './command-line.js';
import { type Answered, TestGateway } from './test-gateway.js';

const BASE = '/email/ng/v1';
const SENDER = 'hello@demo.test';
const TEXT = { from: SENDER, subject: 'Hello', text: 'Hello' } as const;
/** Mails that servers have written, with placeholders for our addresses. */
const REAL_MAILS = join(import.meta.dirname, '../../support/real-mails');
const OLD_KEY = Buffer.alloc(32, 4).toString('base64');
const NEW_KEY = Buffer.alloc(32, 5).toString('base64');

interface Callback {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describeOneDatabase('bounces, complaints and inbound mail at the gateway', (db) => {
  let relay: MailServer;
  let dns: DnsServer;
  let customer: Receiver;
  let secret: string;
  let port: number;
  let settings: Record<string, string>;
  let gateway: TestGateway;
  let account: CreatedAccount;
  const friend = new SigningDomain('friend.example');

  beforeAll(async () => {
    [relay, dns, customer] = [
      await MailServer.start(),
      await DnsServer.start(),
      await Receiver.start(),
    ];
    for (const [name, records] of friend.records) dns.records.set(name, records);
    relay.answer = (verb, address) => {
      if (verb !== 'rcpt') return undefined;
      if (address.startsWith('nobody')) return '550 5.1.1 No such user';
      return address.startsWith('blocked') ? '550 5.7.1 Refused by policy' : undefined;
    };
    port = await freePort();
    settings = {
      DATABASE_URL: db.url,
      EMAIL_CARRIER: 'smtp',
      SMTP_URL: relay.url,
      SMTP_TLS: 'off',
      EMAIL_LISTEN: `127.0.0.1:${port}`,
      EMAIL_DNS_SERVERS: dns.address,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      SECRETS_KEY: OLD_KEY,
    };
    gateway = await new TestGateway(settings).start();
    account = gateway.running.demo as CreatedAccount;
    const made = await ask('POST', '/webhooks', { url: customer.url });
    secret = String(made.body['secret']);
  });
  afterAll(async () => {
    await gateway.destroy();
    await customer.close();
    await dns.close();
    await relay.close();
  });

  const ask = (method: string, path: string, body?: object): Promise<Answered> =>
    gateway.call(method, BASE + path, { token: account.apiKey, ...(body && { body }) });

  /** The status of its only recipient. */
  const statusOf = async (id: string) => (await ask('GET', `/messages/${id}-0`)).body['status'];

  /** Sends an email, and waits until the relay has answered. */
  async function sent(to: string, expected = 'sent'): Promise<{ id: string; from: string }> {
    const { body } = await ask('POST', '/messages', { ...TEXT, to: [to] });
    const id = String(body['reference_id']);
    await eventually(async () => expect(await statusOf(id)).toBe(expected));
    return { id, from: relay.accepted.findLast((mail) => mail.to[0] === to)?.from ?? '' };
  }

  const deliver = (to: string, raw: string, from = '') => sendMail({ port, from, to, raw });

  /** The verified callbacks about a message, in their order. */
  const callbacksOf = (id: string): Callback[] =>
    customer.received
      .map(({ body, headers }) => new Webhook(secret).verify(body, headers) as Callback)
      .filter(({ data }) => data['message_id'] === `${id}-0`)
      .toSorted((a, b) => Number(a.data['sequence']) - Number(b.data['sequence']));

  const typesOf = (id: string) => callbacksOf(id).map(({ type }) => type);

  const reasonsOf = async (email: string) => {
    const { body } = await ask('GET', `/suppressions?email=${encodeURIComponent(email)}`);
    return (body['data'] as { reason: string }[]).map(({ reason }) => reason);
  };

  it('550 5.1.1 bounces and suppresses the address, 5.7.1 bounces alone', async () => {
    const gone = await sent('nobody@example.org', 'bounced');
    await sent('blocked@example.org', 'bounced');
    expect(await reasonsOf('nobody@example.org')).toEqual(['hard_bounce']);
    expect(await reasonsOf('blocked@example.org')).toEqual([]);
    await eventually(async () => expect(typesOf(gone.id)).toEqual(['email.bounced']));
    expect(callbacksOf(gone.id)[0]?.data).toMatchObject({
      to: 'nobody@example.org',
      error_code: '5.1.1',
      bounce: { category: 'recipient', smtp_code: 550, enhanced_code: '5.1.1' },
    });
    const again = await ask('POST', '/messages', { ...TEXT, to: ['nobody@example.org'] });
    expect(again).toMatchObject({ status: 422, body: { error: { code: 'suppressed' } } });
    const other = await ask('POST', '/messages', { ...TEXT, to: ['blocked@example.org'] });
    expect(other.status).toBe(200);
  });

  it('a failed DSN after `sent` is a bounce, and a late `delivered` changes nothing', async () => {
    const to = 'late@example.org';
    const { id, from } = await sent(to);
    expect(from).toMatch(/^b\+[0-9a-f]{32}-s0\.[a-z2-7]{20}@bounce\.demo\.test$/);
    expect(await deliver(from, statusNotification('failed', to))).toMatch(/^250/);
    expect(await deliver(from, statusNotification('delivered', to))).toMatch(/^250/);
    expect(await statusOf(id)).toBe('bounced');
    expect(await reasonsOf(to)).toEqual(['hard_bounce']);
    await eventually(async () => expect(typesOf(id)).toEqual(['email.sent', 'email.bounced']));
    const { body } = await ask('GET', `/messages/${id}-0/events`);
    const events = (body['data'] as { event: string }[]).map(({ event }) => event);
    expect(events).toEqual(expect.arrayContaining(['sent', 'bounced', 'delivered']));
  });

  it('a delay is an event, then a delivery is reported, and a complaint follows it', async () => {
    const to = 'slow@example.org';
    const { id, from } = await sent(to);
    const delay = statusNotification('delayed', to, 'smtp; 451 4.7.1 Try again later');
    expect(await deliver(from, delay)).toMatch(/^250/);
    expect(await statusOf(id)).toBe('sent');
    expect(await deliver(from, statusNotification('delivered', to))).toMatch(/^250/);
    expect(await statusOf(id)).toBe('delivered');
    expect(await deliver('fbl@demo.test', complaint(from), 'feedback@isp.example')).toMatch(/^250/);
    expect(await statusOf(id)).toBe('complained');
    expect(await reasonsOf(to)).toEqual(['complaint']);
    const types = ['email.sent', 'email.delayed', 'email.delivered', 'email.complained'];
    await eventually(async () => expect(typesOf(id)).toEqual(types));
  });

  it.each([
    ['closed', 'smtp; 550 5.2.1 The account is disabled', '5.2.1'],
    ['unknown', 'X-Postfix; Host or domain name not found', '5.4.4'],
    ['denied', 'smtp; 550 5.4.1 Recipient address rejected: Access denied', '5.4.1'],
    ['foreign', 'smtp; 550 5.1.351 Remote server returned unknown recipient', '5.1.351'],
  ])('a bounce of %s@ (%s) suppresses the address', async (name, said, code) => {
    const to = `${name}@example.org`;
    const { id, from } = await sent(to);
    // A server on the way wrote the address in another form.
    const report = statusNotification('failed', `${name}@internal.example`, said, code);
    expect(await deliver(from, report)).toMatch(/^250/);
    expect(await statusOf(id)).toBe('bounced');
    expect(await reasonsOf(to)).toEqual(['hard_bounce']);
  });

  const ADA = 'ada@example.com';
  it.each([
    ['dsn-sendmail-511-but-571', ADA, 'bounced', '5.7.1', 'block', []],
    ['dsn-gmail-521-receiving-rate', ADA, 'bounced', '5.2.1', 'block', []],
    ['dsn-500-user-not-found', ADA, 'bounced', '5.0.0', 'recipient', ['hard_bounce']],
    ['dsn-original-recipient-rewritten', ADA, 'bounced', '5.1.1', 'recipient', ['hard_bounce']],
    [
      'dsn-original-recipient-xtext',
      'ada+tag@example.com',
      'bounced',
      '5.1.1',
      'recipient',
      ['hard_bounce'],
    ],
    ['dsn-rfc6533-global', 'é@example.com', 'bounced', '5.1.1', 'recipient', ['hard_bounce']],
    ['dsn-mimecast', ADA, 'bounced', '5.7.54', 'block', []],
    ['dsn-google-workspace-empty', ADA, 'bounced', null, 'block', []],
    ['dsn-action-expired-sendgrid', ADA, 'expired', null, undefined, []],
    ['bounce-exim-text', ADA, 'bounced', '5.1.1', 'recipient', ['hard_bounce']],
    ['complaint-outlook-jmrp', 'ada@hotmail.com', 'complained', null, undefined, ['complaint']],
  ] as const)(
    'the mail %s about %s is %s',
    async (name, to, status, errorCode, category, reasons) => {
      await ask('DELETE', `/suppressions/${encodeURIComponent(to)}`);
      const { id, from } = await sent(to);
      const file = await readFile(join(REAL_MAILS, `${name}.eml`), 'utf8');
      const raw = file.replaceAll('RETURN-ADDRESS', from).replaceAll('\n', '\r\n');
      const at = raw.includes('COMPLAINT-ADDRESS') ? 'fbl@demo.test' : from;
      expect(await deliver(at, raw)).toMatch(/^250/);
      const { body } = await ask('GET', `/messages/${id}-0`);
      expect(body).toMatchObject({ status, error_code: errorCode });
      expect((body['bounce'] as { category: string } | null)?.category).toBe(category);
      expect(await reasonsOf(to)).toEqual(reasons);
    },
  );

  it('a mail that says nothing to a return address is a bounce that is listed and counted', async () => {
    const to = 'silent@example.org';
    const { id, from } = await sent(to);
    expect(await deliver(from, 'Subject: Hm\r\n\r\nHm\r\n')).toMatch(/^250/);
    const { body } = await ask('GET', `/messages?status=bounced&to=${encodeURIComponent(to)}`);
    expect(body['data']).toMatchObject([{ message_id: `${id}-0`, error_code: 'unread_bounce' }]);
    expect(await reasonsOf(to)).toEqual([]);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('dundun_bounces_total{channel="email",category="unread"} 1');
  });

  it('an out-of-office reply and a reply of a person to a return address change nothing', async () => {
    const { id, from } = await sent('away@example.org');
    const away = 'From: away@example.org\r\nSubject: Out of Office: Undelivered\r\n\r\nAway\r\n';
    const reply = 'From: away@example.org\r\nSubject: Re: Mail delivery failed\r\n\r\nThanks\r\n';
    expect(await deliver(from, away)).toMatch(/^250/);
    expect(await deliver(from, reply, 'away@example.org')).toMatch(/^250/);
    expect(await statusOf(id)).toBe('sent');
  });

  it('a calendar invitation is sent with its method, and read back', async () => {
    const to = 'guest@example.org';
    const content_type = 'text/calendar; charset=utf-8; method=REQUEST';
    const content = 'QkVHSU46VkNBTEVOREFSDQpNRVRIT0Q6UkVRVUVTVA0KRU5EOlZDQUxFTkRBUg0K';
    const attachments = [{ filename: 'invite.ics', content_type, content }];
    const { status, body } = await ask('POST', '/messages', { ...TEXT, to: [to], attachments });
    expect(status).toBe(200);
    const received = () => relay.accepted.find((one) => one.to[0] === to)?.message.toString();
    await eventually(async () => expect(received()).toBeDefined());
    expect(received()).toContain(`Content-Type: ${content_type}\r\n`);
    const read = await ask('GET', `/messages/${String(body['reference_id'])}`);
    expect(read.body).toMatchObject({ content: { attachments: [{ content_type }] } });
  });

  it('forged reports change no message, and mail to other addresses is refused', async () => {
    const to = 'safe@example.org';
    const { id, from } = await sent(to);
    const report = statusNotification('failed', to);
    const forged = from.replace(/\.(.)/, (_, first) => (first === 'a' ? '.b' : '.a'));
    for (const address of [forged, 'ada@bounce.demo.test', 'ada@example.org', 'a@sub.demo.test'])
      expect(await deliver(address, report)).toMatch(/^550 5\.7\.1/);
    expect(await deliver(SENDER, report)).toMatch(/^250/);
    expect(await deliver(SENDER, complaint(forged))).toMatch(/^250/);
    expect(await statusOf(id)).toBe('sent');
    expect(await reasonsOf(to)).toEqual([]);
  });

  it('inbound mail reaches the owner of its domain, and its consent words count only with an aligned signature', async () => {
    const from = 'ada@friend.example';
    const began = Date.now() - 600_000;
    // A minute apart: of two words in the same second, the refusal counts.
    const mail = (n: number, text: string) =>
      [
        `From: Ada <${from}>`,
        `To: ${SENDER}`,
        `Date: ${new Date(began + n * 60_000).toUTCString()}`,
        `Message-ID: <${n}@friend.example>`,
        '',
        text,
        '',
      ].join('\r\n');
    const received = () =>
      customer.received
        .map(({ body }) => JSON.parse(body) as Callback)
        .filter(({ type }) => type === 'email.received')
        .map(({ data }) => [data['from'], data['to'], String(data['text']).trim()]);
    const stateOf = async () => {
      const { accountId: tenant } = account;
      const contacts = gateway.running.app.get(ContactsService, { strict: false });
      return (await contacts.find(from, { tenant }))?.consents['email']?.state;
    };
    const evil = new SigningDomain('evil.example');
    for (const [name, records] of evil.records) dns.records.set(name, records);

    expect(await deliver(SENDER, mail(1, 'Thank you'))).toMatch(/^250/);
    await eventually(async () => expect(received()).toEqual([[from, SENDER, 'Thank you']]));
    expect(await deliver(SENDER, mail(2, 'STOP'))).toMatch(/^250/);
    expect(await deliver(SENDER, await evil.sign(mail(3, 'STOP')))).toMatch(/^250/);
    await eventually(async () => expect(received()).toHaveLength(3));
    expect(await stateOf()).toBeUndefined();
    expect(await deliver(SENDER, await friend.sign(mail(4, 'STOP')))).toMatch(/^250/);
    expect(await stateOf()).toBe('opted_out');
    const refused = await ask('POST', '/messages', { ...TEXT, to: [from] });
    expect(refused).toMatchObject({ status: 422, body: { error: { code: 'opted_out' } } });
    expect(await deliver(SENDER, await friend.sign(mail(5, 'START')))).toMatch(/^250/);
    expect(await stateOf()).toBe('opted_in');
    dns.failing.add('rsa._domainkey.friend.example');
    const last = await friend.sign(mail(6, 'STOP'));
    expect(await deliver(SENDER, last)).toMatch(/^451 4\.3\.0/);
    dns.failing.clear();
    expect(await deliver(SENDER, last)).toMatch(/^250/);
    expect(await stateOf()).toBe('opted_out');
    expect(gateway.log.join('')).not.toContain(from);
  });

  it('START with an aligned signature takes an unsubscribe back, and without one it does not', async () => {
    const from = 'eva@friend.example';
    const { accountId: tenant } = account;
    const contacts = gateway.running.app.get(ContactsService, { strict: false });
    await contacts.suppress(from, {
      tenant,
      channel: 'email',
      category: 'marketing',
      reason: 'unsubscribe',
    });
    const mail = (n: number) =>
      [
        `From: ${from}`,
        `Date: ${new Date(Date.now() + 1_000).toUTCString()}`,
        `Message-ID: <eva${n}@friend.example>`,
        '',
        'START',
        '',
      ].join('\r\n');
    expect(await deliver(SENDER, mail(1))).toMatch(/^250/);
    expect(await reasonsOf(from)).toEqual(['unsubscribe']);
    expect(await deliver(SENDER, await friend.sign(mail(2)))).toMatch(/^250/);
    expect(await reasonsOf(from)).toEqual([]);
  });

  it('a return address outlives a change of SECRETS_KEY, and a stop frees the port', async () => {
    const to = 'rotate@example.org';
    const { id, from } = await sent(to);
    await gateway.stop();
    const closed = connect(port, '127.0.0.1');
    const [error] = (await once(closed, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
    const changed = { ...settings, SECRETS_KEY: NEW_KEY, SECRETS_KEY_PREVIOUS: OLD_KEY };
    const environment = { NODE_ENV: 'test', ...changed };
    const rotated = await commandLine(['secrets', 'rotate', '--json'], environment, process.cwd());
    expect([rotated.stderr, rotated.code]).toEqual(['', 0]);
    gateway = await new TestGateway({ ...settings, SECRETS_KEY: NEW_KEY }).start();
    expect(await deliver(from, statusNotification('failed', to))).toMatch(/^250/);
    expect(await statusOf(id)).toBe('bounced');
  });
});

describe('EMAIL_LISTEN', () => {
  const relayed = { EMAIL_CARRIER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:9', SMTP_TLS: 'off' };

  it('a port in use stops the boot with the name of the setting, except of a worker and of the command line', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const EMAIL_LISTEN = `127.0.0.1:${(taken.address() as { port: number }).port}`;
    const settings = { ...relayed, EMAIL_LISTEN };
    for (const ROLE of ['all', 'api']) {
      const gateway = new TestGateway({ ...settings, ROLE });
      await expect(gateway.start()).rejects.toThrow(
        `EMAIL_LISTEN "${EMAIL_LISTEN}": is in use; stop the other process or set another port`,
      );
      await gateway.destroy();
    }
    const worker = await new TestGateway({ ...settings, ROLE: 'worker' }).start();
    const environment = { NODE_ENV: 'test', DATABASE_URL: worker.databaseUrl, ...settings };
    const listed = await commandLine(['account', 'list', '--json'], environment, process.cwd());
    expect([listed.stderr, listed.code]).toEqual(['', 0]);
    await worker.destroy();
    await once(taken.close(), 'close');
  });
});
