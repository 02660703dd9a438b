import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BirdServer } from '../../../../../test/support/providers/bird-server.js';
import {
  BATCH,
  namesWrongOptions,
  openProvider,
  providerContract,
  type ProviderUnderTest,
  smsTo,
} from '../../../../../test/support/providers/provider-contract.js';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  UncertainFailure,
} from '../../message/errors.js';
import { bird } from './bird.transport.js';

const TO = '2348012345678';
const ID = '96a0b5fa-a986-453d-be5c-000000000001';
const { signal } = new AbortController();

providerContract(
  'bird',
  () => new BirdServer(),
  ({ options }) => bird(options),
  { refused: { recipients: ['9912345678'] }, polls: true, most: 1 },
);

describe('bird', () => {
  let under: ProviderUnderTest<BirdServer>;
  beforeAll(async () => {
    under = await openProvider(new BirdServer(), ({ options }) => bird(options));
  });
  afterAll(() => under.close());

  it('an SMS names its submission, and leaves from the channel', async () => {
    const accepted = await under.transport.submit(smsTo([TO]), signal);
    expect(accepted).toEqual({ reference: ID, messageIds: [ID] });
    expect(under.server.taken.at(-1)!.request).toEqual({
      receiver: { contacts: [{ identifierKey: 'phonenumber', identifierValue: `+${TO}` }] },
      body: { type: 'text', text: { text: 'Hi & bye' } },
      reference: `${BATCH}-s0`,
    });
  });

  it.each([
    [400, 'InvalidRequest', PermanentFailure, 'InvalidRequest'],
    [422, 'InvalidPayload', PermanentFailure, 'InvalidPayload'],
    [401, 'Unauthorized', PausedFailure, 'unauthorized'],
    [404, 'ResourceNotFound', PausedFailure, 'unauthorized'],
    [403, 'Forbidden', PausedFailure, 'account_restricted'],
    [402, 'NotEnoughBalance', PausedFailure, 'payment_required'],
    [429, 'TooManyRequests', PausedFailure, 'throttled'],
    [503, 'Unavailable', UncertainFailure, 'http_503'],
    [500, 'InternalError', UncertainFailure, 'http_500'],
  ])('an answer %i with the code %s is classified', async (status, error, kind, code) => {
    under.server.refuse({ status, body: { code: error, message: `About ${TO}` } });
    const failed = under.transport.submit(smsTo([TO]), signal);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.not.toThrow(TO);
  });

  it.each([
    [401, '<html>', PausedUncertainFailure],
    [429, { message: 'Too many' }, PausedUncertainFailure],
    [422, { code: 422, message: 'x' }, UncertainFailure],
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
        errorCode: '15005',
        providerTime: new Date('2026-01-01T00:00:01Z'),
      },
    ]);
  });

  const { accessKey, workspaceId, channelId } = new BirdServer();
  namesWrongOptions(bird, { accessKey, workspaceId, channelId }, [
    ['accessKey', { accessKey: 'hunter2' }],
    ['workspaceId', { workspaceId: 'hunter2' }],
    ['channelId', { channelId: '../hunter2' }],
  ]);
});
