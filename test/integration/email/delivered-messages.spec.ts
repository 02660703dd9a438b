import { spawn } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  ContactsService,
  type EmailMessage,
  EmailService,
  MessagingModule,
} from '@dundun/messaging';
import { smtp } from '@dundun/messaging/smtp';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { dkimVerify } from 'mailauth';
import PostalMime, { type Email } from 'postal-mime';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { MailServer, type ReceivedMail } from '../../support/mail-server.js';
import { describeWithServer } from '../../support/servers.js';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const ed25519 = generateKeyPairSync('ed25519');
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
const RECORDS: Readonly<Record<string, string>> = {
  'r1._domainkey.example.com': `v=DKIM1; k=rsa; p=${spki(rsa.publicKey).toString('base64')}`,
  'e1._domainkey.example.com': `v=DKIM1; k=ed25519; p=${spki(ed25519.publicKey).subarray(-32).toString('base64')}`,
};
const MIB = 1_048_576;
const FROM = 'Shop <orders@example.com>';
const LONG = `${'x'.repeat(5_000)} ${'word '.repeat(1_000)}`;
const DOTS = '.\n..\n...leading\n.\n\n.';
const HEADERS = {
  'In-Reply-To': '<1@example.org>',
  References: Array.from({ length: 40 }, (_, n) => `<${n}@mail.example.org>`).join(' '),
  'List-Id': '<news.example.com>',
  'Auto-Submitted': 'auto-generated',
  Importance: 'high',
  'X-Entity-Ref-ID': '17',
  'X-Priority': '1',
};
const large = randomBytes(20 * MIB);
const logo = randomBytes(4_000);

/** Every form of an email, by its special feature. */
const FORMS: Readonly<Record<string, Omit<EmailMessage, 'from'>>> = {
  text: { to: 'ada@example.org', subject: 'Text', text: 'Hello' },
  html: { to: 'ada@example.org', subject: 'Html', html: '<p>Hello <b>you</b></p>' },
  'html alone': { to: 'ada@example.org', subject: 'Alone', html: '<p>Hello</p>', text: '' },
  both: { to: 'ada@example.org', subject: 'Both', text: 'Hello', html: '<p>Hello</p>' },
  attachments: {
    to: 'ada@example.org',
    subject: 'Files',
    html: '<p><img src="cid:logo"></p>',
    attachments: [
      { filename: 'logo.png', contentType: 'image/png', content: logo, contentId: 'logo' },
      {
        filename: 'Rechnung für Ödön.pdf',
        contentType: 'application/pdf',
        content: randomBytes(9_999),
      },
      { filename: 'empty.txt', contentType: 'text/plain', content: '' },
      {
        filename: 'mail.eml',
        contentType: 'message/rfc822',
        content: Buffer.from('From: x\r\n\r\ny'),
      },
    ],
  },
  '20 MiB': {
    to: 'ada@example.org',
    subject: 'Large',
    text: 'See the file.',
    attachments: [
      { filename: 'large.bin', contentType: 'application/octet-stream', content: large },
    ],
  },
  emoji: { to: 'ada@example.org', subject: `🎉 ${'日本語 é👍🏽 '.repeat(20)}fin`, text: '🎉 日本語' },
  'long subject': { to: 'ada@example.org', subject: 's'.repeat(998), text: 'a' },
  'long lines': { to: 'ada@example.org', subject: 'Long', text: LONG, html: `<p>${LONG}</p>` },
  dots: { to: 'ada@example.org', subject: 'Dots', text: DOTS, html: `<pre>${DOTS}</pre>` },
  'line breaks': { to: 'ada@example.org', subject: 'Breaks', text: 'a\rb\nc\r\nd  \n\te \n' },
  idn: { to: 'Bücher <ada@bücher.example>', subject: 'Idn', text: 'Hello' },
  utf8: { to: '用户@example.org', subject: 'Utf8', text: 'Hello' },
  headers: { to: 'ada@example.org', subject: 'Headers', text: 'Hello', headers: HEADERS },
  names: {
    to: ['"Doe, Ada \\"A\\"" <ada@example.org>', { email: 'bea@example.org', name: 'Béa 👍' }],
    replyTo: Array.from({ length: 10 }, (_, n) => `Help ${n} <help${n}@example.com>`),
    subject: 'Names',
    text: 'Hello',
  },
  'one-click': {
    to: 'reader@example.org',
    subject: 'News',
    text: 'News',
    category: 'marketing',
    unsubscribeUrl: 'https://example.com/u/1?a=b&c=d',
  },
  variables: {
    recipients: ['ada', 'bea'].map((local) => ({
      email: `${local}@example.org`,
      name: `${local} 👍`,
      variables: { first: `<${local}> .\n.` },
    })),
    subject: 'For {{name}}',
    text: '.{{first}}',
    html: '<p>{{first}}</p>',
  },
};

