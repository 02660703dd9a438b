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
import {
  payloadOf,
  telnyxError,
  TelnyxServer,
} from '../../../../../test/support/providers/telnyx-server.js';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  RetryableFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import { telnyxParser } from './telnyx.js';
import { telnyx } from './telnyx.transport.js';

const TO = '2348012345678';
const ID = '40385f64-5717-4562-b3fc-000000000001';
const messagingProfileId = '740572b6-099c-44a1-89b9-6c92163bc68d';
const { signal } = new AbortController();

providerContract(
  'telnyx',
  () => new TelnyxServer(),
  ({ options }) => telnyx(options),
  { refused: { recipients: ['9912345678'] }, polls: true, most: 1 },
);

describe('telnyx', () => {
  let under: ProviderUnderTest<TelnyxServer>;
  beforeAll(async () => {
    under = await openProvider(new TelnyxServer(), ({ options }) =>
      telnyx({ ...options, callbackUrl: 'https://app.example.com/dlr/telnyx' }),
    );
  });
  afterAll(() => under.close());

  it('an SMS has an address of webhooks that names the submission', async () => {
    const accepted = await under.transport.submit(smsTo([TO]), signal);
    expect(accepted).toEqual({ reference: ID, messageIds: [ID] });
    expect(under.server.taken.at(-1)!.request).toEqual({
      type: 'SMS',
      to: `+${TO}`,
      from: '+2348000000001',
      text: 'Hi & bye',
      webhook_url: `https://app.example.com/dlr/telnyx?submission=${BATCH}-s0`,
    });
  });

  it('a name and a short code are senders without a plus, and a profile sends without any', async () => {
    const other = await openProvider(new TelnyxServer(), ({ options }) =>
      telnyx({ ...options, messagingProfileId }),
    );
    for (const sender of ['ACME', '22334', ''])
      await other.transport.submit(smsTo([TO], { sender }), signal);
    const sent = other.server.taken.map(({ request }) => request);
    expect(sent.map(({ from }) => from)).toEqual(['ACME', '22334', undefined]);
    expect(sent[2]).toMatchObject({ messaging_profile_id: messagingProfileId });
    await other.close();
  });

  it.each([
    [400, '40310', PermanentFailure, '40310'],
    [400, '40302', PermanentFailure, '40302'],
    [400, '40305', UnroutableFailure, 'sender_unknown'],
    [400, '40309', UnroutableFailure, 'not_routable'],
    [401, '10009', PausedFailure, 'unauthorized'],
    [403, '20013', PausedFailure, 'account_restricted'],
    [403, '20100', PausedFailure, 'payment_required'],
    [429, '40333', PausedFailure, 'account_restricted'],
    [429, '10011', PausedFailure, 'throttled'],
    [400, '40318', PausedFailure, 'throttled'],
    [400, '40320', RetryableFailure, '40320'],
    [503, '10037', RetryableFailure, '10037'],
    [500, '10007', UncertainFailure, '10007'],
  ])('an answer %i with the code %s is classified', async (status, error, kind, code) => {
    under.server.refuse({ status, body: telnyxError(error, `About ${TO}`) });
    const failed = under.transport.submit(smsTo([TO]), signal);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.not.toThrow(TO);
  });

  it.each([
    [401, '<html>', PausedUncertainFailure],
    [400, { errors: [{ code: '40310' }] }, UncertainFailure],
    [400, { errors: [{ code: 'invalid', title: 'x' }] }, UncertainFailure],
  ])('an answer %i in another form is no proof of a refusal', async (status, body, kind) => {
    under.server.refuse({ status, body });
    await expect(under.transport.submit(smsTo([TO]), signal)).rejects.toBeInstanceOf(kind);
  });

  it('a poll reads status and error of a message', async () => {
    await under.transport.submit(smsTo([TO]), signal);
    const message = under.server.taken.at(-1)!;
    message.status = 'delivery_failed';
    const query = { ...smsTo([TO]), submissionId: `${BATCH}-s0`, reference: message.id };
    expect(await under.transport.fetchReports?.([query], signal)).toEqual([
      {
        submissionId: `${BATCH}-s0`,
        reference: message.id,
        messageId: message.id,
        recipient: TO,
        status: 'undelivered',
        rawStatus: 'delivery_failed',
        errorCode: '40008',
        providerTime: null,
      },
    ]);
  });

  it('a webhook names the submission of the address in its body, and no other', () => {
    const webhook_url = `https://app.example.com/dlr/telnyx?submission=${BATCH}-s0`;
    const read = (address: string | null) => {
      const request = { to: `+${TO}`, webhook_url: address };
      const payload = payloadOf({ id: ID, request, status: 'delivered' });
      const body = { data: { event_type: 'message.finalized', record_type: 'event', payload } };
      const query = { submission: 'another' };
      return telnyxParser().parse(callbackRequest({ body, query })).reports;
    };
    expect(read(webhook_url)).toMatchObject([{ submissionId: `${BATCH}-s0`, messageId: ID }]);
    for (const none of [null, 'https://app.example.com/dlr/telnyx'])
      expect(read(none)?.[0]).not.toHaveProperty('submissionId');
  });

  namesWrongOptions(telnyx, { apiKey: 'k'.repeat(20) }, [
    ['apiKey', { apiKey: 'hunter2' }],
    ['messagingProfileId', { messagingProfileId: 'hunter2' }],
    ['callbackUrl', { callbackUrl: 'hunter2' }],
  ]);
});
