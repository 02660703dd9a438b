import { describe, expect, it } from '@jest/globals';
import { type ReadMail, readMail } from './mail-report.js';
import { Verp } from './verp.js';

const verp = new Verp([Buffer.alloc(32, 1)]);
const SUBMISSION = '019a0f3e-7c55-7000-8000-0123456789ab-s4';
const RETURN = verp.addressOf(SUBMISSION, 'bounce.example.com') ?? '';

/** A bounce whose cause could not be read. */
const UNREAD = {
  submissionId: SUBMISSION,
  status: 'bounced',
  errorCode: 'unread_bounce',
  details: { category: 'other' },
};

const read = (raw: Buffer, to = RETURN, from = ''): Promise<ReadMail> =>
  readMail(raw, { from, to: [to] }, verp);

/** A mail with one part besides its text. */
function part(type: string, lines: readonly string[], text = 'It failed.'): string[] {
  return [
    'From: MAILER-DAEMON@mta.example.net',
    'Subject: Undelivered Mail',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b1"',
    '',
    '--b1',
    'Content-Type: text/plain',
    '',
    text,
    '--b1',
    `Content-Type: ${type}`,
    ...(lines[0]?.startsWith('Content-') ? [] : ['']),
    ...lines,
    '--b1--',
    '',
  ];
}

const STATUS = 'message/delivery-status';
const FAILED = [
  'Reporting-MTA: dns; mta.example.net',
  '',
  'Final-Recipient: rfc822; ada@example.org',
];
const BOUNCED = { status: 'bounced', errorCode: '5.1.1', details: { category: 'recipient' } };

/** Notifications as real servers write them. */
const NOTICES: Readonly<Record<string, readonly [readonly string[], object]>> = {
  'a code of the far server beside another one of the relay': [
    part(STATUS, [
      ...FAILED,
      'Action: failed',
      'Status: 5.1.1',
      'Diagnostic-Code: SMTP; 550 5.7.1 blacklisted',
    ]),
    { status: 'bounced', errorCode: '5.7.1', details: { category: 'block' } },
  ],
  'a rewritten Original-Recipient': [
    part(STATUS, [
      ...FAILED,
      'Original-Recipient: rfc822; ada.l@internal.example',
      'Action: failed',
      'Status: 5.1.1',
    ]),
    BOUNCED,
  ],
  'an Original-Recipient in xtext': [
    part(STATUS, [
      ...FAILED,
      'Original-Recipient: rfc822;ada+2Btag@example.org',
      'Action: failed',
      'Status: 5.1.1',
    ]),
    BOUNCED,
  ],
  'an internationalised notification (RFC 6533)': [
    part('message/global-delivery-status', [
      'Reporting-MTA: dns; mta.example.net',
      '',
      'Final-Recipient: utf-8; ñ@example.org',
      'Action: failed',
      'Status: 5.1.1',
    ]),
    BOUNCED,
  ],
  'one group of fields with a space before the colon': [
    part(STATUS, [
      'DATE_FORMAT : EEE',
      'Reporting-MTA : dns;mx.example.net',
      'Action : failed',
      'Status : 5.0.0',
      'Diagnostic-Code : smtp;550 5.7.54 Unable to relay',
    ]),
    { status: 'bounced', errorCode: '5.7.54', details: { category: 'block' } },
  ],
  'a comment after the action': [
    part(STATUS, [...FAILED, 'Action: failed (permanent)', 'Status: 5.1.1 (no mailbox)']),
    BOUNCED,
  ],
  'an expiry as the action': [
    part(STATUS, [
      ...FAILED,
      'Action: expired',
      'Status: ',
      'Diagnostic-Code: Connection timed out',
    ]),
    { status: 'expired', errorCode: null, details: { category: 'other' } },
  ],
  'a part in base64': [
    part(STATUS, [
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from([...FAILED, 'Action: failed', 'Status: 5.1.1'].join('\r\n')).toString('base64'),
    ]),
    BOUNCED,
  ],
  'an empty part beside words of a block': [
    part(STATUS, ['', ''], 'Message blocked. Your message to ada@example.org has been blocked.'),
    { status: 'bounced', details: { category: 'block' } },
  ],
  'an empty part beside a code in words': [
    part(
      STATUS,
      ['', ''],
      '<ada@example.org>: host mx.example.org said:\r\n    550 5.1.1 No such user',
    ),
    BOUNCED,
  ],
  'a failure without a code, whose cause is in the text': [
    part(
      STATUS,
      [...FAILED, 'Action: failed', 'Status: 5.0.0'],
      'The address ada@example.org does not exist.',
    ),
    { status: 'bounced', errorCode: '5.0.0', details: { category: 'recipient' } },
  ],
  'words of a missing user after the content was sent, as filters of carriers answer': [
    part(
      STATUS,
      [...FAILED, 'Action: failed', 'Status: 5.0.0', 'Diagnostic-Code: smtp; 550 Unknown user'],
      '550 Unknown user (in reply to end of DATA command)',
    ),
    { status: 'bounced', details: { category: 'block' } },
  ],
  'a text of Exim': [
    [
      'X-Failed-Recipients: ada@example.org',
      'Auto-Submitted: auto-replied',
      'From: Mail Delivery System <Mailer-Daemon@mta.example.net>',
      'Subject: Mail delivery failed: returning message to sender',
      '',
      'A message that you sent could not be delivered. The following address failed:',
      '',
      '  ada@example.org',
      '    550 5.1.1 No such user',
      '',
      '------ This is a copy of the message, including all the headers. ------',
      '',
      'Subject: 552 5.2.2 quota',
    ],
    { ...BOUNCED, rawStatus: 'bounced' },
  ],
  'a text of qmail': [
    [
      'From: MAILER-DAEMON@mta.example.net',
      'Subject: failure notice',
      '',
      '<ada@example.org>:',
      'Sorry, no mailbox here by that name. (#5.1.1)',
    ],
    {
      ...BOUNCED,
      details: {
        category: 'recipient',
        diagnostic: 'Sorry, no mailbox here by that name. (#5.1.1',
      },
    },
  ],
  'an old text of Exchange': [
    [
      'From: System Administrator <postmaster@example.org>',
      'Subject: Undeliverable: Offers',
      '',
      'did not reach the following recipient(s):',
      'The recipient name is not recognized',
      '0 (000C05A6) Unknown Recipient',
    ],
    { status: 'bounced', errorCode: null, details: { category: 'recipient' } },
  ],
  'a text of GMX': [
    [
      'From: MAILER-DAEMON@gmx.example',
      'Subject: Mail delivery failed: returning message to sender',
      '',
      '"ada@example.org":',
      'SMTP error from remote server after RCPT command:',
      'host: mx.example.org',
      '5.1.1 <ada@example.org>... User Unknown',
      '',
      '--- The header of the original message is following. ---',
      '',
      'Subject: Offers',
    ],
    BOUNCED,
  ],
  'a text of Zoho': [
    [
      'From: mailer-daemon@zoho.example',
      'Subject: Undelivered Mail Returned to Sender',
      '',
      'ada@example.org Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1 <ada@example.org>... User Unknown',
    ],
    BOUNCED,
  ],
  'a text of Amazon': [
    [
      'From: MAILER-DAEMON@ses.example',
      'Subject: Delivery Status Notification (Failure)',
      '',
      'Technical report:',
      '',
      'Action: failed',
      'Diagnostic-Code: smtp; 550 5.1.1 <ada@example.org>... User Unknown',
      'Status: 5.1.1',
    ],
    BOUNCED,
  ],
  'a text of mail.ru': [
    [
      'From: mailer-daemon@corp.mail.example',
      'X-Failed-Recipients: ada@example.org',
      'Subject: =?UTF-8?B?0JLQsNGI0LUg0YHQvtC+0LHRidC10L3QuNC1?=',
      '',
      '  ada@example.org',
      '    Unrouteable address',
    ],
    { status: 'bounced', details: { category: 'recipient' } },
  ],
  'a text of Gmail in html': [
    [
      'From: Mail Delivery Subsystem <mailer-daemon@googlemail.example>',
      'Subject: Delivery Status Notification (Failure)',
      'Content-Type: text/html',
      '',
      '<p>The response was:</p><p>550 5.1.1 The email account that you tried to reach does not exist.</p>',
    ],
    BOUNCED,
  ],
  'a delay in words': [
    [
      'From: MAILER-DAEMON@mta.example.net',
      'Subject: Warning: could not send message for past 4 hours',
      '',
      'THIS IS A WARNING MESSAGE ONLY',
    ],
    { status: 'delayed' },
  ],
  'an expiry in words': [
    [
      'From: MAILER-DAEMON@mta.example.net',
      'Subject: failure notice',
      '',
      'Connection refused. I am giving up.',
    ],
    { status: 'expired' },
  ],
  'a mail that says nothing': [['Subject: Hm', '', 'Hm'], UNREAD],
};

