import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callbackRequest } from '../../../../../test/support/callback-request.js';
import { PostmarkServer } from '../../../../../test/support/providers/postmark-server.js';
import {
  BATCH,
  emailTo,
  mailContract,
  namesWrongOptions,
  openProvider,
  type ProviderUnderTest,
} from '../../../../../test/support/providers/provider-contract.js';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import { postmarkParser } from './postmark.js';
import { postmark } from './postmark.transport.js';

const [ADA, BEA, CAT] = ['ada@example.org', 'bea@example.org', 'cat@example.org'] as const;
const ID = `${BATCH}-s0`;
const { signal } = new AbortController();

mailContract(
  'postmark',
  () => new PostmarkServer(),
  ({ options }) => postmark(options),
);

describe('postmark', () => {
  let under: ProviderUnderTest<PostmarkServer>;
  beforeAll(async () => {
    under = await openProvider(new PostmarkServer(), ({ options }) => postmark(options));
  });
  afterAll(() => under.close());
  const submit = (...given: Parameters<typeof emailTo>) =>
    under.transport.submit(emailTo(...given), signal);
  const sent = () => JSON.parse(under.server.requests.at(-1)!.body) as Record<string, unknown>;

  it('there are no keys, and an email to several has at most 50', () => {
    expect(under.transport.capabilities).toMatchObject({
      channels: ['email'],
      maxRecipients: 1,
      maxShared: 50,
      idempotencyWindow: 0,
    });
  });

  it('an email leaves with all of its fields, and names its submission', async () => {
    const attachments = [
      { filename: 'a.pdf', contentType: 'application/pdf', content: Buffer.from('file') },
      { filename: 'b.png', contentType: 'image/png', contentId: 'b', content: Buffer.of(1) },
    ];
    const { reference, messageIds } = await submit(
      [ADA, BEA, CAT],
      {
        to: [{ email: ADA, name: 'Doe, Ada' }, { email: BEA }],
        replyTo: [{ email: 'help@example.com' }, { email: 'more@example.com' }],
        html: '<img src="cid:b">',
        headers: { 'X-Entity-Ref-ID': '7' },
        category: 'marketing',
        unsubscribeUrl: 'https://example.com/u',
      },
      { attachments },
    );
    expect(sent()).toEqual({
      From: 'Shop <shop@example.com>',
      To: `"Doe, Ada" <${ADA}>, ${BEA}`,
      Bcc: CAT,
      ReplyTo: 'help@example.com, more@example.com',
      Subject: 'Hello',
      TextBody: 'Hello, Ada',
      HtmlBody: '<img src="cid:b">',
      Headers: [
        { Name: 'X-Entity-Ref-ID', Value: '7' },
        { Name: 'List-Unsubscribe', Value: '<https://example.com/u>' },
        { Name: 'List-Unsubscribe-Post', Value: 'List-Unsubscribe=One-Click' },
      ],
      Attachments: [
        { Name: 'a.pdf', ContentType: 'application/pdf', Content: 'ZmlsZQ==' },
        { Name: 'b.png', ContentType: 'image/png', Content: 'AQ==', ContentID: 'cid:b' },
      ],
      Metadata: { submission: ID },
      MessageStream: 'broadcast',
    });
    expect({ reference, messageIds }).toEqual({
      reference: under.server.taken.at(-1)!.id,
      messageIds: undefined,
    });
    await submit([ADA]);
    expect(sent()).toMatchObject({ To: ADA, MessageStream: 'outbound' });
    await expect(submit([ADA], { text: 'x'.repeat(10_000_001) })).rejects.toMatchObject({
      code: 'content_too_long',
    });
  });

  it('inactive addresses of an email to several are rejected, and no other', async () => {
    const cc = [{ email: 'inactive@example.org' }];
    const to = [{ email: ADA }];
    const { rejected } = await submit([ADA, 'inactive@example.org', BEA], { to, cc });
    expect([...(rejected ?? [])]).toEqual([['inactive@example.org', '406']]);
    const alone = submit(['inactive@example.org']);
    await expect(alone).rejects.toBeInstanceOf(PermanentFailure);
    await expect(alone).rejects.toMatchObject({ code: '406' });
    await expect(alone).rejects.not.toThrow(/inactive@/);
  });

  it.each([
    [401, 10, PausedFailure, 'unauthorized'],
    [422, 405, PausedFailure, 'payment_required'],
    [422, 412, PausedFailure, 'account_restricted'],
    [429, 429, PausedFailure, 'throttled'],
    [422, 400, UnroutableFailure, 'sender_unknown'],
    [422, 300, PermanentFailure, '300'],
    [422, 1235, PermanentFailure, '1235'],
    [503, 100, RetryableFailure, '100'],
    [500, 0, UncertainFailure, '0'],
    [200, 300, PermanentFailure, '300'],
  ])('an answer %i with the error %i is classified', async (status, number, kind, code) => {
    under.server.refuse({ status, body: { ErrorCode: number, Message: 'x' } });
    const failed = submit([ADA]);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.not.toThrow(under.server.serverToken);
  });

  namesWrongOptions(postmark, { serverToken: 'k'.repeat(20) }, [
    ['serverToken', { serverToken: 'hunter2' }],
    ['messageStream', { messageStream: 'a stream' }],
  ]);
});

