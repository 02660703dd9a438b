import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { MessageTransport, Submission } from '../../ports/message-transport.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import { reloadly } from './reloadly.js';

interface Asked {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Reloadly's published behaviour: tokens, operators, top-ups, and their history. */
class Double {
  readonly asked: Asked[] = [];
  readonly topups = new Map<string, { readonly transactionId: number; status: string }>();
  /** Answers a top-up in place of the double. */
  refuse: (() => { status: number; body: object | string } | 'hang up') | undefined;
  token = 'token-1';
  #server: Server | undefined;

  async start(): Promise<string> {
    this.#server = createServer((request, response) => {
      let text = '';
      request.on('data', (part: Buffer) => (text += part.toString()));
      request.on('end', () => {
        const path = request.url ?? '';
        const body = (text === '' ? {} : JSON.parse(text)) as Asked['body'];
        this.asked.push({ path, headers: request.headers, body });
        const answer = this.#answer(path, body, request.headers.authorization);
        if (answer === 'hang up') return request.socket.destroy();
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
      });
    });
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  #answer(path: string, body: Asked['body'], authorization?: string) {
    if (path === '/oauth/token')
      return body['client_secret'] === 'right'
        ? { status: 200, body: { access_token: this.token, expires_in: 86_400 } }
        : { status: 401, body: { errorCode: 'INVALID_CREDENTIALS', message: 'no' } };
    if (authorization !== `Bearer ${this.token}`)
      return { status: 401, body: { errorCode: 'INVALID_TOKEN', message: 'no' } };
    if (path.startsWith('/operators/countries/NG')) return { status: 200, body: OPERATORS };
    if (path.startsWith('/topups/reports')) {
      const key = new URL(path, 'http://x').searchParams.get('customIdentifier') ?? '';
      const found = this.topups.get(key);
      const topup = found && {
        ...found,
        customIdentifier: key,
        operatorTransactionId: 'op-7',
        requestedAmount: 97.5,
        requestedAmountCurrencyCode: 'NGN',
        deliveredAmount: 100,
      };
      return { status: 200, body: { content: topup ? [topup] : [] } };
    }
    const key = String(body['customIdentifier']);
    if (this.topups.has(key))
      return {
        status: 400,
        body: { errorCode: 'CUSTOM_IDENTIFIER_ALREADY_USED', message: 'has already been used' },
      };
    const refused = this.refuse?.();
    if (refused && refused !== 'hang up') return refused;
    const transactionId = 4_600_000 + this.topups.size;
    this.topups.set(key, { transactionId, status: 'PROCESSING' });
    return refused ?? { status: 200, body: { transactionId } };
  }
}

const OPERATORS = [
  {
    operatorId: 341,
    name: 'MTN Nigeria',
    data: false,
    bundle: false,
    denominationType: 'RANGE',
    supportsLocalAmounts: true,
    senderCurrencyCode: 'USD',
    destinationCurrencyCode: 'NGN',
    localMinAmount: 50,
    localMaxAmount: 50_000.5,
    minAmount: 0.1,
    maxAmount: 110,
  },
  {
    operatorId: 345,
    name: 'MTN Nigeria Data',
    data: true,
    denominationType: 'FIXED',
    supportsLocalAmounts: true,
    senderCurrencyCode: 'USD',
    destinationCurrencyCode: 'NGN',
    fixedAmounts: [0.3, 2],
    localFixedAmounts: [100, 1_000],
  },
  {
    operatorId: 9,
    name: 'Dollars alone',
    denominationType: 'RANGE',
    supportsLocalAmounts: false,
    senderCurrencyCode: 'USD',
    destinationCurrencyCode: 'NGN',
    minAmount: 1,
    maxAmount: 2,
  },
];

const signal = new AbortController().signal;

describe('orders at Reloadly', () => {
  let double: Double;
  let transport: MessageTransport;
  let url: string;

  beforeEach(async () => {
    double = new Double();
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

  it('an identifier that was used before means that the order arrived', async () => {
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
    'a %i that is not Reloadly’s proves nothing',
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
