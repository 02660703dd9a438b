import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ReadMail, readMail } from './mail-report.js';
import { Verp } from './verp.js';

const verp = new Verp([Buffer.alloc(32, 1)]);
const SUBMISSION = '019a0f3e-7c55-7000-8000-0123456789ab-s4';
const RETURN = verp.addressOf(SUBMISSION, 'bounce.example.com') as string;

interface Dsn {
  readonly action?: string;
  readonly status?: string;
  readonly diagnostic?: string;
  readonly headers?: string;
}

function dsn({
  action = 'failed',
  status = '5.1.1',
  diagnostic = 'smtp; 550 5.1.1 No such user',
  headers = '',
}: Dsn = {}): Buffer {
  return Buffer.from(
    [
      'From: MAILER-DAEMON@mx.example.org',
      `To: ${RETURN}`,
      'Date: Sun, 22 Nov 2026 10:05:00 +0000',
      'Auto-Submitted: auto-replied',
      ...(headers === '' ? [] : [headers]),
      'Subject: Undelivered Mail',
      'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
      '',
      '--b',
      '',
      'It failed.',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; relay.example.com',
      'X-Postfix-Queue-ID: 4ABC',
      '',
      'Original-Recipient: rfc822;ada@Example.org',
      'Final-Recipient: rfc822; other@example.org',
      `Action: ${action}`,
      `Status: ${status}`,
      'Remote-MTA: dns; mx.example.org',
      `Diagnostic-Code: ${diagnostic}`,
      '',
      '--b',
      'Content-Type: text/rfc822-headers',
      '',
      'Subject: Hello',
      '--b--',
      '',
    ].join('\r\n'),
  );
}

function arf(type: string, mailFrom: string): Buffer {
  return Buffer.from(
    [
      'From: feedback@isp.example',
      'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
      '',
      '--b',
      '',
      'A complaint',
      '--b',
      'Content-Type: message/feedback-report',
      '',
      `Feedback-Type: ${type}`,
      'User-Agent: ISP/1.0',
      'Version: 1',
      `Original-Mail-From: <${mailFrom}>`,
      '--b',
      'Content-Type: message/rfc822',
      '',
      'Subject: Hello',
      '',
      'Hello',
      '--b--',
      '',
    ].join('\r\n'),
  );
}

/** A bounce whose cause could not be read. */
const UNREAD = {
  submissionId: SUBMISSION,
  status: 'bounced',
  errorCode: 'unread_bounce',
  details: { category: 'other' },
};

const read = (raw: Buffer, to = RETURN, from = ''): Promise<ReadMail> =>
  readMail(raw, { from, to: [to] }, verp);

