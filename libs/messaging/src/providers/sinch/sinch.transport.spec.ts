import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  BATCH,
  namesWrongOptions,
  openProvider,
  providerContract,
  type ProviderUnderTest,
  smsTo,
} from '../../../../../test/support/providers/provider-contract.js';
import { SinchServer } from '../../../../../test/support/providers/sinch-server.js';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import { sinch } from './sinch.transport.js';

const TO = '2348012345678';
const ID = '01FC66621XXXXX000000000001';
const { signal } = new AbortController();

providerContract(
  'sinch',
  () => new SinchServer(),
  ({ options }) => sinch(options),
  { refused: { recipients: ['9912345678'] }, polls: true, most: 1 },
);

describe('sinch', () => {
  let under: ProviderUnderTest<SinchServer>;
  beforeAll(async () => {
    under = await openProvider(new SinchServer(), ({ options }) =>
      sinch({ ...options, callbackUrl: 'https://app.example.com/dlr/sinch' }),
    );
  });
  afterAll(() => under.close());
  const poll = (changes: object = {}) =>
    under.transport.fetchReports?.(
      [{ ...smsTo([TO]), submissionId: `${BATCH}-s0`, reference: null, ...changes }],
      signal,
    );

  it('an SMS is a batch that names its submission and the address of its reports', async () => {
    const accepted = await under.transport.submit(smsTo([TO], { sender: 'ACME' }), signal);
    expect(accepted).toEqual({ reference: ID, messageIds: [ID] });
    expect(under.server.taken.at(-1)!.request).toEqual({
      type: 'mt_text',
      to: [TO],
      from: 'ACME',
      body: 'Hi & bye',
      client_reference: `${BATCH}-s0`,
      delivery_report: 'per_recipient',
      callback_url: 'https://app.example.com/dlr/sinch',
    });
  });

  it('without an address no callback is asked for, and without a sender the plan has its own', async () => {
    const other = await openProvider(new SinchServer(), ({ options }) => sinch(options));
    await other.transport.submit(smsTo([TO], { sender: '' }), signal);
    expect(Object.keys(other.server.taken[0]!.request)).toEqual([
      'type',
      'to',
      'body',
      'client_reference',
    ]);
    await other.close();
  });

  it.each([
    [400, 'syntax_invalid_parameter_format', PermanentFailure, 'syntax_invalid_parameter_format'],
    [403, 'unknown_campaign', PermanentFailure, 'unknown_campaign'],
    [403, 'illegal_number_type', UnroutableFailure, 'not_routable'],
    [403, 'blocked_account', PausedFailure, 'account_restricted'],
    [403, 'missing_callback_url', PausedFailure, 'account_restricted'],
  ])('an answer %i with the code %s is classified', async (status, error, kind, code) => {
    under.server.refuse({ status, body: { code: error, text: `About ${TO}` } });
    const failed = under.transport.submit(smsTo([TO]), signal);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.not.toThrow(TO);
  });

  it.each([
    [401, '', PausedUncertainFailure],
    [429, '', PausedUncertainFailure],
    [403, { code: 'forbidden' }, PausedUncertainFailure],
    [400, { code: 400, text: 'x' }, UncertainFailure],
    [500, '', UncertainFailure],
    [503, '', UncertainFailure],
  ])('an answer %i without the documented body is uncertain', async (status, body, kind) => {
    under.server.refuse({ status, body });
    await expect(under.transport.submit(smsTo([TO]), signal)).rejects.toBeInstanceOf(kind);
  });

  it('a poll by our id finds the report of a lost answer, once it is final', async () => {
    const submissionId = `${BATCH}-s7`;
    under.server.loseNextAnswer();
    const lost = smsTo([TO], { id: submissionId });
    await expect(under.transport.submit(lost, signal)).rejects.toBeInstanceOf(UncertainFailure);
    const batch = under.server.taken.at(-1)!;
    batch.status = 'Dispatched';
    expect(await poll({ submissionId })).toEqual([]);
    batch.status = 'Aborted';
    expect(await poll({ submissionId })).toEqual([
      {
        submissionId,
        reference: batch.id,
        messageId: batch.id,
        recipient: TO,
        status: 'failed',
        rawStatus: 'Aborted',
        errorCode: '402',
        providerTime: new Date('2026-01-01T00:00:01Z'),
      },
    ]);
    const { searchParams } = new URL(under.server.requests.at(-1)!.url, 'http://x');
    expect(Object.fromEntries(searchParams)).toEqual({
      client_reference: submissionId,
      start_date: '2025-12-31T23:00:00.000Z',
    });
  });

  namesWrongOptions(sinch, { servicePlanId: 'plan', apiToken: 't'.repeat(20) }, [
    ['servicePlanId', { servicePlanId: 'hunter2/..' }],
    ['apiToken', { apiToken: 'hunter2' }],
    ['callbackUrl', { callbackUrl: 'hunter2' }],
  ]);
});
