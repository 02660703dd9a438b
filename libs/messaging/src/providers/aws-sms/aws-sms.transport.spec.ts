import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AwsSmsServer, exception } from '../../../../../test/support/providers/aws-sms-server.js';
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
  UnroutableFailure,
} from '../../message/errors.js';
import { awsSms, type AwsSmsOptions } from './aws-sms.transport.js';

const TO = '2348012345678';
const ID = '862a8790-60c0-4430-9b2b-000000000001';
const { signal } = new AbortController();

providerContract(
  'aws-sms',
  () => new AwsSmsServer(),
  ({ options }) => awsSms(options),
  { refused: { recipients: ['9912345678'] }, polls: false, most: 1 },
);

describe('awsSms', () => {
  let under: ProviderUnderTest<AwsSmsServer>;
  const open = (changes: Partial<AwsSmsOptions> = {}) =>
    openProvider(new AwsSmsServer(), ({ options }) => awsSms({ ...options, ...changes }));
  beforeAll(async () => {
    under = await open();
  });
  afterAll(() => under.close());

  it('an SMS is a signed request whose context names the submission', async () => {
    const accepted = await under.transport.submit(smsTo([TO]), signal);
    expect(accepted).toEqual({ reference: ID, messageIds: [ID] });
    expect(under.server.taken.at(-1)!.request).toEqual({
      DestinationPhoneNumber: `+${TO}`,
      OriginationIdentity: '+2348000000001',
      MessageBody: 'Hi & bye',
      Context: { submission: `${BATCH}-s0` },
    });
    expect(under.server.requests.at(-1)!.headers).toMatchObject({
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'PinpointSMSVoiceV2.SendTextMessage',
    });
  });

  it('a name is a sender, a pool takes its place, and a set and a type go with the message', async () => {
    const other = await open({
      poolId: 'pool-0123456789abcdef',
      configurationSet: 'sms',
      messageType: 'TRANSACTIONAL',
    });
    await other.transport.submit(smsTo([TO], { sender: 'ACME' }), signal);
    expect(other.server.taken[0]!.request).toMatchObject({
      OriginationIdentity: 'pool-0123456789abcdef',
      ConfigurationSetName: 'sms',
      MessageType: 'TRANSACTIONAL',
    });
    await other.close();
    for (const sender of ['ACME', '']) {
      await under.transport.submit(smsTo([TO], { sender }), signal);
      const { OriginationIdentity = '' } = under.server.taken.at(-1)!.request;
      expect(OriginationIdentity).toBe(sender);
    }
  });

  it('a function gives the credentials of each request, with a session token', async () => {
    const server = new AwsSmsServer();
    const tokens = ['token-1', 'token-2'];
    const other = await openProvider(server, ({ options }) =>
      awsSms({
        ...options,
        credentials: () => {
          server.credentials = { ...options.credentials, sessionToken: tokens.shift() };
          return Promise.resolve(server.credentials);
        },
      }),
    );
    await other.transport.submit(smsTo([TO]), signal);
    await other.transport.submit(smsTo([TO]), signal);
    expect(server.requests.map(({ headers }) => headers['x-amz-security-token'])).toEqual([
      'token-1',
      'token-2',
    ]);
    await other.close();
  });

  it.each([
    ['that fails', () => Promise.reject(new Error('hunter2'))],
    [
      'that throws',
      () => {
        throw new Error('hunter2');
      },
    ],
    ['with no keys', () => ({ accessKeyId: 'hunter2', secretAccessKey: 'hunter2' })],
  ])(
    'with a function of credentials %s nothing leaves, and the lane pauses',
    async (_, credentials) => {
      const other = await open({ credentials });
      const failed = other.transport.submit(smsTo([TO]), signal);
      await expect(failed).rejects.toBeInstanceOf(PausedFailure);
      await expect(failed).rejects.toMatchObject({ code: 'unauthorized' });
      await expect(failed).rejects.not.toThrow(/hunter2/);
      expect(other.server.requests).toHaveLength(0);
      await other.close();
    },
  );

  it('a wrong key pauses the lane', async () => {
    const { credentials } = new AwsSmsServer();
    const other = await open({ credentials: { ...credentials, secretAccessKey: 'w'.repeat(40) } });
    await expect(other.transport.submit(smsTo([TO]), signal)).rejects.toMatchObject({
      code: 'unauthorized',
    });
    await other.close();
  });

  it.each([
    ['ValidationException', 'INVALID_PARAMETER', PermanentFailure, 'INVALID_PARAMETER'],
    ['ValidationException', 'SENDER_ID_NOT_REGISTERED', UnroutableFailure, 'sender_unknown'],
    ['ValidationException', 'DESTINATION_COUNTRY_BLOCKED', UnroutableFailure, 'not_routable'],
    [
      'ConflictException',
      'DESTINATION_PHONE_NUMBER_OPTED_OUT',
      PermanentFailure,
      'DESTINATION_PHONE_NUMBER_OPTED_OUT',
    ],
    ['ResourceNotFoundException', undefined, UnroutableFailure, 'sender_unknown'],
    ['AccessDeniedException', 'ACCOUNT_DISABLED', PausedFailure, 'account_restricted'],
    ['AccessDeniedException', 'SOMETHING_NEW', PausedFailure, 'account_restricted'],
    ['ServiceQuotaExceededException', 'SOMETHING_NEW', PausedFailure, 'account_restricted'],
    ['ExpiredTokenException', undefined, PausedFailure, 'unauthorized'],
    ['ThrottlingException', undefined, PausedFailure, 'throttled'],
    ['InternalServerException', undefined, UncertainFailure, 'InternalServerException'],
    ['SerializationException', undefined, PermanentFailure, 'SerializationException'],
  ])('an exception %s for the reason %s is classified', async (name, reason, kind, code) => {
    under.server.refuse(exception(name, reason));
    const failed = under.transport.submit(smsTo([TO]), signal);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
  });

  it.each([
    [403, { message: 'Forbidden' }, PausedUncertainFailure],
    [429, '', PausedUncertainFailure],
    [400, { __type: 'x y', Reason: 'INVALID_PARAMETER' }, UncertainFailure],
    [400, { Reason: 'INVALID_PARAMETER' }, UncertainFailure],
  ])('an answer %i without an exception is no proof of a refusal', async (status, body, kind) => {
    under.server.refuse({ status, body });
    await expect(under.transport.submit(smsTo([TO]), signal)).rejects.toBeInstanceOf(kind);
  });

  const { region, credentials } = new AwsSmsServer();
  namesWrongOptions(awsSms, { region, credentials }, [
    ['region', { region: 'hunter2' }],
    ['credentials', { credentials: 'hunter2' }],
    ['credentials.accessKeyId', { credentials: { ...credentials, accessKeyId: 'hunter2' } }],
    ['poolId', { poolId: 'hunter2 hunter2' }],
    ['configurationSet', { configurationSet: 'hunter2 hunter2' }],
    ['messageType', { messageType: 'hunter2' }],
    ['baseUrl', { baseUrl: 'https://user:hunter2@example.com' }],
  ]);
});
