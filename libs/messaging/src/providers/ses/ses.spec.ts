import { beforeAll, describe, expect, it } from '@jest/globals';
import { sign } from 'node:crypto';
import { callbackRequest, proven } from '../../../../../test/support/callback-request.js';
import { type Certificate, certificates } from '../../../../../test/support/certificates.js';
import { UnsupportedCallbackTypeError } from '../../callbacks/callback-body.js';
import { sesParser } from './ses.js';
import { snsSignature } from '../sns/sns-signature.js';

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail';
const HOST = 'https://sns.eu-west-1.amazonaws.com';
const CERTIFICATE = `${HOST}/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem`;
const ADA = 'ada@example.org';
const ID = '01993021-0000-7000-8000-000000000000-s0';

describe('sesParser', () => {
  const event = (eventType: string, more: object = {}) => ({
    eventType,
    mail: {
      timestamp: '2026-08-05T00:40:02.012Z',
      messageId: 'EXAMPLE7c191be45-e9aedb9a-000000',
      destination: [ADA],
      tags: { submission: [ID], 'ses:configuration-set': ['mail'] },
    },
    ...more,
  });
  const parsed = (content: unknown, asText = false) => {
    const message = { Type: 'Notification', TopicArn: TOPIC, Message: JSON.stringify(content) };
    const body = asText ? JSON.stringify(message) : message;
    return sesParser().parse(callbackRequest({ body }));
  };
  const read = (content: unknown) => {
    const { reports = [], errors } = parsed(content);
    expect(errors).toEqual([]);
    return reports[0];
  };
  const bounce = (bounceType: string, bounceSubType: string, more: object = {}) =>
    read(
      event('Bounce', {
        bounce: {
          bounceType,
          bounceSubType,
          bouncedRecipients: [{ emailAddress: ADA, action: 'failed', ...more }],
          timestamp: '2026-08-05T00:41:02.669Z',
          reportingMTA: 'dsn; mta.example.com',
        },
      }),
    );

  it('a delivery names submission, email and recipient, as JSON and as a text', () => {
    const delivery = { timestamp: '2026-08-05T00:41:02.669Z', recipients: [ADA] };
    const report = {
      submissionId: ID,
      reference: 'EXAMPLE7c191be45-e9aedb9a-000000',
      messageId: null,
      recipient: ADA,
      status: 'delivered',
      rawStatus: 'Delivery',
      errorCode: null,
      providerTime: new Date('2026-08-05T00:41:02.669Z'),
    };
    expect(read(event('Delivery', { delivery }))).toEqual(report);
    expect(parsed(event('Delivery', { delivery }), true).reports).toEqual([report]);
  });

  it('a bounce has the category of its answer, or of its sub-type', () => {
    const diagnosticCode = 'smtp; 550 5.1.1 user unknown';
    expect(bounce('Permanent', 'General', { status: '5.1.1', diagnosticCode })).toMatchObject({
      recipient: ADA,
      status: 'bounced',
      errorCode: '5.1.1',
      details: { category: 'recipient', smtp_code: 550, enhanced_code: '5.1.1' },
    });
    expect(bounce('Permanent', 'NoEmail')).toMatchObject({
      status: 'bounced',
      details: { category: 'recipient' },
    });
    expect(bounce('Transient', 'MailboxFull')).toMatchObject({
      status: 'expired',
      details: { category: 'mailbox_full' },
    });
    expect(bounce('Permanent', 'OnAccountSuppressionList')).toMatchObject({
      status: 'rejected',
      errorCode: 'OnAccountSuppressionList',
    });
  });

  it('every event is a status, none, or kept raw', () => {
    const complaint = (more: object) =>
      read(
        event('Complaint', {
          complaint: { complainedRecipients: [{ emailAddress: ADA }], ...more },
        }),
      );
    expect(complaint({ complaintFeedbackType: 'abuse' })).toMatchObject({
      recipient: ADA,
      status: 'complained',
    });
    expect(complaint({ complaintFeedbackType: 'not-spam' })).toBeUndefined();
    expect(complaint({ complaintSubType: 'OnAccountSuppressionList' })?.status).toBe('rejected');
    const delay = {
      delayType: 'MailboxFull',
      delayedRecipients: [{ emailAddress: ADA, status: '4.2.2' }],
    };
    expect(read(event('DeliveryDelay', { deliveryDelay: delay }))).toMatchObject({
      recipient: ADA,
      status: 'delayed',
      details: { category: 'mailbox_full', enhanced_code: '4.2.2' },
    });
    expect(read(event('Send', { send: {} }))).toMatchObject({ status: 'sent', recipient: null });
    expect(read(event('Reject', { reject: { reason: 'Bad content' } }))).toMatchObject({
      status: 'rejected',
      errorCode: 'Bad content',
    });
    expect(read(event('Rendering Failure'))?.status).toBe('failed');
    expect(read(event('New'))).toMatchObject({ status: null, rawStatus: 'New' });
    for (const type of ['Open', 'Click', 'Subscription']) expect(read(event(type))).toBeUndefined();
  });

  it('other messages of SNS are skipped, another body is none', () => {
    const first = { Type: 'Notification', Message: 'Successfully validated SNS topic' };
    for (const body of [first, { Type: 'SubscriptionConfirmation', Message: '{}' }])
      expect(sesParser().parse(callbackRequest({ body }))).toEqual({ reports: [], errors: [] });
    for (const body of [undefined, 'x', '[]', {}])
      expect(() => sesParser().parse(callbackRequest({ body }))).toThrow('no message of SNS');
  });
});

