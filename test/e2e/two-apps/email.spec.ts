import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import {
  ContactsService,
  EmailService,
  http,
  INBOUND_RECEIVED,
  type InboundReceived,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  MessagingService,
} from '@dundun/messaging';
import { Injectable, type INestApplication, Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import PostalMime from 'postal-mime';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { statusNotification } from '../../support/mail-reports.js';
import { MailServer } from '../../support/mail-server.js';
import { sendMail } from '../../support/send-mail.js';
import { TestGateway } from '../gateway/test-gateway.js';

const PATH = 'messaging/callbacks';
const FROM = 'Shop <hello@demo.test>';

const changed = jest.fn<(change: MessageStatusChanged) => void>();
const heard = jest.fn<(received: InboundReceived) => void>();

@Injectable()
class Log {
  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus(change: MessageStatusChanged): void {
    changed(change);
  }

  @OnEvent(INBOUND_RECEIVED)
  onMessage(received: InboundReceived): void {
    heard(received);
  }
}

/** A chain of the app's own store, the gateway's store, and the mail server of the recipients. */
describeOneDatabase('a customer app and the gateway, on email', (database) => {
  let relay: MailServer;
  let gateway: TestGateway;
  let account: CreatedAccount;
  let app: INestApplication;
  let email: EmailService;
  let bounces: number;

  beforeAll(async () => {
    relay = await MailServer.start();
    relay.answer = (verb, address) =>
      verb === 'rcpt' && address.startsWith('gone') ? '550 5.1.1 No such user' : undefined;
    bounces = await freePort();
    gateway = new TestGateway({
      EMAIL_CARRIER: 'smtp',
      SMTP_URL: relay.url,
      SMTP_TLS: 'off',
      EMAIL_LISTEN: `127.0.0.1:${bounces}`,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    });
    gateway.databaseUrl = await database.another();
    await gateway.start();
    account = gateway.running.demo as CreatedAccount;
    const port = await freePort();
    const { secret } = await gateway.running.app
      .get(WebhookEndpointsService, { strict: false })
      .set(account.accountId, `http://127.0.0.1:${port}/${PATH}`);

    @Module({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: http({ baseUrl: gateway.url, apiKey: account.apiKey }),
          callbacks: { secrets: [secret] },
          callbackPath: PATH,
        }),
      ],
      providers: [Log],
    })
    class CustomerModule {}

    const testing = await Test.createTestingModule({ imports: [CustomerModule] }).compile();
    // A callback under way at the close would leave its connection open for the keep-alive time.
    const adapter = new FastifyAdapter({ forceCloseConnections: true });
    app = testing.createNestApplication(adapter, { rawBody: true });
    await app.listen(port, '127.0.0.1');
    email = app.get(EmailService);
  });
  beforeEach(() => {
    changed.mockClear();
    heard.mockClear();
    relay.accepted.length = 0;
  });
  afterAll(async () => {
    await app?.close();
    await gateway.destroy();
    await relay.close();
  });

  const countsAre = (id: string, counts: object) =>
    eventually(async () => expect((await email.batch(id)).counts).toEqual(counts));
  /** The gateway's own acceptance is `sent` in the app, before the relay has the message. */
  const relayed = (count: number) =>
    eventually(async () => expect(relay.accepted).toHaveLength(count));
  /** Sends the relay's notification about a message that it has taken. */
  const notify = async (action: 'delayed' | 'delivered', to: string): Promise<void> => {
    const from = relay.accepted.find((mail) => mail.to[0] === to)?.from ?? '';
    const raw = statusNotification(action, to, 'smtp; 451 4.7.1 Try again later');
    expect(await sendMail({ port: bounces, to: from, raw })).toMatch(/^250/);
  };

  it('an email with variables and attachments is sent, delayed and delivered in both stores', async () => {
    const pdf = Buffer.alloc(200_000, 'pdf');
    const { id } = await email.send({
      from: FROM,
      recipients: [
        { email: 'ada@example.org', name: 'Ada', variables: { order: '<1>' } },
        { email: 'bea@example.org', name: 'Bea', variables: { order: '2' } },
      ],
      subject: 'Order {{order}} of {{name}}',
      html: '<p>{{order}}</p>',
      attachments: [{ filename: 'a.pdf', contentType: 'application/pdf', content: pdf }],
      tags: ['order'],
    });
    await countsAre(id, { sent: 2 });
    await relayed(2);
    const arrived = new Map<string, string>();
    for (const { to, message } of relay.accepted) {
      const mail = await PostalMime.parse(message);
      const [attachment] = mail.attachments;
      const digest = createHash('sha256').update(Buffer.from(attachment?.content as ArrayBuffer));
      expect(digest.digest('hex')).toBe(createHash('sha256').update(pdf).digest('hex'));
      arrived.set(to[0] ?? '', `${mail.subject} ${mail.html?.trim()} ${mail.to?.[0]?.name}`);
    }
    expect(Object.fromEntries(arrived)).toEqual({
      'ada@example.org': 'Order <1> of Ada <p>&lt;1&gt;</p> Ada',
      'bea@example.org': 'Order 2 of Bea <p>2</p> Bea',
    });
    await notify('delayed', 'ada@example.org');
    await notify('delivered', 'ada@example.org');
    await countsAre(id, { delivered: 1, sent: 1 });
    await eventually(async () => {
      const told = changed.mock.calls
        .map(([change]) => change)
        .filter(({ recipient }) => recipient === 'ada@example.org')
        .toSorted((a, b) => a.sequence - b.sequence)
        .map(({ event, status }) => event ?? status);
      expect(told).toEqual(['sent', 'delayed', 'delivered']);
    });
    const { body } = await gateway.call('GET', '/email/ng/v1/messages?to=ada@example.org', {
      token: account.apiKey,
    });
    expect(body['data']).toMatchObject([{ status: 'delivered' }]);
  });

  it('recipients who see each other go out together, and a bounce comes back with its reason', async () => {
    const { id } = await email.send({
      from: FROM,
      to: 'cat@example.org',
      cc: 'gone@example.org',
      bcc: 'dan@example.org',
      subject: 'Hello',
      text: 'Hello {{braces}}',
    });
    await countsAre(id, { sent: 2, bounced: 1 });
    await relayed(2);
    for (const { message } of relay.accepted) {
      const { to, cc, headers, text } = await PostalMime.parse(message);
      expect([to, cc]).toMatchObject([
        [{ address: 'cat@example.org' }],
        [{ address: 'gone@example.org' }],
      ]);
      expect(headers.map(({ key }) => key)).not.toContain('bcc');
      expect(text?.trim()).toBe('Hello {{braces}}');
    }
    expect(relay.accepted.map(({ to }) => to[0]).toSorted()).toEqual([
      'cat@example.org',
      'dan@example.org',
    ]);
    const bounce = { category: 'recipient', smtp_code: 550, enhanced_code: '5.1.1' };
    await eventually(async () => {
      const found = changed.mock.calls.find(([{ status }]) => status === 'bounced');
      expect(found?.[0]).toMatchObject({
        recipient: 'gone@example.org',
        errorCode: '5.1.1',
        details: { ...bounce, diagnostic: expect.stringContaining('No such user') },
      });
    });
    // The bounce suppresses the address here as well.
    const again = { from: FROM, to: 'gone@example.org', subject: 'Hello', text: 'Hello' };
    await expect(email.send(again)).rejects.toMatchObject({ code: 'suppressed' });
  });

  it('50 recipients who see each other get the same header', async () => {
    const named = (field: string, count: number) =>
      Array.from({ length: count }, (_, n) => `${field}${n}@example.org`);
    const [to, cc, bcc] = [named('to', 20), named('cc', 20), named('hidden', 10)];
    const { id } = await email.send({ from: FROM, to, cc, bcc, subject: 'Hello', text: 'Hello' });
    await relayed(50);
    await countsAre(id, { sent: 50 });
    expect(relay.accepted.map((mail) => mail.to[0]).toSorted()).toEqual(
      [...to, ...cc, ...bcc].toSorted(),
    );
    const messages = new Set(relay.accepted.map(({ message }) => message.toString()));
    expect(messages.size).toBe(1);
    const mail = await PostalMime.parse([...messages][0] ?? '');
    expect([mail.to, mail.cc].map((list) => list?.map(({ address }) => address))).toEqual([to, cc]);
  });

  it('a scheduled email is cancelled before the gateway hears of it', async () => {
    const sendAt = new Date(Date.now() + 3_600_000);
    const message = { from: FROM, to: 'eve@example.org', subject: 'Later', text: 'x', sendAt };
    const { id } = await email.send(message);
    await email.cancel(id);
    await countsAre(id, { cancelled: 1 });
    const { body } = await gateway.call('GET', '/email/ng/v1/messages?to=eve@example.org', {
      token: account.apiKey,
    });
    expect(body['data']).toEqual([]);
  });

  it('a sender whose domain the account has not verified is a rejection with its code', async () => {
    const { id } = await email.send({
      from: 'x@other.example',
      to: 'ada@example.org',
      subject: 'Hello',
      text: 'Hello',
    });
    await countsAre(id, { rejected: 1 });
    const [message] = (await email.list({ batchId: id })).data;
    expect(message?.errorCode).toBe('domain_not_verified');
  });

  it('inbound mail is passed on, and its consent words change no consent of the app', async () => {
    const raw = 'From: ada@example.org\r\nMessage-ID: <1@example.org>\r\n\r\nSTOP\r\n';
    await sendMail({ port: bounces, to: 'hello@demo.test', raw });
    await eventually(async () => expect(heard).toHaveBeenCalledTimes(1));
    expect(heard.mock.calls[0]?.[0]).toMatchObject({
      channel: 'email',
      from: 'ada@example.org',
      to: 'hello@demo.test',
      consent: null,
    });
    expect((await app.get(ContactsService).find('ada@example.org'))?.consents).toEqual({});
  });

  it('a forged callback is refused and changes nothing', async () => {
    const { id } = await email.send({
      from: FROM,
      to: 'fay@example.org',
      subject: 'Hello',
      text: 'Hello',
    });
    await relayed(1);
    await countsAre(id, { sent: 1 });
    const { providerId } = await app.get(MessagingService).channel('email').message(`${id}-0`);
    const address = app.getHttpServer().address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${address.port}/${PATH}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'x',
        'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
        'webhook-signature': 'v1,AAAA',
      },
      body: JSON.stringify({
        type: 'email.complained',
        data: { message_id: providerId, to: 'fay@example.org', status: 'complained' },
      }),
    });
    expect(answer.status).toBe(401);
    await countsAre(id, { sent: 1 });
  });
});