describeEachDatabase(
  'every form of an email, at the server',
  (database) => {
    let app: TestingModule;
    let server: MailServer;
    const received = new Map<string, ReceivedMail[]>();

    beforeAll(async () => {
      server = await MailServer.start();
      const mail = smtp({
        url: server.url,
        tls: 'off',
        dkim: {
          domain: 'example.com',
          keys: [
            { selector: 'r1', privateKey: pem(rsa.privateKey) },
            { selector: 'e1', privateKey: pem(ed25519.privateKey) },
          ],
        },
      });
      app = await Test.createTestingModule({
        imports: [
          TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
          MessagingModule.forRoot({
            providers: { mail },
            callbackPath: false,
          }),
        ],
      }).compile();
      await app.init();
      const email = app.get(EmailService);
      await app.get(ContactsService).optIn('reader@example.org', {
        channel: 'email',
        category: 'marketing',
        source: 'form',
      });
      for (const [form, message] of Object.entries(FORMS)) {
        server.accepted.length = 0;
        const { id, recipients } = await email.send({ from: FROM, ...message });
        await eventually(async () => {
          const { counts } = await email.batch(id);
          if (counts['sent'] !== recipients) throw new Error(`${form}: ${JSON.stringify(counts)}`);
        });
        received.set(form, [...server.accepted]);
      }
    });
    afterAll(async () => {
      await app.close();
      await server.close();
    });

    const of = (form: string) => received.get(form) ?? [];
    const read = async (form: string): Promise<Email> =>
      PostalMime.parse(of(form)[0]?.message ?? '');
    const all = () => [...received.values()].flat().map(({ message }) => message);

    it('both signatures of every message pass a verifier', async () => {
      const resolver = async (name: string) => [[RECORDS[name] ?? '']];
      for (const message of all()) {
        const { results } = await dkimVerify(message, { resolver });
        expect(results.map(({ status }) => status?.result)).toEqual(['pass', 'pass']);
      }
      expect(all().length).toBeGreaterThan(Object.keys(FORMS).length);
    });

    describeWithServer('dkimpy', 'every form of an email', () => {
      it('both signatures of every message pass a second verifier', async () => {
        const child = spawn('/usr/bin/python3', [
          join(import.meta.dirname, '../../support/dkim-verify.py'),
        ]);
        const messages = all().map((one) => one.toString('base64'));
        child.stdin.end(JSON.stringify({ keys: RECORDS, messages }));
        const [output, problems] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
        expect(problems.toString()).toBe('');
        expect(JSON.parse(output.toString())).toEqual(messages.map(() => [true, true]));
      });
    });

    it.each(['emoji', 'long subject', 'idn', 'html alone'])(
      'the subject arrives as it was given (%s)',
      async (form) => {
        expect((await read(form)).subject).toBe(FORMS[form]?.subject);
      },
    );

    it.each(['text', 'both', 'long lines', 'dots', 'emoji'])(
      'text and html arrive as they were given (%s)',
      async (form) => {
        const { text, html } = await read(form);
        const trimmed = (value?: string) => value?.replace(/\n+$/, '');
        expect(trimmed(text)).toBe(FORMS[form]?.text);
        expect(trimmed(html)).toBe(FORMS[form]?.html);
      },
    );

    it.each(['attachments', '20 MiB'])('attachments arrive byte by byte (%s)', async (form) => {
      const { attachments } = await read(form);
      const given = FORMS[form]?.attachments ?? [];
      expect(attachments.map(({ filename }) => filename)).toEqual(
        given.map(({ filename }) => filename),
      );
      for (const [index, { content }] of attachments.entries())
        expect(
          Buffer.from(content as ArrayBuffer).equals(
            Buffer.from((given[index]?.content ?? '') as Uint8Array),
          ),
        ).toBe(true);
    });

    it('no line has more than 998 octets, and no CR or LF stands alone', () => {
      for (const message of all()) {
        const lines = message.toString('latin1').split('\r\n');
        expect(lines.filter((line) => line.length > 998 || /[\r\n\0]/.test(line))).toEqual([]);
      }
    });

    it('custom headers and one-click unsubscribe arrive as they were given', async () => {
      const { headers } = await read('headers');
      for (const [name, value] of Object.entries(HEADERS))
        expect(headers.filter(({ key }) => key === name.toLowerCase())).toEqual([
          expect.objectContaining({ value }),
        ]);
      const head = (of('one-click')[0]?.message.toString() ?? '').replaceAll(/\r\n[ \t]/g, '');
      expect(head).toContain('\r\nList-Unsubscribe: <https://example.com/u/1?a=b&c=d>\r\n');
      expect(head).toContain('\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n');
    });

    it('names and reply addresses arrive, and an international domain as A-labels', async () => {
      const { to, replyTo } = await read('names');
      expect(to).toEqual([
        { name: 'Doe, Ada "A"', address: 'ada@example.org' },
        { name: 'Béa 👍', address: 'bea@example.org' },
      ]);
      expect(replyTo).toHaveLength(10);
      expect(of('idn')[0]?.message.toString()).toMatch(/^To: .*<ada@xn--bcher-kva\.example>\r$/m);
      expect(of('utf8').map((mail) => mail.to)).toEqual([['用户@example.org']]);
    });

    it('each copy has the variables of its recipient alone', async () => {
      const copies = of('variables');
      expect(copies.map((mail) => mail.to.join()).toSorted()).toEqual([
        'ada@example.org',
        'bea@example.org',
      ]);
      for (const {
        to: [to = ''],
        message,
      } of copies) {
        const local = to.split('@')[0] ?? '';
        const copy = await PostalMime.parse(message);
        expect(copy.subject).toBe(`For ${local} 👍`);
        expect(copy.text?.trimEnd()).toBe(`.<${local}> .\n.`);
        expect(copy.to).toEqual([{ name: `${local} 👍`, address: to }]);
      }
    });

    it('to, cc and bcc are three envelopes of one message without a Bcc header', async () => {
      server.accepted.length = 0;
      const email = app.get(EmailService);
      const { id } = await email.send({
        from: FROM,
        to: 'to@example.org',
        cc: 'cc@example.org',
        bcc: 'bcc@example.org',
        subject: 'Three',
        text: 'Hello',
      });
      await eventually(async () => expect((await email.batch(id)).counts).toEqual({ sent: 3 }));
      expect(server.accepted.map(({ to }) => to.join()).toSorted()).toEqual([
        'bcc@example.org',
        'cc@example.org',
        'to@example.org',
      ]);
      const texts = new Set(server.accepted.map(({ message }) => message.toString()));
      expect(texts.size).toBe(1);
      expect([...texts][0]).not.toMatch(/^bcc:|bcc@/im);
    });
  },
  ['sqlite'],
);