/** Mails to a return address, with the sender of their envelope. */
const OTHERS: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  'an automatic reply to a subject with words of a bounce': [
    '',
    [
      'From: ada@example.org',
      'Subject: Automatic reply: Delivery problem of your order',
      '',
      'Away',
    ],
  ],
  'an automatic reply without its header': [
    '',
    ['From: ada@example.org', 'Subject: Out of Office: Offers', '', 'Away'],
  ],
  'a reply of a person to a subject with words of a bounce': [
    'ada@example.org',
    ['From: ada@example.org', 'Subject: Re: Delivery failure of your order', '', 'Call 555 1234'],
  ],
  'a read receipt': [
    '',
    part('message/disposition-notification', [
      'Final-Recipient: rfc822; ada@example.org',
      'Disposition: manual-action; displayed',
    ]),
  ],
  'a report of success in words': [
    '',
    ['From: postmaster@example.org', 'Subject: Successful delivery: Offers', '', 'Done'],
  ],
};

describe('a mail to a return address', () => {
  it.each(Object.entries(NOTICES))('%s is read', async (_title, [lines, expected]) => {
    expect(await read(Buffer.from(lines.join('\r\n')))).toMatchObject({
      kind: 'report',
      report: { submissionId: SUBMISSION, ...expected },
    });
  });

  it.each(Object.entries(OTHERS))('%s is no bounce', async (_title, [from, lines]) => {
    const mail = await read(Buffer.from(lines.join('\r\n')), RETURN, from);
    expect(mail.kind).toBe('ignored');
  });

  it('a complaint in the form of Outlook is read by the return path of the returned message', async () => {
    const returned = (path: string) =>
      Buffer.from(
        part('message/rfc822', [
          'X-HmXmrOriginalRecipient: ada@hotmail.example',
          `Return-Path: ${path}`,
          'Subject: Offers',
          '',
          'Hello',
        ]).join('\r\n'),
      );
    for (const [path, to] of [
      [`<${RETURN}>`, 'fbl@example.com'],
      [RETURN, 'fbl@example.com'],
      ['<eve@example.com>', RETURN],
    ] as const)
      expect(await read(returned(path), to, 'staff@hotmail.example')).toMatchObject({
        report: { submissionId: SUBMISSION, status: 'complained', rawStatus: 'abuse' },
      });
    expect(await read(returned('<eve@example.com>'), 'fbl@example.com')).toEqual({
      kind: 'ignored',
      reason: 'no_return_address',
    });
  });
});
