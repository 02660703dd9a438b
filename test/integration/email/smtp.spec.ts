import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  EmailService,
  INBOUND_RECEIVED,
  type InboundReceived,
  MessagingModule,
} from '@dundun/messaging';
import { MESSAGE_TRANSPORTS } from '@dundun/messaging/ports';
import { smtp } from '@dundun/messaging/smtp';
import type { SmtpTransport } from '../../../libs/messaging/src/providers/smtp/smtp.transport.js';
import { Injectable, Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { MailServer } from '../../support/mail-server.js';
import { sendMail } from '../../support/send-mail.js';

@Injectable()
class Inbox {
  readonly received: InboundReceived[] = [];

  @OnEvent(INBOUND_RECEIVED)
  onReceived(received: InboundReceived): void {
    this.received.push(received);
  }
}

@Module({ providers: [Inbox], exports: [Inbox] })
class InboxModule {}

describeOneDatabase('email through an SMTP relay', (database) => {
  let app: TestingModule;
  let email: EmailService;
  let server: MailServer;
  let transport: SmtpTransport;

  beforeAll(async () => {
    server = await MailServer.start();
    const mail = smtp({
      url: server.url,
      tls: 'off',
      verpKeys: [Buffer.alloc(32, 1).toString('base64')],
      retry: { after: 50 },
      listener: {
        port: 0,
        host: '127.0.0.1',
        inboundDomains: ['in.example.com'],
        authenticate: ({ head }) => head.includes('X-Proof: yes'),
      },
    });
    app = await Test.createTestingModule({
      imports: [
        InboxModule,
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        MessagingModule.forRoot({
          providers: { mail },
          dispatch: { backoff: 5 },
          callbackPath: false,
        }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
    email = app.get(EmailService);
    transport = app.get(MESSAGE_TRANSPORTS).get('mail') as SmtpTransport;
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });

  const counts = async (id: string) => (await email.batch(id)).counts;

  it('each recipient gets its own copy, a greylisted one later, and a refused one bounces', async () => {
    let isGrey = true;
    server.answer = (verb, to) => {
      if (verb === 'rcpt' && to.startsWith('gone')) return '550 5.1.1 No such user';
      if (verb !== 'rcpt' || !to.startsWith('grey') || !isGrey) return undefined;
      isGrey = false;
      return '450 4.7.1 Greylisted';
    };
    const { id } = await email.send({
      from: 'Shop <shop@example.com>',
      recipients: ['ada', 'grey', 'gone'].map((local) => ({
        email: `${local}@example.org`,
        variables: { first: local },
      })),
      subject: 'Hello {{first}}',
      html: '<p>Dear {{first}}</p>',
      attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: Buffer.from('file') }],
    });
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 2, bounced: 1 }));
    const texts = new Map(server.accepted.map(({ to, message }) => [to[0], message.toString()]));
    for (const local of ['ada', 'grey']) {
      const text = texts.get(`${local}@example.org`);
      expect(text).toContain(`\r\nSubject: Hello ${local}\r\n`);
      expect(text).toContain(`<p>Dear ${local}</p>`);
      expect(text).toContain('\r\nZmlsZQ==\r\n');
    }
  });

  it('an unknown recipient at Microsoft bounces in the session and is suppressed', async () => {
    server.answer = (verb) =>
      verb === 'rcpt'
        ? '550 5.1.351 Remote server returned unknown recipient or mailbox unavailable'
        : undefined;
    const mail = { from: 'shop@example.com', to: 'nobody@example.org', subject: 'Hi', text: 'Hi' };
    const { id } = await email.send(mail);
    await eventually(async () => expect(await counts(id)).toEqual({ bounced: 1 }));
    expect(await email.message(`${id}-0`)).toMatchObject({ errorCode: '5.1.351' });
    await expect(email.send(mail)).rejects.toMatchObject({ code: 'suppressed' });
  });

  it('a notification after the acceptance bounces the message', async () => {
    server.answer = () => undefined;
    server.accepted.length = 0;
    const { id } = await email.send({
      from: 'shop@example.com',
      to: 'late@example.org',
      subject: 'Hello',
      text: 'Hello',
    });
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
    const [{ from }] = server.accepted as [(typeof server.accepted)[number]];
    const raw = [
      'Content-Type: multipart/report; boundary=b',
      '',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; relay.example.com',
      '',
      'Final-Recipient: rfc822; other@example.org',
      'Action: failed',
      'Status: 5.2.2',
      '--b--',
      '',
    ].join('\r\n');
    const port = transport.listenerPort as number;
    expect(await sendMail({ port, to: from.replace('-s0', '-s1'), raw })).toMatch(/^550 /);
    expect(await sendMail({ port, to: from, raw })).toMatch(/^250/);
    await eventually(async () => expect(await counts(id)).toEqual({ bounced: 1 }));
  });

  it('a lost answer is unknown, and the message is not sent again', async () => {
    server.accepted.length = 0;
    server.losesAnswer = true;
    const { id } = await email.send({
      from: 'shop@example.com',
      to: 'lost@example.org',
      subject: 'Hello',
      text: 'Hello',
    });
    await eventually(async () => expect(await counts(id)).toEqual({ unknown: 1 }));
    expect(server.accepted).toHaveLength(1);
  });

  it('STOP in an inbound mail opts out only with proof of its sender', async () => {
    const { received } = app.get(Inbox);
    const port = transport.listenerPort as number;
    for (const proof of ['X-Proof: no', 'X-Proof: yes'])
      await sendMail({
        port,
        to: 'hello@in.example.com',
        raw: `From: eve@example.org\r\nMessage-ID: <${proof.length}@x>\r\n${proof}\r\n\r\nSTOP\r\n`,
      });
    await eventually(async () => expect(received).toHaveLength(2));
    expect(received.map(({ consent }) => consent)).toEqual([null, 'opted_out']);
  });
});

describeOneDatabase('email with onUncertain resend', (database) => {
  it('a lost answer repeats the same bytes under the same Message-ID, and the email is sent', async () => {
    const server = await MailServer.start();
    const mail = smtp({ url: server.url, tls: 'off', onUncertain: 'resend' });
    const app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        MessagingModule.forRoot({
          providers: { mail },
          dispatch: { backoff: 5 },
          callbackPath: false,
        }),
      ],
    }).compile();
    try {
      app.useLogger(false);
      await app.init();
      server.losesAnswer = true;
      const email = app.get(EmailService);
      const { id } = await email.send({
        from: 'shop@example.com',
        recipients: ['lost@example.org'],
        subject: 'Hello',
        text: 'Hello',
      });
      await eventually(async () => expect((await email.batch(id)).counts).toEqual({ sent: 1 }));
      const [first, second, ...others] = server.accepted.map(({ message }) => message.toString());
      expect(others).toEqual([]);
      expect(first).toContain(`\r\nMessage-ID: <${id}-0@example.com>\r\n`);
      expect(second).toBe(first);
    } finally {
      await app.close();
      await server.close();
    }
  });
});