describe('mail to a return address', () => {
  it('a failed notification is a bounce with its category, codes and server', async () => {
    expect(await read(dsn())).toEqual({
      kind: 'report',
      report: {
        submissionId: SUBMISSION,
        reference: SUBMISSION,
        messageId: null,
        recipient: 'ada@example.org',
        status: 'bounced',
        rawStatus: 'failed 5.1.1',
        errorCode: '5.1.1',
        providerTime: new Date('2026-11-22T10:05:00Z'),
        details: {
          category: 'recipient',
          smtp_code: 550,
          enhanced_code: '5.1.1',
          diagnostic: '550 5.1.1 No such user',
          remote_mta: 'mx.example.org',
        },
      },
    });
  });

  it.each([
    ['5.1.1', 'smtp; 550 5.1.1 x', 'bounced', 'recipient'],
    ['5.1.10', 'smtp; 556 5.1.10 null MX', 'bounced', 'recipient'],
    ['5.2.1', 'smtp; 550 5.2.1 mailbox disabled', 'bounced', 'recipient'],
    ['5.2.2', 'smtp; 552 5.2.2 full', 'bounced', 'mailbox_full'],
    ['5.7.1', 'smtp; 550 5.7.1 spam', 'bounced', 'block'],
    ['5.7.26', 'smtp; 550 5.7.26 unauthenticated', 'bounced', 'block'],
    ['5.6.0', 'smtp; 554 5.6.0 odd', 'bounced', 'content'],
    ['5.3.4', 'smtp; 552 5.3.4 large', 'bounced', 'content'],
    ['5.4.4', 'dns; no host', 'bounced', 'other'],
    ['5.0.0', 'smtp; 550 5.1.1 x', 'bounced', 'recipient'],
    ['5.0.0', 'smtp; 550 User unknown', 'bounced', 'recipient'],
    ['5.0.0', 'smtp; 550 User not found', 'bounced', 'recipient'],
    ['5.0.0', 'X-Postfix; unknown user: "ada"', 'bounced', 'recipient'],
    ['5.0.0', 'smtp; 550 : User unknown', 'bounced', 'block'],
    ['5.0.0', 'smtp; 552 5.2.2 full', 'bounced', 'mailbox_full'],
    ['5.0.0', 'smtp; 554 Transaction failed', 'bounced', 'other'],
    [
      '5.1.351',
      'smtp; 550 5.1.351 Remote server returned unknown recipient',
      'bounced',
      'recipient',
    ],
    ['5.1.0', 'smtp; 550 5.1.0 odd', 'bounced', 'other'],
    ['5.1.8', 'smtp; 553 5.1.8 Domain of sender does not exist', 'bounced', 'block'],
    ['5.4.1', 'smtp; 550 5.4.1 Recipient address rejected: Access denied', 'bounced', 'recipient'],
    ['5.4.1', 'smtp; 554 5.4.1 No answer from host', 'bounced', 'other'],
    ['5.4.4', 'X-Postfix; Host or domain name not found (NXDOMAIN)', 'bounced', 'recipient'],
    ['5.4.4', 'smtp; 550 5.4.4 Invalid domain', 'bounced', 'recipient'],
    ['5.4.4', 'X-Postfix; Host not found, try again', 'bounced', 'other'],
    ['5.1.1', 'smtp; 550 5.7.1 IP address blacklisted by recipient', 'bounced', 'block'],
    ['5.1.1', 'smtp; 550 5.1.1 Your IP is on a block list', 'bounced', 'block'],
    ['5.1.1', 'smtp; 552 5.2.2 Mailbox over quota', 'bounced', 'mailbox_full'],
    ['5.1.1', 'smtp; 450 4.2.0 Greylisted', 'expired', 'other'],
    ['5.7.1', 'smtp; 550 5.7.1 No such user here', 'bounced', 'block'],
    ['5.2.1', 'smtp; 550 5.2.1 The account is disabled', 'bounced', 'recipient'],
    [
      '5.2.1',
      'smtp; 550-5.2.1 The user is receiving mail at a rate that 550 5.2.1 prevents more',
      'bounced',
      'block',
    ],
    ['5.2.1', 'smtp; 550 5.2.1 odd', 'bounced', 'other'],
    [
      '5.0.0',
      "smtp; 5.1.0 - Address error 550-'5.7.1 <ada@example.org>... Access denied'",
      'bounced',
      'block',
    ],
    ['4.4.1', 'smtp; 421 4.4.1 timed out', 'expired', 'other'],
    ['4.4.7', 'smtp; 400 4.4.7 expired', 'expired', 'other'],
    ['5.4.7', 'smtp; 554 5.4.7 expired', 'expired', 'other'],
  ])('a failure %s (%s) is %s, of category %s', async (status, diagnostic, found, category) => {
    const mail = await read(dsn({ status, diagnostic }));
    const report = mail.kind === 'report' ? mail.report : undefined;
    expect(report).toMatchObject({ status: found, details: { category } });
  });

  // A relay writes 5.1.1 for each refusal that it does not understand.
  describe.each(['5.1.1', '5.0.0'])('a relay that reports %s', (status) => {
    it.each([
      ['550 Your IP is black-listed', 'block'],
      ['554 Service refused, listed in sbl-xbl', 'block'],
      ['550 IP 192.0.2.1 is listed in Barracuda', 'block'],
      ['550 Rejected: 192.0.2.1 listed at bl.example.org', 'block'],
      ['554 rejected by SORBS', 'block'],
      ['550 uceprotect level 2', 'block'],
      ['550 Your IP has been rejected', 'block'],
      ['550 Your server is not welcome', 'block'],
      ['550 Your domain does not exist', 'block'],
      ['550 IP [192.0.2.1] is not allowed', 'block'],
      ['550 Connection throttled', 'block'],
      ['550 Client host blocked', 'block'],
      ['554 Sender address rejected', 'block'],
      ['550 Message rejected as spam', 'block'],
      ['552 Message size exceeds fixed maximum message size', 'content'],
      ['552 Message exceeds maximum size', 'content'],
      ['554 Message content rejected', 'content'],
      ['554 virus found', 'content'],
      ['552 mailbox size exceeded', 'mailbox_full'],
      ['552 over quota', 'mailbox_full'],
      ['552 Requested action aborted', 'mailbox_full'],
      ['550 User unknown', 'recipient'],
      ['550 User ada is not listed in the directory', 'recipient'],
    ])('the answer %s is of the category %s', async (answer, category) => {
      const mail = await read(dsn({ status, diagnostic: `smtp; ${answer}` }));
      const report = mail.kind === 'report' ? mail.report : undefined;
      expect(report).toMatchObject({ status: 'bounced', details: { category } });
    });
  });

  it.each([
    ['cites an answer', 'Auto-Submitted: auto-replied\r\nFrom: noreply@mx.example.org'],
    ['has no sender', 'Precedence: bulk\r\nFrom: <>'],
    [
      'is a report without its part',
      'Auto-Submitted: auto-replied\r\nFrom: noreply@mx.example.org\r\nContent-Type: multipart/report; boundary="b"',
    ],
  ])('an automatic mail with the null sender that %s is a bounce', async (_, header) => {
    const mail = Buffer.from(
      `${header}\r\nSubject: Zustellung gescheitert\r\n\r\n550 5.1.1 User unknown\r\n`,
    );
    expect(await read(mail)).toMatchObject({
      report: { status: 'bounced', details: { category: 'recipient' } },
    });
  });

  it.each([
    ['My order could not be delivered', 'The address you gave does not exist.'],
    ['Re: Your order', 'I got 550 5.1.1 User unknown'],
  ])('words of a person (%s) suppress no address', async (subject, text) => {
    const mail = Buffer.from(
      `From: Ada <ada@example.org>\r\nSubject: ${subject}\r\n\r\n${text}\r\n`,
    );
    expect(await read(mail, RETURN, 'ada@example.org')).toMatchObject({
      report: { status: 'bounced', details: { category: 'other' } },
    });
  });

  it.each([
    ['delayed', '4.4.1', 'delayed'],
    ['delivered', '2.0.0', 'delivered'],
    ['expanded', '2.0.0', 'delivered'],
    ['relayed', '2.0.0', null],
  ])(
    'a notification with action %s and code %s has the status %s',
    async (action, status, found) => {
      expect(await read(dsn({ action, status, diagnostic: 'smtp; 250 2.0.0 ok' }))).toMatchObject({
        kind: 'report',
        report: { status: found },
      });
    },
  );

  it('a notification without a valid return address changes nothing', async () => {
    const forged = [
      'ada@bounce.example.com',
      RETURN.replace(/\.[a-z2-7]{20}@/, `.${'a'.repeat(20)}@`),
      RETURN.replace('-s4', '-s5'),
      new Verp([Buffer.alloc(32, 2)]).addressOf(SUBMISSION, 'bounce.example.com') as string,
    ];
    for (const to of forged)
      expect(await read(dsn(), to)).toEqual({ kind: 'ignored', reason: 'no_return_address' });
    expect(await readMail(dsn(), { from: '', to: [RETURN] }, undefined)).toMatchObject({
      kind: 'ignored',
    });
  });

  it('a complaint is read by the return address of the message that it is about', async () => {
    const mail = await read(arf('abuse', RETURN), 'fbl@example.com');
    expect(mail).toMatchObject({
      kind: 'report',
      report: { submissionId: SUBMISSION, status: 'complained', rawStatus: 'abuse' },
    });
    expect(await read(arf('not-spam', RETURN), 'fbl@example.com')).toMatchObject({
      reason: 'no_complaint',
    });
    expect(await read(arf('abuse', 'eve@example.com'), 'fbl@example.com')).toMatchObject({
      reason: 'no_return_address',
    });
  });

  it.each(['Auto-Submitted: auto-replied', 'X-Autoreply: yes', 'Precedence: auto_reply'])(
    'an out-of-office reply (%s) is no bounce',
    async (header) => {
      const reply = Buffer.from(
        `From: ada@example.org\r\n${header}\r\nSubject: Away\r\n\r\n550 5.1.1\r\n`,
      );
      for (const to of [RETURN, 'hello@example.com'])
        expect(await read(reply, to)).toEqual({ kind: 'ignored', reason: 'automatic_reply' });
    },
  );

  it('a reply of a person to another address is a message', async () => {
    const reply = Buffer.from('From: Ada <ada@example.org>\r\nSubject: Re\r\n\r\nThanks\r\n');
    expect(await read(reply, 'hello@example.com')).toMatchObject({ kind: 'message' });
    expect(await read(reply, RETURN, 'ada@example.org')).toEqual({
      kind: 'ignored',
      reason: 'no_report',
    });
  });

  it('a broken, deep or endless mail is read within bounds, and is no mail of a person', async () => {
    const nested = Buffer.from(
      Array.from(
        { length: 500 },
        (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
      ).join(''),
    );
    const wide = Buffer.concat([dsn().subarray(0, 300), Buffer.alloc(5_000_000, 'x: y\r\n')]);
    for (const raw of [
      nested,
      wide,
      Buffer.alloc(0),
      Buffer.alloc(300_000, 0),
      Buffer.alloc(300_000, '\n'),
    ]) {
      expect(await read(raw)).toMatchObject({ report: UNREAD });
      const mail = await read(raw, RETURN, 'eve@example.com');
      expect(mail.kind).toBe(raw === wide ? 'report' : 'ignored');
    }
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.uint8Array({ maxLength: 8 }), async (at, bytes) => {
        const raw = dsn();
        raw.set(bytes, at % (raw.length - 8));
        const mail = await read(raw);
        expect(mail.kind === 'report' ? mail.report.submissionId : SUBMISSION).toBe(SUBMISSION);
      }),
      { numRuns: 200 },
    );
  });
});
