import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  namesWrongOptions,
  openProvider,
  providerContract,
  type ProviderUnderTest,
  smsTo,
} from '../../../../../test/support/providers/provider-contract.js';
import { AfricasTalkingServer } from '../../../../../test/support/providers/africas-talking-server.js';
import { PausedFailure, UncertainFailure, UnroutableFailure } from '../../message/errors.js';
import { africasTalking } from './africas-talking.transport.js';

const { signal } = new AbortController();
const [ADA, OBI, INVALID, BLOCKED] = [
  '2348012340001',
  '2348012340002',
  '2348012349901',
  '2348012349902',
];

providerContract(
  'africas-talking',
  () => new AfricasTalkingServer(),
  ({ options }) => africasTalking(options),
  { refused: { recipients: [INVALID!] }, refusedRecipient: INVALID!, polls: false },
);

describe('africasTalking', () => {
  let under: ProviderUnderTest<AfricasTalkingServer>;
  beforeAll(async () => {
    under = await openProvider(new AfricasTalkingServer(), ({ options }) =>
      africasTalking(options),
    );
  });
  afterAll(() => under.close());
  const submit = (...recipients: (string | undefined)[]) =>
    under.transport.submit(smsTo(recipients as string[], { sender: 'ACME' }), signal);

  it('several recipients are one form, and each gets the id of its own message', async () => {
    const { messageIds, rejected } = await submit(ADA, OBI);
    const { body, headers } = under.server.requests.at(-1)!;
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      username: 'acme',
      to: `+${ADA},+${OBI}`,
      message: 'Hi & bye',
      from: 'ACME',
      bulkSMSMode: '1',
    });
    expect(headers['apikey']).toBe(under.server.apiKey);
    expect(messageIds).toEqual(['ATXid_1', 'ATXid_2']);
    expect(rejected).toBeUndefined();
  });

  it('each recipient that is refused beside an accepted one has its reason', async () => {
    const { rejected, unroutable } = await submit(ADA, INVALID, BLOCKED, '2348012349905');
    expect([...(unroutable ?? [])]).toEqual(['2348012349905']);
    expect(Object.fromEntries(rejected ?? [])).toEqual({
      [INVALID!]: 'InvalidPhoneNumber',
      [BLOCKED!]: 'UserInBlacklist',
      2348012349905: 'not_routable',
    });
  });

  it('recipients that are all refused for good, for several reasons, each have their own reason', async () => {
    const { rejected } = await submit(INVALID, BLOCKED);
    expect([...(rejected?.values() ?? [])]).toEqual(['InvalidPhoneNumber', 'UserInBlacklist']);
  });

  it.each([
    ['9903', PausedFailure, 'payment_required'],
    ['9904', UnroutableFailure, 'sender_unknown'],
    ['9905', UnroutableFailure, 'not_routable'],
    ['9906', UncertainFailure, 'InternalServerError'],
  ])('the status of a number %s decides', async (end, kind, code) => {
    const failed = submit(`234801234${end}`);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
  });

  it('where no recipient was accepted, a temporary refusal decides for all', async () => {
    await expect(submit(INVALID, '2348012349903')).rejects.toBeInstanceOf(PausedFailure);
    await expect(submit('2348012349906', '2348012349903')).rejects.toBeInstanceOf(UncertainFailure);
  });

  it('a refusal of the whole request is read from its message', async () => {
    const failed = under.transport.submit(smsTo([ADA!], { sender: 'UNKNOWN' }), signal);
    await expect(failed).rejects.toMatchObject({ code: 'sender_unknown' });
  });

  it('a wrong key pauses the provider', async () => {
    const other = await openProvider(new AfricasTalkingServer(), ({ options }) =>
      africasTalking({ ...options, apiKey: 'atsk_another-key-than-its' }),
    );
    const failed = other.transport.submit(smsTo([ADA!]), signal);
    await expect(failed).rejects.toBeInstanceOf(PausedFailure);
    await expect(failed).rejects.toMatchObject({ code: 'unauthorized' });
    await other.close();
  });

  it('an answer without a recipient of the request is no acceptance', async () => {
    under.server.refuse({
      status: 201,
      body: {
        SMSMessageData: { Recipients: [{ statusCode: 101, number: `+${ADA}`, messageId: 'A' }] },
      },
    });
    await expect(submit(ADA, OBI)).rejects.toBeInstanceOf(UncertainFailure);
  });

  namesWrongOptions(africasTalking, { username: 'acme', apiKey: 'k'.repeat(16) }, [
    ['username', { username: 'hunter2 hunter2' }],
    ['apiKey', { apiKey: 'hunter2\n' }],
    ['maxRecipients', { maxRecipients: 0 }],
  ]);
});