describe('postmarkParser', () => {
  const base = {
    MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
    ServerID: 23,
    MessageStream: 'outbound',
    Metadata: { submission: ID },
  };
  const read = (more: object) => {
    const { reports = [], errors } = postmarkParser().parse(
      callbackRequest({ body: { ...base, ...more } }),
    );
    expect(errors).toEqual([]);
    return reports[0];
  };
  const bounce = (Type: string, Details = '') =>
    read({
      RecordType: 'Bounce',
      ID: 42,
      Type,
      Details,
      Email: ADA,
      BouncedAt: '2026-11-05T16:33:54.9070259Z',
    });

  it('a delivery names submission, email and recipient', () => {
    expect(
      read({
        RecordType: 'Delivery',
        Recipient: ADA,
        DeliveredAt: '2026-11-05T11:33:54.9070259-05:00',
        Details: 'smtp;250 ok',
      }),
    ).toEqual({
      submissionId: ID,
      reference: base.MessageID,
      messageId: null,
      recipient: ADA,
      status: 'delivered',
      rawStatus: 'Delivery',
      errorCode: null,
      providerTime: new Date('2026-11-05T16:33:54.907Z'),
    });
  });

  it('a bounce has the category of its answer, or of its type', () => {
    expect(bounce('HardBounce', 'smtp;550 5.1.1 The account does not exist')).toMatchObject({
      recipient: ADA,
      status: 'bounced',
      rawStatus: 'HardBounce',
      errorCode: '5.1.1',
      details: { category: 'recipient', smtp_code: 550 },
    });
    const found = (type: string, details?: string) => {
      const report = bounce(type, details);
      return [report?.status, report?.details?.['category']];
    };
    expect(found('HardBounce')).toEqual(['bounced', 'recipient']);
    expect(found('HardBounce', 'smtp;550 5.7.1 blocked')).toEqual(['bounced', 'block']);
    expect(found('Blocked')).toEqual(['bounced', 'block']);
    expect(found('SoftBounce')).toEqual(['expired', 'other']);
    expect(found('SoftBounce', 'smtp;552 5.2.2 mailbox full')).toEqual(['bounced', 'mailbox_full']);
    expect(found('Transient', 'smtp;451 4.4.1 timeout')).toEqual(['delayed', 'other']);
    expect(found('AutoResponder')).toEqual([null, undefined]);
    expect(found('__proto__')).toEqual([null, undefined]);
  });

  it('complaints and unsubscriptions by the recipient are read, other records skipped', () => {
    expect(read({ RecordType: 'SpamComplaint', Email: ADA })).toMatchObject({
      recipient: ADA,
      status: 'complained',
    });
    const change = {
      RecordType: 'SubscriptionChange',
      Recipient: ADA,
      Origin: 'Recipient',
      SuppressSending: true,
      SuppressionReason: 'ManualSuppression',
    };
    expect(read(change)).toMatchObject({ recipient: ADA, status: 'unsubscribed' });
    expect(read({ ...change, SuppressSending: false })).toBeUndefined();
    expect(read({ ...change, SuppressionReason: 'HardBounce' })).toBeUndefined();
    expect(read({ ...change, Origin: 'Customer' })).toBeUndefined();
    for (const RecordType of ['Open', 'Click', 'Inbound'])
      expect(read({ RecordType, Recipient: ADA })).toBeUndefined();
  });
});
