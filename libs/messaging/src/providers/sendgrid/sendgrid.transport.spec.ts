import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { generateKeyPairSync, sign } from 'node:crypto';
import { callbackRequest, proven } from '../../../../../test/support/callback-request.js';
import {
  BATCH,
  emailTo,
  mailContract,
  namesWrongOptions,
  openProvider,
  type ProviderUnderTest,
} from '../../../../../test/support/providers/provider-contract.js';
import { SendGridServer } from '../../../../../test/support/providers/sendgrid-server.js';
import {
  PausedFailure,
  PermanentFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import { sendgridParser, sendgridSignature } from './sendgrid.js';
import { sendgrid } from './sendgrid.transport.js';

const [ADA, BEA, CAT] = ['ada@example.org', 'bea@example.org', 'cat@example.org'] as const;
const ID = `${BATCH}-s0`;
const { signal } = new AbortController();

mailContract(
  'sendgrid',
  () => new SendGridServer(),
  ({ options }) => sendgrid(options),
);

describe('sendgrid', () => {
  let under: ProviderUnderTest<SendGridServer>;
  beforeAll(async () => {
    under = await openProvider(new SendGridServer(), ({ options }) => sendgrid(options));
  });
  afterAll(() => under.close());
  const submit = (...given: Parameters<typeof emailTo>) =>
    under.transport.submit(emailTo(...given), signal);
  const sent = () => JSON.parse(under.server.requests.at(-1)!.body) as Record<string, unknown>;

  it('there are no keys, and an email to several has at most 1,000', () => {
    expect(under.transport.capabilities).toMatchObject({
      channels: ['email'],
      maxRecipients: 1,
      maxShared: 1_000,
      idempotencyWindow: 0,
    });
  });

  it('an email leaves with all of its fields, and names its submission', async () => {
    const attachments = [
      { filename: 'a.pdf', contentType: 'application/pdf', content: Buffer.from('file') },
      { filename: 'b.png', contentType: 'image/png', contentId: 'b', content: Buffer.of(1) },
    ];
    const accepted = await submit(
      [ADA, BEA, CAT],
      {
        to: [{ email: ADA, name: 'Ada' }],
        cc: [{ email: BEA }],
        replyTo: [{ email: 'help@example.com', name: 'Help' }],
        html: '<img src="cid:b">',
        headers: { 'X-Entity-Ref-ID': '7' },
        category: 'marketing',
        unsubscribeUrl: 'https://example.com/u',
      },
      { attachments },
    );
    expect(sent()).toEqual({
      personalizations: [
        { to: [{ email: ADA, name: 'Ada' }], cc: [{ email: BEA }], bcc: [{ email: CAT }] },
      ],
      from: { email: 'shop@example.com', name: 'Shop' },
      reply_to_list: [{ email: 'help@example.com', name: 'Help' }],
      subject: 'Hello',
      content: [
        { type: 'text/plain', value: 'Hello, Ada' },
        { type: 'text/html', value: '<img src="cid:b">' },
      ],
      attachments: [
        {
          filename: 'a.pdf',
          type: 'application/pdf',
          content: 'ZmlsZQ==',
          disposition: 'attachment',
        },
        {
          filename: 'b.png',
          type: 'image/png',
          content: 'AQ==',
          disposition: 'inline',
          content_id: 'b',
        },
      ],
      headers: {
        'X-Entity-Ref-ID': '7',
        'List-Unsubscribe': '<https://example.com/u>',
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
      custom_args: { submission: ID },
    });
    expect(accepted).toEqual({ reference: ID });
    expect(await submit([ADA])).toEqual({
      reference: ID,
      messageIds: [under.server.taken.at(-1)!.id],
    });
  });

  it('a name that SendGrid takes apart leaves by another provider', async () => {
    const failed = submit([ADA], { to: [{ email: ADA, name: 'Doe, Ada' }] });
    await expect(failed).rejects.toBeInstanceOf(UnroutableFailure);
    await expect(failed).rejects.toMatchObject({ code: 'unsupported_content' });
  });

  it('a success without the id of an email proves nothing', async () => {
    under.server.refuse({ status: 202, body: '' });
    const failed = submit([ADA]);
    await expect(failed).rejects.toBeInstanceOf(UncertainFailure);
    await expect(failed).rejects.toMatchObject({ code: 'invalid_answer' });
  });

  it.each([
    [401, 'authorization grant is invalid', null, PausedFailure, 'unauthorized'],
    [401, 'Maximum credits exceeded', null, PausedFailure, 'payment_required'],
    [403, 'access forbidden', null, PausedFailure, 'unauthorized'],
    [403, 'The from address does not match', 'from', UnroutableFailure, 'sender_unknown'],
    [400, 'wrong', 'personalizations.0.to', PermanentFailure, 'personalizations.0.to'],
    [413, 'too large', null, PermanentFailure, 'http_413'],
    [429, 'too many requests', null, PausedFailure, 'throttled'],
    [500, 'x', null, UncertainFailure, 'http_500'],
    [503, 'x', null, UncertainFailure, 'http_503'],
  ])('an answer %i (%s) is classified', async (status, message, field, kind, code) => {
    under.server.refuse({ status, body: { errors: [{ message, field, help: null }] } });
    const failed = submit([ADA]);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.not.toThrow(under.server.apiKey);
  });

  namesWrongOptions(sendgrid, { apiKey: 'k'.repeat(20) }, [['apiKey', { apiKey: 'hunter2' }]]);
});

describe('sendgridParser', () => {
  const base = {
    email: ADA,
    timestamp: 1_513_299_569,
    'smtp-id': '<14c5d75ce93.dfd.64b469@ismtpd-555>',
    sg_event_id: 'sg_event_id',
    sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0',
    submission: ID,
  };
  const read = (...events: object[]) => {
    const body = events.map((event) => ({ ...base, ...event }));
    const { reports = [], errors } = sendgridParser().parse(callbackRequest({ body }));
    expect(errors).toEqual([]);
    return reports;
  };

  it('an event names submission and recipient', () => {
    expect(read({ event: 'delivered', response: '250 OK' })).toEqual([
      {
        submissionId: ID,
        reference: ID,
        messageId: null,
        recipient: ADA,
        status: 'delivered',
        rawStatus: 'delivered',
        errorCode: null,
        providerTime: new Date(1_513_299_569_000),
      },
    ]);
  });

  it('every event is a status, none, or kept raw', () => {
    const events = 'processed deferred dropped spamreport unsubscribe group_unsubscribe new';
    const reports = read(...events.split(' ').map((event) => ({ event })));
    expect(reports.map(({ status }) => status)).toEqual([
      'sent',
      'delayed',
      'rejected',
      'complained',
      'unsubscribed',
      'unsubscribed',
      null,
    ]);
    expect(read({ event: 'open' }, { event: 'click' }, { event: 'group_resubscribe' })).toEqual([]);
    expect(read({ event: 'delivered', submission: undefined })).toEqual([]);
    expect(read({ event: 'dropped', reason: 'Bounced Address' })[0]).toMatchObject({
      errorCode: 'Bounced Address',
    });
  });

  it('a bounce has the category of its answer, or of its classification', () => {
    const found = (more: object) => {
      const [report] = read({ event: 'bounce', type: 'bounce', ...more });
      return [report?.status, report?.errorCode, report?.details?.['category']];
    };
    expect(found({ reason: '550 5.1.1 user unknown', status: '5.1.1' })).toEqual([
      'bounced',
      '5.1.1',
      'recipient',
    ]);
    const full = { reason: '552 5.2.2 over quota', status: '5.2.2', type: 'blocked' };
    expect(found(full)).toEqual(['bounced', '5.2.2', 'mailbox_full']);
    expect(found({ reason: 'x', status: '4.7.0', type: 'blocked' })).toEqual([
      'expired',
      '4.7.0',
      'block',
    ]);
    expect(found({ bounce_classification: 'Invalid Address' })).toEqual([
      'bounced',
      null,
      'recipient',
    ]);
    expect(found({ bounce_classification: 'Technical Failure', type: 'blocked' })[0]).toBe(
      'expired',
    );
  });
});

describe('sendgridSignature', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const rawBody = Buffer.from('[{"event":"delivered"}]\r\n');
  const receivedAt = 1_600_112_600_000;
  const headers = {
    'x-twilio-email-event-webhook-timestamp': '1600112502',
    'x-twilio-email-event-webhook-signature': sign(
      'sha256',
      Buffer.concat([Buffer.from('1600112502'), rawBody]),
      privateKey,
    ).toString('base64'),
  };

  it('only the signed time and body pass', async () => {
    const verifier = sendgridSignature(key);
    const later = { ...headers, 'x-twilio-email-event-webhook-timestamp': '1600112503' };
    expect(
      await proven(verifier, [
        { headers, rawBody, receivedAt },
        { headers, rawBody, receivedAt: receivedAt + 4 * 86_400_000 },
        { headers, rawBody: Buffer.from('[{"event":"bounce"}]\r\n'), receivedAt },
        { headers: later, rawBody, receivedAt },
        { headers: {}, rawBody, receivedAt },
        { headers, rawBody, method: 'GET', receivedAt },
        {
          headers: { ...headers, 'x-twilio-email-event-webhook-signature': 'x' },
          rawBody,
          receivedAt,
        },
      ]),
    ).toEqual([true, false, false, false, false, false, false]);
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    const second = other.export({ format: 'der', type: 'spki' }).toString('base64');
    expect(
      await proven(sendgridSignature([second, key]), [{ headers, rawBody, receivedAt }]),
    ).toEqual([true]);
    expect(await proven(sendgridSignature(second), [{ headers, rawBody, receivedAt }])).toEqual([
      false,
    ]);
  });

  it('the published example passes', async () => {
    const event = {
      email: 'hello@world.com',
      event: 'dropped',
      reason: 'Bounced Address',
      sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
      sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
      'smtp-id': '<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>',
      timestamp: 1_600_112_492,
    };
    const verifier = sendgridSignature(
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
    );
    const given = {
      'x-twilio-email-event-webhook-timestamp': '1600112502',
      'x-twilio-email-event-webhook-signature':
        'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
    };
    const body = Buffer.from(`${JSON.stringify([event])}\r\n`);
    expect(await proven(verifier, [{ headers: given, rawBody: body, receivedAt }])).toEqual([true]);
  });

  it('a wrong key is named', () => {
    expect(() => sendgridSignature('hunter2')).toThrow(/^sendgridSignature\[0\]: /);
    expect(() => sendgridSignature('hunter2')).not.toThrow(/hunter2/);
  });
});
