import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { InterfaceServer } from '../../../../../test/support/interface-server.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import { PermanentFailure, UncertainFailure } from '../../message/errors.js';
import type { Submission } from '../../ports/message-transport.js';
import { http, type HttpTransport } from './http.transport.js';

const signal = new AbortController().signal;
let service: InterfaceServer;
let transport: HttpTransport;

beforeEach(async () => {
  service = await InterfaceServer.start();
  transport = http({ baseUrl: service.url, apiToken: service.apiToken })(
    transportContext(),
  ) as HttpTransport;
});
afterEach(async () => {
  await transport.onApplicationShutdown();
  await service.close();
});

const orderOf = (key: string, to = '2348012345678') =>
  ({
    id: `${key}-s0`,
    channel: 'vas',
    recipients: [to],
    deliveryReport: true,
    content: {
      kind: 'vas.airtime',
      product: 'airtime-ng',
      amount: '100',
      currency: 'NGN',
      network: null,
      key,
    },
  }) as unknown as Submission;
const failureOf = (order: Submission) =>
  transport.submit(order, signal).catch((error: unknown) => error);
const asked = (reference: string | null, submissionId = 'dundun-1-s0') => ({
  submissionId,
  channel: 'vas',
  reference,
  recipients: ['2348012345678'],
  firstSentAt: new Date(1_790_000_000_000),
});

it('an order has its key as client_reference, and a repetition is the same order', async () => {
  const first = await transport.submit(orderOf('dundun-1'), signal);
  expect(first).toMatchObject({ reference: 'dundun-1' });
  expect(await transport.submit(orderOf('dundun-1'), signal)).toEqual(first);
  expect(service.acceptedOrders.size).toBe(1);
  expect(JSON.parse(service.requests[0]?.body ?? '')).toEqual({
    to: '2348012345678',
    product: 'airtime-ng',
    amount: '100',
    currency: 'NGN',
    client_reference: 'dundun-1',
    delivery_report: 'yes',
    allow_duplicate: true,
  });
});

it('an order whose answer was lost is uncertain, and is found by its key', async () => {
  service.loseNextAnswer();
  expect(await failureOf(orderOf('dundun-1'))).toBeInstanceOf(UncertainFailure);
  const reports = await transport.fetchReports(
    [asked('dundun-1'), asked('none'), asked(null)],
    signal,
  );
  expect(reports).toMatchObject([
    {
      submissionId: 'dundun-1-s0',
      reference: 'dundun-1',
      status: 'delivered',
      recipient: '2348012345678',
    },
  ]);
  expect(service.acceptedOrders.size).toBe(1);
});

it('an answer about another order, or of a proxy, is uncertain', async () => {
  service.answer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"id":"1","client_reference":"dundun-2","status":"processing"}');
    return true;
  });
  expect(await failureOf(orderOf('dundun-1'))).toBeInstanceOf(UncertainFailure);
  service.answer(undefined);
  for (const status of [400, 404, 409, 422, 500, 502, 503]) {
    service.answerAsProxy({ status, body: '<html>' }, 'before acceptance');
    expect(await failureOf(orderOf('dundun-1'))).toBeInstanceOf(UncertainFailure);
  }
});

it('a refusal by the service is permanent', async () => {
  expect(await failureOf(orderOf('dundun-1', '2348012349903'))).toBeInstanceOf(PermanentFailure);
  expect(service.acceptedOrders.size).toBe(0);
});
