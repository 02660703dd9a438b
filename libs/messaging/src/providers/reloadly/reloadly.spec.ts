import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { MessageTransport, Submission } from '../../ports/message-transport.js';
import { ReloadlyServer } from '../../../../../test/support/reloadly-server.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import { reloadly } from './reloadly.js';

const signal = new AbortController().signal;

describe('orders at Reloadly', () => {
  let double: ReloadlyServer;
  let transport: MessageTransport;
  let url: string;

  beforeEach(async () => {
    double = new ReloadlyServer();
    url = await double.start();
    transport = make('right');
  });
  afterEach(() => double.stop());

  const make = (clientSecret: string) =>
    reloadly({ clientId: 'id', clientSecret, countries: ['NG'], baseUrl: url, authUrl: url })(
      transportContext(),
    );
  const order = (key = 'dundun-1') =>
    ({
      id: 'batch-s0',
      channel: 'vas',
      recipients: ['2348012345678'],
      content: {
        kind: 'vas.airtime',
        product: 'NG-341',
        amount: '100.5',
        currency: 'NGN',
        network: null,
        key,
      },
    }) as unknown as Submission;
  const sent = (reference: string | null) => ({
    submissionId: 'batch-s0',
    reference,
    channel: 'vas',
    recipients: ['2348012345678'],
    firstSentAt: new Date(),
  });
  const failure = () => transport.submit(order(), signal).catch((error: unknown) => error);
  const orders = () => double.asked.filter(({ path }) => path === '/topups-async');

  it('an order is sent in the operator’s currency under its key, with one token for all', async () => {
    expect(await transport.submit(order(), signal)).toEqual({
      reference: 'dundun-1',
      details: { operator_reference: '4600000' },
    });
    await transport.submit(order('dundun-2'), signal);
    expect(orders()[0]).toMatchObject({
      headers: {
        authorization: 'Bearer token-1',
        accept: 'application/com.reloadly.topups-v1+json',
      },
      body: {
        operatorId: '341',
        amount: '100.5',
        useLocalAmount: true,
        customIdentifier: 'dundun-1',
        recipientPhone: { countryCode: 'NG', number: '2348012345678' },
      },
    });
    expect(double.asked.filter(({ path }) => path === '/oauth/token')).toMatchObject([
      { body: { grant_type: 'client_credentials', audience: url } },
    ]);
  });

  it('a used identifier means that Reloadly has the order', async () => {
    await transport.submit(order(), signal);
    expect(await transport.submit(order(), signal)).toEqual({ reference: 'dundun-1' });
    expect(double.topups.size).toBe(1);
  });

  it('an order whose answer was lost is found by its key', async () => {
    double.refuse = () => 'hang up';
    expect(await failure()).toBeInstanceOf(UncertainFailure);
    double.topups.get('dundun-1')!.status = 'SUCCESSFUL';
    expect(await transport.fetchReports?.([sent('dundun-1'), sent('none')], signal)).toEqual([
      {
        submissionId: 'batch-s0',
        reference: 'dundun-1',
        messageId: null,
        recipient: '2348012345678',
        status: 'delivered',
        rawStatus: 'SUCCESSFUL',
        errorCode: null,
        providerTime: null,
        details: {
          operator_reference: 'op-7',
          cost: '97.5',
          currency: 'NGN',
          delivered_amount: '100',
        },
      },
    ]);
  });

  it.each([
    ['PROCESSING', 'processing'],
    ['FAILED', 'failed'],
    ['REFUNDED', 'failed'],
  ])('the status %s is %s', async (status, expected) => {
    await transport.submit(order(), signal);
    double.topups.get('dundun-1')!.status = status;
    expect(await transport.fetchReports?.([sent('dundun-1')], signal)).toMatchObject([
      { status: expected, rawStatus: status },
    ]);
  });

  it.each([
    [400, 'INVALID_RECIPIENT_PHONE', PermanentFailure],
    [400, 'INSUFFICIENT_BALANCE', PausedFailure],
    [400, 'TRANSACTION_CANNOT_BE_PROCESSED_AT_THE_MOMENT', UncertainFailure],
    [429, 'TOO_MANY_REQUESTS', PausedFailure],
    [500, 'PROVIDER_INTERNAL_ERROR', UncertainFailure],
    [503, 'OPERATOR_UNAVAILABLE_OR_CURRENTLY_INACTIVE', RetryableFailure],
    [401, 'INVALID_TOKEN', PausedFailure],
  ])('%i %s has its own meaning', async (status, errorCode, expected) => {
    double.refuse = () => ({ status, body: { errorCode, message: 'no' } });
    expect(await failure()).toBeInstanceOf(expected);
  });

  it.each([400, 404, 500, 502, 503])(
    'a %i without the error form of Reloadly is uncertain',
    async (status) => {
      double.refuse = () => ({ status, body: '<html>proxy</html>' });
      expect(await failure()).toBeInstanceOf(UncertainFailure);
    },
  );

  it('wrong credentials pause before any order leaves', async () => {
    const wrong = make('wrong');
    await expect(wrong.submit(order(), signal)).rejects.toThrow(PausedFailure);
    expect(orders()).toEqual([]);
  });

  it('products are the operators that sell in their own currency', async () => {
    const one = { network: 'MTN Nigeria Data', type: 'data', currency: 'NGN', validity: null };
    expect(await transport.products?.(signal)).toEqual([
      {
        id: 'NG-341',
        type: 'airtime',
        network: 'MTN Nigeria',
        name: 'MTN Nigeria',
        amount: null,
        min: '50',
        max: '50000.5',
        currency: 'NGN',
        validity: null,
      },
      {
        ...one,
        id: 'NG-345-100',
        name: 'MTN Nigeria Data 100 NGN',
        amount: '100',
        min: null,
        max: null,
      },
      {
        ...one,
        id: 'NG-345-1000',
        name: 'MTN Nigeria Data 1000 NGN',
        amount: '1000',
        min: null,
        max: null,
      },
    ]);
  });
});
