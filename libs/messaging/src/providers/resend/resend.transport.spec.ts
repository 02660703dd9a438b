import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { callbackRequest, proven } from '../../../../../test/support/callback-request.js';
import {
  BATCH,
  emailTo,
  mailContract,
  namesWrongOptions,
  openProvider,
  type ProviderUnderTest,
} from '../../../../../test/support/providers/provider-contract.js';
import { ResendServer } from '../../../../../test/support/providers/resend-server.js';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import { resendParser, resendSignature } from './resend.js';
import { resend } from './resend.transport.js';

const [ADA, BEA, CAT] = ['ada@example.org', 'bea@example.org', 'cat@example.org'] as const;
const ID = `${BATCH}-s0`;
const { signal } = new AbortController();

mailContract(
  'resend',
  () => new ResendServer(),
  ({ options }) => resend(options),
  { lostAnswer: { arm: ({ server }) => server.loseNextAnswer(), settles: true } },
);

describe('resend', () => {
  let under: ProviderUnderTest<ResendServer>;
  beforeAll(async () => {
    under = await openProvider(new ResendServer(), ({ options }) => resend(options));
  });
  afterAll(() => under.close());
  let n = 0;
  const submit = (...[recipients, content, changes]: Parameters<typeof emailTo>) =>
    under.transport.submit(
      emailTo(recipients, content, { id: `${BATCH}-s${++n}`, ...changes }),
      signal,
    );
  const sent = () => JSON.parse(under.server.requests.at(-1)!.body) as Record<string, unknown>;

  it('keys are honoured for a day, and an email to several has at most 50', () => {
    expect(under.transport.capabilities).toMatchObject({
      channels: ['email'],
      maxRecipients: 1,
      maxShared: 50,
      idempotencyWindow: 86_400_000,
    });
  });

  it('an email leaves with all of its fields, under the key of its submission', async () => {
    const attachments = [
      { filename: 'a.pdf', contentType: 'application/pdf', content: Buffer.from('file') },
      { filename: 'b.png', contentType: 'image/png', contentId: 'b', content: Buffer.of(1) },
    ];
    const { reference, messageIds } = await submit(
      [ADA, BEA, CAT],
      {
        from: { email: 'shop@example.com', name: 'Shop, "Inc."' },
        to: [{ email: ADA, name: 'Ada Ümlaut' }],
        cc: [{ email: BEA }],
        replyTo: [{ email: 'help@example.com' }],
        text: undefined as never,
        html: '<p>Hello</p><img src="cid:b">',
        headers: { 'X-Entity-Ref-ID': '7' },
        category: 'marketing',
        unsubscribeUrl: 'https://example.com/u',
      },
      { id: ID, attachments, labels: { tags: ['order'], metadata: { order: '7' } } },
    );
    expect(under.server.requests.at(-1)!.headers['idempotency-key']).toBe(ID);
    expect(sent()).toEqual({
      from: '"Shop, \\"Inc.\\"" <shop@example.com>',
      to: [`Ada Ümlaut <${ADA}>`],
      cc: [BEA],
      bcc: [CAT],
      reply_to: ['help@example.com'],
      subject: 'Hello',
      html: '<p>Hello</p><img src="cid:b">',
      text: 'Hello',
      headers: {
        'X-Entity-Ref-ID': '7',
        'List-Unsubscribe': '<https://example.com/u>',
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
      attachments: [
        { filename: 'a.pdf', content_type: 'application/pdf', content: 'ZmlsZQ==' },
        { filename: 'b.png', content_type: 'image/png', content: 'AQ==', content_id: 'b' },
      ],
      tags: [{ name: 'submission', value: ID }],
    });
    expect(reference).toBe(under.server.taken.at(-1)!.id);
    expect(messageIds).toBeUndefined();
  });

  it('a copy of its own has the name and the variables of its recipient', async () => {
    const personal = [{ name: 'Ada', variables: { code: 'A&1' } }];
    const content = { subject: 'Hi {{name}}', text: 'x', html: '{{code}}' };
    const { messageIds } = await submit([ADA], content, { personal });
    expect(sent()).toMatchObject({ to: [`Ada <${ADA}>`], subject: 'Hi Ada', html: 'A&amp;1' });
    expect(messageIds).toEqual([under.server.taken.at(-1)!.id]);
    await submit([ADA], { text: '', html: 'only' });
    expect(sent()).toMatchObject({ html: 'only', text: '' });
  });

  const invitation = 'text/calendar; method=REQUEST';
  const another = [{ email: 'x@example.org' }];
  it.each([
    ['an invitation', [ADA], {}, invitation, 'unsupported_content'],
    [
      'a file that is too large',
      [ADA],
      { text: 'x'.repeat(42e6) },
      'text/plain',
      'content_too_long',
    ],
    [
      'a header beyond ASCII',
      [ADA],
      { headers: { 'X-Priority': 'ü' } },
      'text/plain',
      'unsupported_content',
    ],
    ['hidden recipients alone', [BEA, CAT], { to: another }, 'text/plain', 'unsupported_content'],
  ])('%s leaves by another provider', async (_, recipients, content, contentType, code) => {
    const attachments = [{ filename: 'a', contentType, content: Buffer.of(1) }];
    const failed = submit(recipients, content, { attachments });
    await expect(failed).rejects.toBeInstanceOf(UnroutableFailure);
    await expect(failed).rejects.toMatchObject({ code });
  });

  it.each([
    ["a header that is not a caller's", { headers: { 'Message-ID': '<a@b>' } }, 'invalid_content'],
    ['a header with a line break', { headers: { 'X-Priority': '1\r\nBcc: x' } }, 'invalid_content'],
    ['marketing without its page', { category: 'marketing' }, 'no_unsubscribe_url'],
    ['a wrong address', { from: { email: 'a b@example.com' } }, 'invalid_address'],
  ] as const)('%s is refused before it leaves', async (_, content, code) => {
    const before = under.server.requests.length;
    const failed = submit([ADA], content as object);
    await expect(failed).rejects.toBeInstanceOf(PermanentFailure);
    await expect(failed).rejects.toMatchObject({ code });
    expect(under.server.requests).toHaveLength(before);
  });

  it('the option makes the unsubscribe page of each recipient', async () => {
    const unsubscribeUrl = ({ id, recipient }: { id: string; recipient: string }) =>
      `https://example.com/${id}/${recipient}`;
    const one = await openProvider(new ResendServer(), (server) =>
      resend({ ...server.options, unsubscribeUrl }),
    );
    const marketing = { category: 'marketing', to: [{ email: ADA }] } as const;
    await one.transport.submit(emailTo([ADA], marketing), signal);
    expect(one.server.taken[0]!['headers']).toMatchObject({
      'List-Unsubscribe': `<https://example.com/${ID}/${ADA}>`,
    });
    const several = one.transport.submit(emailTo([ADA, BEA], marketing), signal);
    await expect(several).rejects.toMatchObject({ code: 'unsupported_content' });
    await one.close();
  });

  it.each([
    [401, 'validation_error', 'API key is invalid', PausedFailure, 'unauthorized'],
    [400, 'validation_error', 'API key is invalid', PausedFailure, 'unauthorized'],
    [403, 'invalid_api_key', 'x', PausedFailure, 'unauthorized'],
    [403, 'validation_error', 'not verified', UnroutableFailure, 'sender_unknown'],
    [422, 'validation_error', 'x', PermanentFailure, 'validation_error'],
    [422, 'invalid_attachment', 'x', PermanentFailure, 'invalid_attachment'],
    [429, 'rate_limit_exceeded', 'x', PausedUncertainFailure, 'throttled'],
    [429, 'monthly_quota_exceeded', 'x', PausedFailure, 'payment_required'],
    [
      409,
      'concurrent_idempotent_requests',
      'x',
      UncertainFailure,
      'concurrent_idempotent_requests',
    ],
    [409, 'invalid_idempotent_request', 'x', UncertainFailure, 'invalid_idempotent_request'],
    [500, 'application_error', 'x', UncertainFailure, 'application_error'],
    [503, 'new_error', 'x', UncertainFailure, 'new_error'],
  ])('an answer %i %s (%s) is classified', async (status, name, message, kind, code) => {
    under.server.refuse({ status, body: { statusCode: status, name, message } });
    const failed = submit([ADA]);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.not.toThrow(under.server.apiKey);
  });

  namesWrongOptions(resend, { apiKey: 'k'.repeat(20) }, [
    ['apiKey', { apiKey: 'hunter2' }],
    ['baseUrl', { baseUrl: 'https://user:hunter2@example.com' }],
  ]);
});

describe('resendParser', () => {
  const event = (type: string, more: object = {}) => ({
    type,
    created_at: '2026-11-22T23:41:12.126Z',
    data: {
      created_at: '2026-11-22T23:41:11.894719+00:00',
      email_id: '56761188-7520-42d8-8898-ff6fc54ce618',
      from: 'Acme <shop@example.com>',
      to: [ADA],
      subject: 'Hello',
      tags: { submission: ID },
      ...more,
    },
  });
  const read = (body: object) => {
    const { reports = [], errors } = resendParser().parse(callbackRequest({ body }));
    expect(errors).toEqual([]);
    return reports;
  };
  const bounce = (type: string, subType: string, code?: string, message = 'x') =>
    read(
      event('email.bounced', {
        bounce: { type, subType, message, ...(code && { diagnosticCode: [code] }) },
      }),
    )[0];

  it('an event names submission and email, and no recipient', () => {
    expect(read(event('email.delivered'))).toEqual([
      {
        submissionId: ID,
        reference: '56761188-7520-42d8-8898-ff6fc54ce618',
        messageId: null,
        recipient: null,
        status: 'delivered',
        rawStatus: 'email.delivered',
        errorCode: null,
        providerTime: new Date('2026-11-22T23:41:12.126Z'),
      },
    ]);
  });

  it('every event is a status, none, or kept raw', () => {
    const statuses = (types: string) =>
      types.split(' ').map((type) => read(event(`email.${type}`)).map(({ status }) => status));
    expect(statuses('sent delivery_delayed complained failed suppressed new')).toEqual([
      ['sent'],
      ['delayed'],
      ['complained'],
      ['failed'],
      ['rejected'],
      [null],
    ]);
    expect(statuses('scheduled opened clicked received')).toEqual([[], [], [], []]);
    expect(read(event('contact.created'))).toEqual([]);
    const failed = event('email.failed', { failed: { reason: 'reached_daily_quota' } });
    expect(read(failed)[0]).toMatchObject({ errorCode: 'reached_daily_quota' });
  });

  it('without an answer of the server its message counts where it begins as one', () => {
    const of = (message: string) => bounce('Permanent', 'General', undefined, message)?.details;
    expect(of('550 5.1.1 No such user')).toMatchObject({ category: 'recipient', smtp_code: 550 });
    expect(of('The server said 5.1.1')).toMatchObject({ category: 'other' });
  });

  it('a bounce has the category of its answer, or of its sub-type', () => {
    expect(bounce('Permanent', 'General', 'smtp; 550 5.1.1 user unknown')).toMatchObject({
      status: 'bounced',
      errorCode: '5.1.1',
      details: { category: 'recipient', smtp_code: 550, enhanced_code: '5.1.1' },
    });
    expect(bounce('Permanent', 'General', 'smtp; 550 5.7.1 listed at a block list')).toMatchObject({
      status: 'bounced',
      details: { category: 'block' },
    });
    expect(bounce('Transient', 'MailboxFull', 'smtp; 452 4.2.2 mailbox full')).toMatchObject({
      status: 'expired',
      details: { category: 'mailbox_full' },
    });
    expect(bounce('Permanent', 'NoEmail')).toMatchObject({
      status: 'bounced',
      errorCode: null,
      details: { category: 'recipient' },
    });
    expect(bounce('Transient', 'General')).toMatchObject({
      status: 'expired',
      details: { category: 'other' },
    });
  });

  it('an event without an id is an error without its content', () => {
    const parsed = resendParser().parse(
      callbackRequest({ body: event('email.sent', { email_id: undefined, tags: {} }) }),
    );
    expect(parsed).toMatchObject({ reports: [], errors: ['entry 0: names no message'] });
  });
});

describe('resendSignature', () => {
  const key = Buffer.alloc(24, 7);
  const secret = `whsec_${key.toString('base64')}`;
  const receivedAt = 1_790_000_000_000;
  const rawBody = Buffer.from('{"type":"email.sent"}');
  const signed = (body: Buffer, at = receivedAt / 1_000) => {
    const content = `msg_1.${at}.${body.toString()}`;
    const signature = createHmac('sha256', key).update(content).digest('base64');
    const headers = {
      'svix-id': 'msg_1',
      'svix-timestamp': String(at),
      'svix-signature': `v1,${signature}`,
    };
    return { headers, rawBody: body, receivedAt };
  };

  it('only the signed body of the last minutes passes', async () => {
    const valid = signed(rawBody);
    expect(
      await proven(resendSignature(secret), [
        valid,
        { ...valid, rawBody: Buffer.from('{"type":"email.delivered"}') },
        { ...valid, headers: {} },
        { ...valid, method: 'GET' },
        signed(rawBody, receivedAt / 1_000 - 301),
      ]),
    ).toEqual([true, false, false, false, false]);
    const other = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
    expect(await proven(resendSignature([other, secret]), [valid])).toEqual([true]);
    expect(await proven(resendSignature(other), [valid])).toEqual([false]);
  });

  it('a wrong secret is named without its value', () => {
    expect(() => resendSignature('hunter2')).toThrow(/^resendSignature\[0\]: /);
    expect(() => resendSignature('hunter2')).not.toThrow(/hunter2/);
  });
});
