import { spawn } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dkimVerify } from 'mailauth';
import PostalMime from 'postal-mime';
import { describeWithServer } from '../../../../../test/support/servers.js';
import type { EmailContent } from '../../message/content/email-content.js';
import { DkimKeyError, DkimSigner } from './dkim.js';
import { EmailTemplate, linesOf } from './email-template.js';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const ed25519 = generateKeyPairSync('ed25519');
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const identity = {
  domain: 'example.com',
  keys: [
    { selector: 'r1', privateKey: pem(rsa.privateKey) },
    { selector: 'e1', privateKey: pem(ed25519.privateKey) },
  ],
};
const RECORDS: Readonly<Record<string, string>> = {
  'r1._domainkey.example.com': `v=DKIM1; k=rsa; p=${rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`,
  'e1._domainkey.example.com': `v=DKIM1; k=ed25519; p=${ed25519.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`,
};
const resolver = async (name: string) => [[RECORDS[name] ?? '']];
const signer = new DkimSigner(identity);
const date = new Date('2026-11-22T10:00:00Z');

interface Given {
  readonly content: Partial<EmailContent>;
  readonly variables?: Record<string, string>;
  readonly name?: string;
  readonly attachments?: readonly {
    readonly filename: string;
    readonly contentType: string;
    readonly contentId?: string;
    readonly content: Buffer;
  }[];
}

async function made({ content, variables, name, attachments }: Given): Promise<Buffer> {
  const template = new EmailTemplate(
    {
      kind: 'email',
      from: { email: 'shop@example.com', name: 'Shop' },
      subject: 'Hello',
      ...content,
    },
    attachments,
  );
  const personal = { ...(variables && { variables }), ...(name !== undefined && { name }) };
  const composed = template.copyFor({
    recipient: 'ada@example.org',
    personal: variables || name !== undefined ? personal : undefined,
    id: '019a0f3e-7c55-7000-8000-0123456789ab-3',
    date,
    unsubscribeUrl: 'https://example.com/u/1',
  });
  const signatures = await signer.sign(composed, date);
  const head = linesOf([...signatures, ...composed.fields]);
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), composed.body]);
}

/** Texts that break careless composers and signers. */
const text = fc.string({
  unit: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...'abc XYZ=._-,;:"\'<>@\\') },
    { weight: 2, arbitrary: fc.constantFrom('\n', '\r\n', '\r', '\t', '  ', '.', '\n.\n', ' \n') },
    { weight: 1, arbitrary: fc.constantFrom('é', '日', '👍', 'ß', ' ', '=?utf-8?Q?x?=') },
  ),
  maxLength: 400,
});
const line = text.map((value) => value.replaceAll(/[\r\n]+/g, ' ').slice(0, 300) || 'x');
const given: fc.Arbitrary<Given> = fc.record({
  content: fc.record(
    {
      subject: line,
      text: text.map((value) => `${value}{{code}}${value}`),
      html: text.map((value) => `<p>${value.replaceAll('<', '&lt;')} {{code}}</p>`),
      from: fc.record({ email: fc.constant('shop@example.com'), name: line }),
      category: fc.constantFrom('transactional' as const, 'marketing' as const),
      replyTo: fc.array(fc.record({ email: fc.constant('re@example.com'), name: line }), {
        maxLength: 3,
      }),
    },
    { requiredKeys: ['subject', 'text'] },
  ),
  variables: fc.record({ code: text }),
  name: line,
  attachments: fc.array(
    fc.record({
      filename: line,
      contentType: fc.constantFrom('image/png', 'text/plain', 'message/rfc822', 'x'),
      content: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    }),
    { maxLength: 2 },
  ),
});

const edges: readonly Given[] = [
  { content: { text: '' } },
  { content: { text: '\n\n\n' } },
  { content: { text: ' \n\t\n' } },
  { content: { text: 'x'.repeat(5_000) } },
  { content: { text: '.\n..\n.' } },
  { content: { subject: 'x'.repeat(998), text: 'a' } },
  { content: { subject: 'é'.repeat(499), text: 'a' } },
  { content: { html: '<b>only</b>' } },
  { content: { html: '<b>{{code}}</b>', text: '' }, variables: { code: '<i>&"\'' } },
  {
    content: {
      to: Array.from({ length: 50 }, (_, n) => ({ email: `n${n}@example.org`, name: `Name ${n}` })),
      cc: [{ email: 'cc@example.org' }],
      text: 'a',
    },
  },
  {
    content: { html: '<img src="cid:logo@x">' },
    attachments: [
      {
        filename: 'logo.png',
        contentType: 'image/png',
        contentId: 'logo@x',
        content: Buffer.alloc(200, 7),
      },
      {
        filename: 'a b"c\\.pdf',
        contentType: 'application/pdf',
        content: Buffer.alloc(100_000, 9),
      },
    ],
  },
];

async function suite(runs: number): Promise<Buffer[]> {
  return Promise.all([...edges, ...fc.sample(given, { numRuns: runs, seed: 7 })].map(made));
}

