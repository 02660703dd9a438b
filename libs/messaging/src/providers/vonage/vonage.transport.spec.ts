import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callbackRequest } from '../../../../../test/support/callback-request.js';
import {
  BATCH,
  namesWrongOptions,
  openProvider,
  providerContract,
  type ProviderUnderTest,
  smsTo,
} from '../../../../../test/support/providers/provider-contract.js';
import { problem, VonageServer } from '../../../../../test/support/providers/vonage-server.js';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import { vonageParser } from './vonage.js';
import { vonage } from './vonage.transport.js';

const TO = '2348012345678';
const { signal } = new AbortController();
const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const applicationId = 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab';

providerContract(
  'vonage',
  () => new VonageServer(),
  ({ options }) => vonage(options),
  { refused: { recipients: ['9912345678'] }, polls: false },
);

providerContract(
  'vonage with its Reports API',
  () => Object.assign(new VonageServer(), { now: () => new Date(1_790_000_000_000) }),
  ({ options }) => vonage({ ...options, reportsApi: true }),
  { refused: { recipients: ['9912345678'] }, polls: true, most: 1 },
);

describe('the Reports API of vonage', () => {
  let under: ProviderUnderTest<VonageServer>;
  beforeAll(async () => {
    under = await openProvider(new VonageServer(), ({ options }) =>
      vonage({ ...options, applicationId, privateKey, reportsApi: true }),
    );
    under.server.publicKey = publicKey;
    for (let n = 0; n < 3; n++)
      await under.transport.submit(smsTo([TO], { id: `${BATCH}-s${n}` }), signal);
  });
  afterAll(() => under.close());
  const lost = (n: number, firstSentAt = new Date()) => {
    const submissionId = `${BATCH}-s${n}`;
    return { submissionId, reference: null, channel: 'sms', recipients: [TO], firstSentAt };
  };
  const answered = (n: number) => ({ ...lost(n), reference: under.server.records[n]!.id });
  const poll = (...asked: (ReturnType<typeof lost> | ReturnType<typeof answered>)[]) =>
    under.transport.fetchReports?.(asked, signal);

  it('a message without an answer is found by our submission on any page', async () => {
    under.server.mostOnPage = 1;
    const id = under.server.records[2]!.id;
    expect(await poll(lost(2))).toEqual([
      {
        submissionId: `${BATCH}-s2`,
        reference: id,
        messageId: id,
        recipient: TO,
        status: 'sent',
        rawStatus: 'submitted',
        errorCode: null,
        providerTime: expect.any(Date),
      },
    ]);
    under.server.mostOnPage = 1_000;
  });

  it('a message that never arrived, or has no record yet, has no report', async () => {
    expect(await poll(lost(3))).toEqual([]);
    expect(await poll(lost(1, new Date(Date.now() - 3_600_000)))).toEqual([]);
  });

  it('messages with ids share a question', async () => {
    under.server.records[1]!.status = 'delivered';
    const before = under.server.requests.length;
    expect(await poll(answered(0), answered(1))).toMatchObject([
      { submissionId: `${BATCH}-s0`, status: 'sent' },
      { submissionId: `${BATCH}-s1`, status: 'delivered' },
    ]);
    expect(under.server.requests.length - before).toBe(1);
  });

  it.each([
    [429, JSON.stringify(problem('#rate-limit')), PausedFailure],
    [503, '<html>', UncertainFailure],
    [403, JSON.stringify(problem('#forbidden')), PausedFailure],
  ])('an answer %i is a failure, and no report', async (status, body, kind) => {
    under.server.answer((_request, response) => void response.writeHead(status).end(body));
    await expect(poll(lost(0))).rejects.toBeInstanceOf(kind);
    under.server.answer(undefined);
    expect(await poll(lost(0))).toHaveLength(1);
  });
});