describe('snsSignature', () => {
  let valid: Certificate;
  let old: Certificate;
  beforeAll(async () => {
    const made = await certificates({
      valid: { name: 'sns.amazonaws.com' },
      old: { name: 'sns.amazonaws.com', isExpired: true },
    });
    [valid, old] = [made.of['valid']!, made.of['old']!];
  });

  const MESSAGE = {
    Type: 'Notification',
    MessageId: '165545c9-2a5c-472c-8df2-7ff2be2b3b1b',
    TopicArn: TOPIC,
    Message: '{}',
    Timestamp: new Date().toISOString(),
    SignatureVersion: '2',
    SigningCertURL: CERTIFICATE,
  };
  const signed = (more: Readonly<Record<string, string>> = {}, key = valid.key) => {
    const message: Record<string, string> = { ...MESSAGE, ...more };
    const names = 'Message MessageId Subject SubscribeURL Timestamp Token TopicArn Type'.split(' ');
    const text = names
      .map((name) => (name in message ? `${name}\n${message[name]}\n` : ''))
      .join('');
    const hash = message['SignatureVersion'] === '1' ? 'sha1' : 'sha256';
    return { ...message, Signature: sign(hash, Buffer.from(text), key).toString('base64') };
  };
  const opened = (certificate = valid) => {
    const asked: string[] = [];
    const get = async (url: string) => (asked.push(url), certificate.cert);
    return { asked, verifier: snsSignature({ topicArn: TOPIC, get }) };
  };

  it('only messages that the certificate signs for the topic pass; it is fetched once', async () => {
    const { asked, verifier } = opened();
    const message = signed();
    const bodies: unknown[] = [
      message,
      JSON.stringify(message),
      signed({ Subject: 'Amazon SES', SignatureVersion: '1' }),
      { ...message, Message: '{"eventType":"Bounce"}' },
      { ...message, Signature: undefined },
      { ...signed(), SignatureVersion: '3' },
      { ...signed(), SignatureVersion: 'constructor' },
      signed({ TopicArn: 'arn:aws:sns:eu-west-1:999999999999:mail' }),
      signed({ Timestamp: new Date(Date.now() - 2 * 86_400_000).toISOString() }),
      'x',
    ];
    const results: boolean[] = [];
    for (const body of bodies) results.push(...(await proven(verifier, [{ body }])));
    expect(results).toEqual([true, true, true, ...Array.from({ length: 7 }, () => false)]);
    expect(await proven(verifier, [{ method: 'GET', body: message }])).toEqual([false]);
    expect(asked).toEqual([CERTIFICATE]);
  });

  it.each([
    CERTIFICATE.replace('https:', 'http:'),
    CERTIFICATE.replace('eu-west-1', 'us-east-1'),
    CERTIFICATE.replace('.com/', '.com.example.org/'),
    CERTIFICATE.replace('https://', 'https://user@'),
    CERTIFICATE.replace('.com/', '.com:8443/'),
    'https://bucket.s3.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
    `${HOST}/?Action=GetTopicAttributes`,
    `${HOST}/other.pem`,
  ])('no request goes to %s', async (SigningCertURL) => {
    const { asked, verifier } = opened();
    expect(await proven(verifier, [{ body: signed({ SigningCertURL }) }])).toEqual([false]);
    expect(asked).toEqual([]);
  });

  it('a subscription of the topic is confirmed, at SNS alone', async () => {
    const { asked, verifier } = opened();
    const url = `${HOST}/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=t`;
    const of = (SubscribeURL: string) => ({
      body: signed({ Type: 'SubscriptionConfirmation', Token: 't', SubscribeURL }),
    });
    expect(await proven(verifier, [of(url)])).toEqual([true]);
    expect(asked).toEqual([CERTIFICATE, new URL(url).href]);
    const others = [
      url.replace(HOST, 'https://example.org'),
      url.replace('ConfirmSubscription', 'Unsubscribe'),
    ];
    expect(await proven(verifier, others.map(of))).toEqual([false, false]);
    const forged = { ...of(url).body, Token: 'another' };
    expect(await proven(verifier, [{ body: forged }])).toEqual([false]);
    expect(asked).toHaveLength(2);
  });

  it('a certificate that has expired, or cannot be had, verifies nothing, and is asked for again after a minute', async () => {
    const { verifier } = opened(old);
    await expect(proven(verifier, [{ body: signed({}, old.key) }])).rejects.toThrow(/expired/);
    let fails = true;
    const get = async () => {
      if (fails) throw new Error('SNS is away');
      return valid.cert;
    };
    const away = snsSignature({ topicArn: [TOPIC], get });
    await expect(proven(away, [{ body: signed() }])).rejects.toThrow('SNS is away');
    fails = false;
    await expect(proven(away, [{ body: signed() }])).rejects.toThrow('could not be had');
    const receivedAt = Date.now() + 61_000;
    expect(await proven(away, [{ body: signed(), receivedAt }])).toEqual([true]);
  });

  it('each certificate is fetched once, and few at the same time', async () => {
    const answers = new Map<string, (pem: string) => void>();
    const get = (url: string) => new Promise<string>((resolve) => answers.set(url, resolve));
    const verifier = snsSignature({ topicArn: TOPIC, get });
    const [one, same] = [0, 1].map(() => proven(verifier, [{ body: signed() }]));
    const strange = (n: number) =>
      proven(verifier, [
        { body: signed({ SigningCertURL: CERTIFICATE.replace('abcdef.pem', `00000${n}.pem`) }) },
      ]);
    const others = [1, 2, 3, 4, 5, 6, 7].map(strange);
    await expect(strange(8)).rejects.toThrow('others are fetched');
    answers.get(CERTIFICATE)?.(valid.cert);
    expect(await Promise.all([one, same])).toEqual([[true], [true]]);
    expect(answers.size).toBe(8);
    for (const answer of answers.values()) answer(valid.cert);
    await Promise.all(others);
  });

  it('a message that is signed for another topic does not pass as one of ours in any form', async () => {
    const { verifier } = opened();
    const evil = 'arn:aws:sns:eu-west-1:666666666666:evil';
    const theirs = signed({ TopicArn: evil });
    const { Timestamp } = MESSAGE;
    const asArray = {
      ...theirs,
      Timestamp: `${Timestamp}\nTopicArn\n${evil}`,
      TopicArn: [TOPIC],
    };
    const Message = `X\nMessageId\n1\nTimestamp\n${Timestamp}\nTopicArn\n${TOPIC}\nType\nNotification`;
    const longer = signed({ TopicArn: evil, Message });
    const rest = `MessageId\n${MESSAGE.MessageId}\nTimestamp\n${Timestamp}\nTopicArn\n${evil}`;
    const asType = {
      ...longer,
      Message: 'X',
      MessageId: '1',
      TopicArn: TOPIC,
      Type: `Notification\n${rest}\nType\nNotification`,
    };
    const odd = { ...theirs, TopicArn: { toString: 1 } };
    const bodies = [asArray, asType, odd].map((body) => ({ body }));
    expect(await proven(verifier, bodies)).toEqual([false, false, false]);
  });

  it('a body that the platform did not read is of another type', async () => {
    const headers = { 'content-type': 'text/plain', 'content-length': '2' };
    await expect(proven(opened().verifier, [{ headers }])).rejects.toBeInstanceOf(
      UnsupportedCallbackTypeError,
    );
  });

  it.each(['hunter2', 'arn:aws:sqs:eu-west-1:123456789012:mail', []])(
    'a wrong topicArn %j is named',
    (topicArn) => {
      expect(() => snsSignature({ topicArn })).toThrow(/^snsSignature\.topicArn: /);
    },
  );
});
