import { expect, it } from '@jest/globals';
import type { FieldError } from '../../message/errors.js';
import { type EmailAddressees, readEmailRecipients } from './email-recipients.js';
import { emailChannel } from './email.channel.js';

const MAX_SIZE = 26_214_400;
const definition = emailChannel({ from: undefined, maxRecipients: 1_000, maxSize: MAX_SIZE });
const SOUND = { kind: 'email', from: 'shop@shop.example', subject: 'Hello', text: 'Hello' };

function checked(changes: Record<string, unknown>) {
  const errors: FieldError[] = [];
  const result = definition.content['email']!({ ...SOUND, ...changes }, errors);
  return { ...result, paths: errors.map(({ path }) => path) };
}

function recipientsOf(addressees: EmailAddressees, subject = 'Hello', ...texts: string[]) {
  const reading = readEmailRecipients(addressees, [subject, ...texts], 1_000);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return { ...value, paths: value.errors.map(({ path }) => path) };
  }
}

it.each([
  ['from', [undefined, null, '', 'shop', ' shop@shop.example', '<shop@shop.example>']],
  ['from', ['A@b.example, C <c@d.example>', 'A (x) <a@b.example>', 'A\r\n <a@b.example>']],
  ['from', ['Team: a@b.example;', '"a b"@c.example', 'a@[127.0.0.1]', 'A <B <a@b.example>>']],
  ['from.email', [{ email: 'Shop <shop@shop.example>' }, { name: 'Shop' }]],
  ['from.name', [{ email: 'shop@shop.example', name: 'A\nBcc: x@y.example' }]],
  ['replyTo[1]', [['a@b.example', 'b']]],
  ['replyTo', [Array.from({ length: 11 }, (_, n) => `a${n}@b.example`)]],
  ['subject', [undefined, '', 'A\nBcc: x@y.example', 'A\r', 'A\0', 'é'.repeat(500), '\ud800']],
  ['text', ['', null, 7, 'A\0', 'x'.repeat(5 * 1_024 * 1_024 + 1)]],
  ['html', [7, '\ud800']],
  ['headers', ['X-Priority: 1', ['X-Priority']]],
  ['headers.X-SMTPAPI', [{ 'X-SMTPAPI': '{}' }]],
  ['headers.Bcc', [{ Bcc: 'x@y.example' }]],
  ['headers.__proto__', [JSON.parse('{"__proto__": "x"}')]],
  ['headers.x-priority', [{ 'X-Priority': '1', 'x-priority': '2' }]],
  ['headers.References', [{ References: 'a\r\nBcc: x@y.example' }, { References: 'é' }]],
  ['category', ['promotional', 1]],
  ['unsubscribeUrl', ['https://shop.example/u', 'http://shop.example/u']],
  ['attachments', ['a.pdf', Array(101).fill({})]],
])('a wrong %s is refused at its path', (path, values: readonly unknown[]) => {
  const [field = ''] = path.split(/[.[]/);
  for (const value of values) expect(checked({ [field]: value }).paths).toEqual([path]);
});

it('the check of the content alone names a wrong sender', () => {
  const errors: FieldError[] = [];
  const sender = (from: unknown) => definition.sender?.(from, errors);
  expect(sender('Ada <ada@example.com>')).toBe('ada@example.com');
  expect(sender('shop')).toBe('');
  expect(errors).toEqual([]);
  expect(checked({ from: 'shop' }).paths).toEqual(['from']);
});

it.each([
  ['filename', ['', '../x', 'a\\b', 'a\nb', 7]],
  [
    'contentType',
    [
      'pdf',
      'text/plain;',
      'text/plain; charset',
      'text/plain; charset=a b',
      'text/plain; charset="a',
      'a/b\r\nX: y',
      'a/b; x="y\r\nX: y"',
      `a/b${'; x=y'.repeat(11)}`,
      undefined,
    ],
  ],
  ['contentId', ['', '<a>', 'a b', 7]],
  [
    'content',
    ['AAA', 'AA==\n', 'AA-_', 'AB==', 'A===', '====', undefined, { path: '/etc/passwd' }],
  ],
])('a wrong %s of an attachment is refused at its path', (field, values: readonly unknown[]) => {
  const sound = { filename: 'a.txt', contentType: 'text/plain', content: 'AA==' };
  for (const value of values)
    expect(checked({ attachments: [sound, { ...sound, [field]: value }] }).paths).toEqual([
      `attachments[1].${field}`,
    ]);
});

it('a media type has parameters, and a message has one calendar invitation', () => {
  const sound = { filename: 'a.txt', content: 'AA==' };
  const types = [
    'text/plain; charset=utf-8',
    'text/plain;charset="iso-8859-1";format=flowed',
    'application/vnd.ms-excel.sheet.macroEnabled.12',
    'text/calendar; charset=utf-8',
    'text/calendar; charset=utf-8; method=REQUEST',
  ];
  const attachments = types.map((contentType) => ({ ...sound, contentType }));
  const { content, paths } = checked({ attachments });
  expect(paths).toEqual([]);
  expect(content).toMatchObject({ attachments: types.map((contentType) => ({ contentType })) });
  attachments.push({ ...sound, contentType: 'TEXT/Calendar;method="CANCEL"' });
  expect(checked({ attachments }).paths).toEqual(['attachments[5].contentType']);
});

it('two attachments with the same content id are refused', () => {
  const inline = { filename: 'a.png', contentType: 'image/png', content: 'AA==', contentId: 'a' };
  const attachments = [inline, { ...inline, contentId: 'b' }, { ...inline, filename: 'c.png' }];
  expect(checked({ attachments }).paths).toEqual(['attachments[2].contentId']);
});

it('a marketing message may name its page for the unsubscribe', () => {
  const url = 'https://shop.example/u?id=1';
  const { content, paths } = checked({ category: 'marketing', unsubscribeUrl: url });
  expect([paths, content]).toMatchObject([[], { category: 'marketing', unsubscribeUrl: url }]);
});

it('a message above the size limit is refused with a code of its own', () => {
  const attachments = [
    {
      filename: 'a.bin',
      contentType: 'application/octet-stream',
      content: Buffer.alloc(MAX_SIZE - 4_096),
    },
  ];
  expect(checked({ attachments }).paths).toEqual([]);
  attachments.push({ ...(attachments[0] as object), content: Buffer.alloc(4_096) } as never);
  expect(() => checked({ attachments })).toThrow(
    expect.objectContaining({
      code: 'payload_too_large',
      fields: [expect.objectContaining({ path: 'attachments' })],
    }),
  );
  expect(() => checked({ text: 'x'.repeat(5_242_880), html: 'x'.repeat(5_242_880) })).not.toThrow();
});

it('a name in quotes, escapes, non-ASCII letters and a bare address are read', () => {
  const { content } = checked({
    from: '"Doe, \\"Jo\\"" <jo@BÜCHER.example>',
    replyTo: ['Zoë <zoë@shop.example>', 'help@shop.example'],
  });
  expect(content).toMatchObject({
    from: { name: 'Doe, "Jo"', email: 'jo@xn--bcher-kva.example' },
    replyTo: [{ name: 'Zoë', email: 'zoë@shop.example' }, { email: 'help@shop.example' }],
  });
});

it('to, cc and bcc are together at most 50 addresses, without duplicates', () => {
  const all = Array.from({ length: 50 }, (_, n) => `p${n}@example.com`);
  const fifty = { to: all.slice(0, 20), cc: all.slice(10, 40), bcc: all.slice(30) };
  expect(recipientsOf(fifty)).toMatchObject({ recipients: all, paths: [] });
  expect(recipientsOf({ ...fifty, bcc: [...all.slice(30), 'one@more.example'] }).paths).toEqual([
    'to',
  ]);
  expect(recipientsOf({ bcc: 'a@b.example' }).paths).toEqual(['to']);
  expect(recipientsOf({ to: ['a@b.example', 'b'], bcc: [7 as never] }).paths).toEqual([
    'to[1]',
    'bcc[0]',
  ]);
});

it('recipients stand alone, with valid names and variables', () => {
  const one = { email: 'a@b.example' };
  expect(recipientsOf({ to: 'a@b.example', recipients: [one] }).paths).toEqual(['to']);
  expect(recipientsOf({ recipients: [] }).paths).toEqual(['recipients']);
  expect(recipientsOf({ recipients: 'a@b.example' as never }).paths).toEqual(['recipients']);
  expect(
    recipientsOf({
      recipients: [
        'a@b.example',
        'Ada <a@b.example>',
        { email: 'b' },
        { ...one, name: 'A\n' },
        { ...one, variables: { x: 1 } as never },
        { ...one, variables: [] as never },
        { ...one, variables: { 'a b': 'x' } },
      ],
    }).paths,
  ).toEqual([
    'recipients[1]',
    'recipients[2].email',
    'recipients[3].name',
    'recipients[4].variables.x',
    'recipients[5].variables',
    'recipients[6].variables',
  ]);
  const many = Array.from({ length: 1_001 }, (_, n) => `p${n}@example.com`);
  expect(recipientsOf({ recipients: many }).paths).toEqual(['recipients']);
});

it('a variable that is used and not given is an error, and others are not kept', () => {
  const read = recipientsOf(
    {
      recipients: [
        { email: 'a@b.example', name: 'Ada', variables: { order: '1', other: 'x' } },
        { email: 'b@b.example', variables: { name: 'Bea', order: '2' } },
      ],
    },
    '{{ name }}: {{order}}',
    'Hello {{name}}, {{ 1x }}',
  );
  expect(read.paths).toEqual([]);
  expect(read.personal).toEqual([
    { name: 'Ada', variables: { order: '1' } },
    { variables: { name: 'Bea', order: '2' } },
  ]);
  const variables = { x: 'A\r\nBcc: x@y.example' };
  const wrong = [
    'a@b.example',
    { email: 'b@b.example', variables: {} },
    { email: 'c@b.example', variables },
    'grp_0123456789',
  ];
  expect(recipientsOf({ recipients: wrong }, '{{x}}').paths).toEqual([
    'recipients[0].variables.x',
    'recipients[1].variables.x',
    'recipients[2].variables.x',
    'recipients[3]',
  ]);
  expect(recipientsOf({ recipients: [wrong[2]!] }, 'Hello', '{{x}}').paths).toEqual([]);
  expect(
    recipientsOf({ recipients: [{ email: 'a@b.example', variables: { x: 'y' } }] }).personal,
  ).toBe(undefined);
  expect(recipientsOf({ recipients: ['a@b.example'] }, '{{constructor}}').paths).toHaveLength(1);
  const long = { email: 'a@b.example', variables: { x: 'é'.repeat(4_100) } };
  expect(recipientsOf({ recipients: [long] }, 'A', '{{x}}').paths).toEqual([
    'recipients[0].variables',
  ]);
});
