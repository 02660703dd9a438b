import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { SigningDomain } from '../../../../test/support/signed-mail.js';
import { provesSender } from './sender-proof.js';

const own = new SigningDomain('example.org');
const other = new SigningDomain('evil.example');
const records = new Map([...own.records, ...other.records]);

const lookup = async (name: string): Promise<string[][]> => {
  const found = records.get(name);
  if (!found) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  return found.map(({ data }) => [data].flat() as string[]);
};

const FROM = 'ada@example.org';
const PIECE = 1_000;
const MAIL = [
  `From: Ada <${FROM}>`,
  'To: hello@shop.example',
  'Date: Sun, 22 Nov 2026 10:05:00 +0000',
  'Subject: Hello',
  '',
  'STOP',
  '',
].join('\r\n');

/** As a mail arrives: its octets in pieces. */
function arriving(mail: string, from = FROM): Parameters<typeof provesSender>[0] {
  const head = Buffer.from(mail);
  const pieces = Array.from({ length: Math.ceil(head.length / PIECE) }, (_, n) =>
    head.subarray(n * PIECE, (n + 1) * PIECE),
  );
  return { head, raw: Readable.from(pieces), from };
}

const isProof = (mail: string, from = FROM) => provesSender(arriving(mail, from), lookup);

describe('the proof of a sender by DKIM', () => {
  it.each(['rsa', 'ed25519'] as const)('a %s signature of the domain counts', async (key) => {
    expect(await isProof(await own.sign(MAIL, { key }))).toBe(true);
  });

  it('the signature of an organisation counts for its subdomains', async () => {
    const mail = MAIL.replace(FROM, 'ada@mail.example.org');
    expect(await isProof(await own.sign(mail), 'ada@mail.example.org')).toBe(true);
  });

  it('one of several signatures is enough', async () => {
    expect(await isProof(await other.sign(await own.sign(MAIL)))).toBe(true);
  });

  it.each([
    ['no signature', () => MAIL],
    ['a signature of another domain', () => other.sign(MAIL)],
    ['another text', async () => (await own.sign(MAIL)).replace('STOP', 'START')],
    ['another date', async () => (await own.sign(MAIL)).replace('10:05', '11:05')],
    ['a part of the body', () => own.sign(MAIL, { maxBodyLength: 4 })],
    ['no date', () => own.sign(MAIL, { headerList: ['from', 'to', 'subject'] })],
    ['SHA-1', () => own.sign(MAIL, { algorithm: 'rsa-sha1' })],
    ['a second From', async () => `From: eve@evil.example\r\n${await own.sign(MAIL)}`],
    ['an expired signature', () => own.sign(MAIL, { expires: new Date('2026-11-01') })],
    [
      'an unknown key',
      async () => (await own.sign(MAIL)).replace('d=example.org', 'd=sub.example.org'),
    ],
    ['a header without an end', async () => (await own.sign(MAIL)).replaceAll('\r\n\r\n', '\r\n')],
  ])('%s is no proof', async (_, mail) => {
    expect(await isProof(await mail())).toBe(false);
  });

  it.each([
    ['lines', 'x\r\n', 149_000],
    ['empty lines in succession', ' \r\n', 999],
    ['octets of a line', 'x', 65_000],
  ])('the whole body counts, up to a number of %s', async (_, filling, most) => {
    const withBody = async (count: number, end = 'end') =>
      (await own.sign(`${MAIL}${filling.repeat(count)}\r\nend\r\n`)).replace(/end\s*$/, end);
    expect(await isProof(await withBody(most))).toBe(true);
    expect(await isProof(await withBody(most, 'START'))).toBe(false);
    expect(await isProof(await withBody(most + 1_001))).toBe(false);
  });

  it('a mail with another recorded sender than the signed one is no proof', async () => {
    expect(await isProof(await own.sign(MAIL), 'bea@example.org')).toBe(false);
  });

  it('a mail with many signatures costs no DNS questions', async () => {
    let questions = 0;
    const signature = (await own.sign(MAIL)).slice(0, -MAIL.length);
    const proven = await provesSender(arriving(signature.repeat(11) + MAIL), (name) => {
      questions++;
      return lookup(name);
    });
    expect([proven, questions]).toEqual([false, 0]);
  });

  it('an unanswered question is an error, so that the mail is repeated', async () => {
    const mail = arriving(await own.sign(MAIL));
    const failing = () => Promise.reject(Object.assign(new Error('x'), { code: 'ESERVFAIL' }));
    await expect(provesSender(mail, failing)).rejects.toThrow('DNS');
  });
});