describe('vonage', () => {
  let under: ProviderUnderTest<VonageServer>;
  beforeAll(async () => {
    under = await openProvider(new VonageServer(), ({ options }) =>
      vonage({ ...options, callbackUrl: 'https://app.example.com/dlr/vonage' }),
    );
  });
  afterAll(() => under.close());

  it('an SMS names its submission and the address of its statuses', async () => {
    const accepted = await under.transport.submit(smsTo([TO], { sender: 'ACME' }), signal);
    const id = 'aaaaaaaa-bbbb-4ccc-8ddd-000000000001';
    expect(accepted).toEqual({ reference: id, messageIds: [id] });
    expect(under.server.taken).toEqual([
      {
        channel: 'sms',
        from: 'ACME',
        to: TO,
        message_type: 'text',
        text: 'Hi & bye',
        client_ref: `${BATCH}-s0`,
        webhook_url: 'https://app.example.com/dlr/vonage',
        webhook_version: 'v1',
      },
    ]);
  });

  it('a WhatsApp template has its language and its parameters', async () => {
    const content = {
      kind: 'template',
      template: 'order_ready',
      language: 'en_GB',
      params: ['Ada'],
    };
    const message = smsTo([TO], { channel: 'whatsapp', content } as object);
    await under.transport.submit(message, signal);
    expect(under.server.taken.at(-1)).toMatchObject({
      channel: 'whatsapp',
      message_type: 'template',
      template: { name: 'order_ready', parameters: ['Ada'] },
      whatsapp: { policy: 'deterministic', locale: 'en_GB' },
    });
  });

  it('an application signs its requests with its private key', async () => {
    const server = new VonageServer();
    server.publicKey = publicKey;
    const other = await openProvider(server, ({ url: baseUrl }) =>
      vonage({ applicationId, privateKey, baseUrl }),
    );
    await other.transport.submit(smsTo([TO]), signal);
    await other.transport.submit(smsTo([TO]), signal);
    const [first, second] = server.requests.map(({ headers }) => headers.authorization ?? '');
    expect(second).toBe(first);
    const [, claims = ''] = first!.split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      application_id: applicationId,
    });
    await other.close();
  });

  it.each([
    [422, '/messages#1170', PermanentFailure, '1170'],
    [422, '/messages#1240', PermanentFailure, '1240'],
    [422, '/messages#1120', UnroutableFailure, 'sender_unknown'],
    [422, '/messages#1250', UnroutableFailure, 'not_routable'],
    [429, '/messages#1000', PausedFailure, 'throttled'],
    [402, '/messages#1070', PausedFailure, 'payment_required'],
    [403, '/messages#1060', PausedFailure, 'account_restricted'],
    [401, '#unauthorized', PausedFailure, 'unauthorized'],
    [403, '#account-suspended', PausedFailure, 'account_restricted'],
    [422, '/messages#1100', RetryableFailure, '1100'],
    [500, '/messages#1030', UncertainFailure, '1030'],
  ])('an answer %i with the type %s is classified', async (status, error, kind, code) => {
    under.server.refuse({ status, body: problem(error) });
    const failed = under.transport.submit(smsTo([TO]), signal);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
  });

  it('an error of another service, in the same form, is no proof of a refusal', async () => {
    const type = 'https://proxy.example.com/errors#1120';
    under.server.refuse({ status: 422, body: { type, title: 'x' } });
    await expect(under.transport.submit(smsTo([TO]), signal)).rejects.toBeInstanceOf(
      UncertainFailure,
    );
  });

  it('an SMS that is too long for Vonage is refused before it leaves', async () => {
    const before = under.server.requests.length;
    const long = smsTo([TO], { content: { kind: 'text', text: 'x'.repeat(1_001) } });
    await expect(under.transport.submit(long, signal)).rejects.toMatchObject({
      code: 'content_too_long',
    });
    expect(under.server.requests).toHaveLength(before);
  });

  it('a status names the submission by client_ref', () => {
    const body = {
      message_uuid: 'aaaaaaaa-bbbb-4ccc-8ddd-000000000001',
      to: TO,
      from: 'ACME',
      timestamp: '2026-01-01T00:00:00.000Z',
      status: 'delivered',
      client_ref: `${BATCH}-s0`,
    };
    expect(vonageParser().parse(callbackRequest({ body })).reports).toMatchObject([
      { submissionId: `${BATCH}-s0`, status: 'delivered' },
    ]);
  });

  namesWrongOptions(vonage, {}, [
    ['apiKey', {}],
    ['apiSecret', { apiKey: 'abcd1234' }],
    ['privateKey', { applicationId }],
    ['privateKey', { applicationId, privateKey: 'hunter2' }],
    ['applicationId', { applicationId: 'hunter2', privateKey }],
    ['reportsApi', { applicationId, privateKey, reportsApi: true }],
    ['callbackUrl', { apiKey: 'abcd1234', apiSecret: 'secret-1234', callbackUrl: 'hunter2' }],
  ]);
});
