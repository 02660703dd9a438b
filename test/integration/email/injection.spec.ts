import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { domainToASCII } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  ContactsService,
  type EmailAttachment,
  type EmailMessage,
  EmailService,
  MessageValidationError,
  MessagingModule,
  PolicyError,
} from '@dundun/messaging';
import { smtp } from '@dundun/messaging/smtp';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import fc from 'fast-check';
import PostalMime, { type Address } from 'postal-mime';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { MailServer } from '../../support/mail-server.js';

/** 10,000 with `npm run test:fuzz`. */
const CASES = Math.floor(Number(process.env['FUZZ_REQUESTS'] ?? 1_000));
const SLICE = 100;
const EVIL = 'evil@evil.example';

/** Pieces that end a header, a command or an address in a careless program. */
const piece = fc.constantFrom(
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\u2028',
  '\u0085',
  '\t',
  ' ',
  `\r\nBcc: ${EVIL}`,
  `\nBcc: ${EVIL}`,
  '\r\nX-Injected: yes',
  '\r\n\r\n<p>injected</p>',
  `\r\n.\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<${EVIL}>\r\nDATA\r\n`,
  `%0d%0aBcc:%20${EVIL}`,
  `=?utf-8?Q?=0D=0ABcc:_${EVIL}?=`,
  `=?utf-8?B?${Buffer.from(`\r\nBcc: ${EVIL}`).toString('base64')}?=`,
  `, ${EVIL}`,
  `; ${EVIL}`,
  `<${EVIL}>`,
  `" <${EVIL}>`,
  `(${EVIL})`,
  `group: ${EVIL};`,
  `@evil.example:`,
  '%evil.example',
  '"; boundary="=_mixed',
  '--=_mixed\r\n',
  '--=_alternative--',
  '\\',
  '"',
  '>',
  '<',
  ',',
  ';',
  ':',
  '.',
  '..',
  'Ada',
  'é',
  '👍',
  'x'.repeat(200),
);
const text = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
/** Sound more often than not, so that a message has one wrong field rather than all. */
const mostly = <T>(sound: T, wild: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 14, arbitrary: fc.constant(sound) }, { weight: 1, arbitrary: wild });

const address = mostly(
  'ada@example.org',
  fc.oneof(
    text.map((value) => `ada${value}@example.org`),
    text.map((value) => `ada@example.org${value}`),
    text.map((value) => `ada@${value}example.org`),
    text.map((value) => `${value}ada@example.org`),
    text.map((value) => `"${value}"@example.org`),
    text.map((value) => `${value} <ada@example.org>`),
    text.map((value) => `Ada <ada@example.org${value}>`),
    text,
  ),
);
const mailbox = fc.oneof(address, fc.record({ email: address, name: mostly('Ada', text) }));
const unsubscribe = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.record({
      category: fc.constant('marketing'),
      unsubscribeUrl: mostly(
        'https://example.com/u',
        text.map((value) => `https://example.com/${value}`),
      ),
    }),
  },
);
const fields = fc.record(
  {
    from: mostly(
      'Shop <orders@example.com>',
      text.map((name) => `${name} <orders@example.com>`),
    ),
    to: fc.array(mailbox, { minLength: 1, maxLength: 2 }),
    cc: fc.array(mailbox, { maxLength: 1 }),
    bcc: fc.array(mailbox, { maxLength: 1 }),
    replyTo: fc.array(mailbox, { maxLength: 2 }),
    subject: mostly('Hello', text),
    text: mostly('Hello', text),
    html: mostly('<p>Hello</p>', text),
    headers: fc.dictionary(
      mostly('X-Entity-Ref-ID', fc.oneof(text, fc.constantFrom('Bcc', 'bcc ', 'X-Priority'))),
      mostly('17', text),
      { maxKeys: 2 },
    ),
    attachments: fc.array(
      fc.record(
        {
          filename: mostly('a.txt', text),
          contentType: mostly('image/png', text),
          content: fc.constant('AAAA'),
          contentId: mostly('logo', text),
        },
        { requiredKeys: ['filename', 'contentType', 'content'] },
      ),
      { maxLength: 2 },
    ),
    tags: fc.array(mostly('news', text), { maxLength: 2 }),
    metadata: fc.dictionary(mostly('order', text), mostly('17', text), { maxKeys: 1 }),
  },
  { requiredKeys: ['from', 'to', 'subject', 'text'] },
);
const message = fc
  .tuple(fields, unsubscribe)
  .map(([own, further]) => ({ ...own, ...further }) as EmailMessage);