describe('a signed message', () => {
  it('both signatures of every message pass a verifier that knows RSA and Ed25519', async () => {
    for (const message of await suite(150)) {
      const { results } = await dkimVerify(message, { resolver });
      expect(results.map(({ status }) => status?.result)).toEqual(['pass', 'pass']);
    }
  });

  it('a line of a message has at most 998 octets and no bare CR or LF', async () => {
    for (const message of await suite(150)) {
      const lines = message.toString('latin1').split('\r\n');
      expect(lines.every((one) => one.length <= 998 && !/[\r\n\0]/.test(one))).toBe(true);
    }
  });

  it('a parser reads the subject, texts, names and attachments that were given', async () => {
    for (const one of fc.sample(given, { numRuns: 150, seed: 8 })) {
      const read = await PostalMime.parse(await made(one));
      const { content, variables, attachments = [] } = one;
      const filled = (value: string) =>
        value.replaceAll('{{code}}', () => variables?.['code'] ?? '');
      const lines = (value: string) => value.replaceAll(/\r\n|\r/g, '\n').trimEnd();
      const words = (value: string) => value.replaceAll(/\s+/g, ' ').trim();
      expect(lines(read.text ?? '')).toBe(lines(filled(content.text ?? '')));
      expect(words(read.subject ?? '')).toBe(words(content.subject ?? ''));
      expect(read.from?.address).toBe('shop@example.com');
      expect(read.to?.map(({ address }) => address)).toEqual(['ada@example.org']);
      expect(
        read.attachments.map(({ content: bytes }) => Buffer.from(bytes as ArrayBuffer)),
      ).toEqual(attachments.map(({ content: bytes }) => bytes));
    }
  });

  it('an invitation is the last alternative with its method, and a file; other parameters are kept', async () => {
    const calendar = Buffer.from('BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n');
    const message = await made({
      content: { text: 'Meet', html: '<p>Meet</p>' },
      attachments: [
        {
          filename: 'invite.ics',
          contentType: 'text/calendar; charset=utf-8; method=REQUEST',
          content: calendar,
        },
        {
          filename: 'a.csv',
          contentType: 'text/csv; charset=iso-8859-1; header=present',
          content: Buffer.from('a'),
        },
      ],
    });
    const source = message.toString('latin1').replaceAll(/\r\n[ \t]+/g, ' ');
    expect(source.match(/^content-type: .*$/gim)).toEqual([
      'Content-Type: multipart/mixed; boundary="=_mixed"',
      'Content-Type: multipart/alternative; boundary="=_alternative"',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Type: text/html; charset=utf-8',
      'Content-Type: text/calendar; charset=utf-8; method=REQUEST',
      'Content-Type: application/ics; name=invite.ics',
      'Content-Type: text/csv; charset=iso-8859-1; header=present; name=a.csv',
    ]);
    const { attachments } = await PostalMime.parse(message);
    expect(
      attachments.map(({ method, filename, content }) => [
        method ?? filename,
        Buffer.from(content as ArrayBuffer)
          .toString()
          .replaceAll('\r', ''),
      ]),
    ).toEqual([
      ['REQUEST', calendar.toString().replaceAll('\r', '')],
      ['invite.ics', calendar.toString().replaceAll('\r', '')],
      ['a.csv', 'a'],
    ]);
  });

  it('a further From, To, Subject or Date breaks both signatures', async () => {
    const [message] = (await suite(0)).slice(3);
    for (const name of ['From', 'To', 'Subject', 'Date']) {
      const forged = Buffer.concat([
        Buffer.from(`${name}: eve@example.net\r\n`),
        message as Buffer,
      ]);
      const { results } = await dkimVerify(forged, { resolver });
      expect(results.map(({ status }) => status?.result)).not.toContain('pass');
    }
  });

  it('a marketing message carries one-click unsubscribe, covered by both signatures', async () => {
    const message = await made({ content: { text: 'a', category: 'marketing' } });
    const head = message.toString().replaceAll(/\r\n[ \t]/g, '');
    expect(head).toContain('\r\nList-Unsubscribe: <https://example.com/u/1>\r\n');
    expect(head).toContain('\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n');
    for (const [, names] of head.matchAll(/; ?h=([^;]+)/g))
      expect(names?.split(':')).toEqual(
        expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post']),
      );
  });

  it('the same message is signed again with the same bytes', async () => {
    const one = { content: { text: 'a {{code}}' }, variables: { code: 'b' } };
    const [first, again] = [await made(one), await made(one)];
    expect(again.equals(first)).toBe(true);
  });

  it('an unusable key fails before anything is signed', async () => {
    const { privateKey: small } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const { privateKey: ec } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    for (const privateKey of ['no key', pem(small), pem(ec), rsa.publicKey])
      expect(
        () => new DkimSigner({ domain: 'example.com', keys: [{ selector: 's', privateKey }] }),
      ).toThrow(DkimKeyError);
    const none = new DkimSigner(() => undefined);
    const composed = new EmailTemplate({
      kind: 'email',
      from: { email: 'a@example.com' },
      subject: 'a',
      text: 'a',
    }).copyFor({ recipient: 'b@example.org', id: 'x-1', date });
    await expect(none.sign(composed, date)).rejects.toThrow(DkimKeyError);
  });
});

describeWithServer('dkimpy', 'signed messages', () => {
  it('both signatures of every message pass a second verifier', async () => {
    const messages = await suite(150);
    const child = spawn('/usr/bin/python3', [
      join(import.meta.dirname, '../../../../../test/support/dkim-verify.py'),
    ]);
    child.stdin.end(
      JSON.stringify({ keys: RECORDS, messages: messages.map((one) => one.toString('base64')) }),
    );
    const [output, problems] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
    expect(problems.toString()).toBe('');
    expect(JSON.parse(output.toString())).toEqual(messages.map(() => [true, true]));
  });
});