const OURS = new Set([
  'from',
  'to',
  'cc',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
  'content-id',
  'list-unsubscribe',
  'list-unsubscribe-post',
]);

function withAsciiDomain(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + domainToASCII(address.slice(at));
}

interface Accepted {
  readonly id: string;
  readonly given: EmailMessage;
}

describeEachDatabase(
  'emails with hostile fields',
  (database) => {
    let app: TestingModule;
    let email: EmailService;
    let server: MailServer;

    beforeAll(async () => {
      server = await MailServer.start();
      app = await Test.createTestingModule({
        imports: [
          TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
          MessagingModule.forRoot({
            providers: { mail: smtp({ url: server.url, tls: 'off' }) },
            callbackPath: false,
          }),
        ],
      }).compile();
      await app.init();
      email = app.get(EmailService);
      await app.get(ContactsService).optIn('ada@example.org', {
        channel: 'email',
        category: 'marketing',
        source: 'form',
      });
    });
    afterAll(async () => {
      await app.close();
      await server.close();
    });

    /** The batch of an accepted message; `undefined`: it was refused with the names of its fields. */
    async function sent(given: EmailMessage): Promise<Accepted | undefined> {
      try {
        return { id: (await email.send(given)).id, given };
      } catch (error) {
        const isRefusal =
          (error instanceof MessageValidationError && error.fields.length > 0) ||
          error instanceof PolicyError;
        if (isRefusal) return undefined;
        throw error;
      }
    }

    /** Everything about the messages at the server that was not asked for. */
    async function findings({ id, given }: Accepted): Promise<string[]> {
      const found: string[] = [];
      const check = (sound: boolean, what: string) => sound || found.push(what);
      const named = (await email.recipients(id)).data;
      const { content } = await email.batch(id);
      const own = content as unknown as Record<'to' | 'cc' | 'replyTo', Address[] | undefined> & {
        readonly headers?: object;
        readonly attachments?: readonly unknown[];
        readonly text?: string;
      };
      const mails = server.accepted.filter(({ message: raw }) => raw.includes(`<${id}@`));
      // The server shows an IDN domain in Unicode.
      const envelopes = mails.map(({ to }) => to.map(withAsciiDomain).join(' ')).toSorted();
      const rejected = (await email.messages(id)).data
        .filter(({ status }) => status === 'rejected')
        .map(({ recipient }) => recipient);
      const expected = named.filter((to) => !rejected.includes(to)).toSorted();
      check(JSON.stringify(envelopes) === JSON.stringify(expected), 'envelopes');
      const asked = JSON.stringify([given.to, given.cc, given.bcc]).toLowerCase();
      for (const to of expected) {
        check(/^[^\s<>"(),:;@\\[\]]+@[a-z0-9.-]+$/.test(to), `form of ${to}`);
        check(asked.includes(to.slice(0, to.lastIndexOf('@')).toLowerCase()), `origin of ${to}`);
        check(to !== EVIL || isAsked(given), `recipient ${to}`);
      }
      for (const { message: raw } of mails) {
        const read = await PostalMime.parse(raw);
        const names = read.headers.map(({ key }) => key);
        const extra = Object.keys(own.headers ?? {}).map((name) => name.toLowerCase());
        for (const name of names) check(OURS.has(name) || extra.includes(name), `header ${name}`);
        check(new Set(names).size === names.length, 'a header twice');
        for (const field of ['to', 'cc', 'replyTo'] as const)
          check(
            (read[field] ?? []).map((one) => one.address).join() ===
              (own[field] ?? []).map((one) => (one as unknown as { email: string }).email).join(),
            `addresses of ${field}`,
          );
        check(read.from?.address === 'orders@example.com', 'from');
        check(read.attachments.length === (own.attachments?.length ?? 0), 'attachments');
        const lines = (value = '') => value.replaceAll(/\r\n|\r/g, '\n').trimEnd();
        check(lines(read.text) === lines(own.text), 'text');
      }
      return found;
    }

    /** Whether an address of the caller is `evil@evil.example` by itself. */
    function isAsked({ to, cc, bcc }: EmailMessage): boolean {
      return [to, cc, bcc].flat().some((one) => {
        const own = typeof one === 'string' ? one : one?.email;
        return own === EVIL || (own?.endsWith(`<${EVIL}>`) ?? false);
      });
    }

    it(
      `each of ${CASES} hostile emails is refused, or reaches exactly its recipients unchanged`,
      async () => {
        const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
        process.stdout.write(`fuzz: FUZZ_SEED=${seed}\n`);
        const messages = fc.sample(message, { numRuns: CASES, seed });
        let reached = 0;
        for (let from = 0; from < messages.length; from += SLICE) {
          server.accepted.length = 0;
          const accepted: Accepted[] = [];
          for (const given of messages.slice(from, from + SLICE)) {
            const one = await sent(given);
            if (one) accepted.push(one);
          }
          for (const { id } of accepted)
            await eventually(async () =>
              expect(await email.batch(id)).toMatchObject({ status: 'completed' }),
            );
          const found = [];
          for (const one of accepted)
            for (const finding of await findings(one)) found.push([finding, one.given]);
          expect(found).toEqual([]);
          reached += accepted.length;
        }
        // Neither all refused nor all accepted: both ways were tested.
        expect(reached).toBeGreaterThan(CASES / 20);
        expect(reached).toBeLessThan(CASES);
      },
      Math.max(300_000, CASES * 200),
    ); // Each case is an email that is sent through the server.

    it('no path, href or raw of an attachment or a text is read', async () => {
      let requests = 0;
      const web = createServer((_, response) => {
        requests++;
        response.end('fetched');
      }).listen(0, '127.0.0.1');
      await once(web, 'listening');
      const href = `http://127.0.0.1:${(web.address() as AddressInfo).port}/x`;
      const sound = { from: 'orders@example.com', to: 'ada@example.org', subject: 'Files' };
      const file = { filename: 'a.txt', contentType: 'text/plain' };
      const wrong: object[] = [
        { text: 'a', attachments: [{ ...file, path: '/etc/passwd' }] },
        { text: 'a', attachments: [{ ...file, href }] },
        { text: 'a', attachments: [{ ...file, raw: { path: '/etc/passwd' } }] },
        { text: 'a', attachments: [{ ...file, content: { path: '/etc/passwd' } }] },
        { text: { path: '/etc/passwd' } },
        { html: { href } },
        { raw: { path: '/etc/passwd' } },
      ];
      for (const one of wrong)
        await expect(email.send({ ...sound, ...one } as EmailMessage)).rejects.toThrow(
          MessageValidationError,
        );
      server.accepted.length = 0;
      const { id } = await email.send({
        ...sound,
        text: 'a',
        html: `<img src="${href}"><img src="file:///etc/passwd">`,
        attachments: [{ ...file, content: 'AAAA', path: '/etc/passwd', href } as EmailAttachment],
      });
      await eventually(async () => expect((await email.batch(id)).counts).toEqual({ sent: 1 }));
      web.close();
      const read = await PostalMime.parse(server.accepted[0]?.message ?? '');
      expect(
        read.attachments.map(({ content }) => Buffer.from(content as ArrayBuffer).toString('hex')),
      ).toEqual(['000000']);
      expect(requests).toBe(0);
    });
  },
  ['sqlite'],
);
