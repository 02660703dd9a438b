import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { VasService } from '@dundun/messaging';
import { randomUUID } from 'node:crypto';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type Answered, TestGateway } from './test-gateway.js';

describeOneDatabase('orders through the gateway', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: db.url }).start();
    account = gateway.running.demo as CreatedAccount;
  });
  afterAll(() => gateway.destroy());

  let numbers = 0;
  const number = (last = '0000'): string => `23481${String(++numbers).padStart(4, '0')}${last}`;
  const ask = (method: string, path: string, body?: object, of = account): Promise<Answered> =>
    gateway.call(method, `/ng/v1/vas${path}`, { token: of.apiToken, ...(body && { body }) });
  const order = (more: object = {}): object => ({
    to: number(),
    product: 'airtime-ng',
    amount: '100',
    currency: 'NGN',
    client_reference: randomUUID(),
    ...more,
  });
  const place = async (more: object = {}): Promise<string> => {
    const { status, body } = await ask('POST', '/orders', order(more));
    expect([status, body['error']]).toEqual([200, undefined]);
    return String(body['id']);
  };
  const reaches = (id: string, status: string) =>
    eventually(async () => {
      expect((await ask('GET', `/orders/${id}`)).body).toMatchObject({ status });
    });
  const refused = (status: number, code: string, path?: string): object => ({
    status,
    body: { error: { code, ...(path !== undefined && { details: [{ path }] }) } },
  });

  it('the simulated operator sells airtime and a bundle', async () => {
    const { status, body } = await ask('GET', '/products');
    expect([status, body['data']]).toEqual([
      200,
      [
        {
          id: 'airtime-ng',
          type: 'airtime',
          network: 'Simulated NG',
          name: 'Airtime',
          min: '50',
          max: '50000',
          currency: 'NGN',
          validity: null,
        },
        {
          id: 'data-ng-1gb',
          type: 'data',
          network: 'Simulated NG',
          name: '1 GB',
          amount: '300',
          currency: 'NGN',
          validity: '30d',
        },
      ],
    ]);
  });

  it('an order is delivered and reads back by its id and its reference', async () => {
    const client_reference = randomUUID();
    const id = await place({ client_reference });
    await reaches(id, 'delivered');
    const { body } = await ask('GET', `/orders/${id}`);
    expect(body).toEqual({
      id,
      client_reference,
      to: expect.stringMatching(/^23481/),
      type: 'airtime',
      product: 'airtime-ng',
      amount: '100',
      currency: 'NGN',
      network: null,
      status: 'delivered',
      cost: 100,
      delivered_amount: '100',
      operator_reference: expect.stringMatching(/^SIM-/),
      error_code: null,
      settlement: null,
      created_at: expect.any(String),
    });
    const found = await ask('GET', `/orders?client_reference=${client_reference}`);
    expect(found.body).toEqual({ data: [body], next_cursor: null });
    expect((await ask('GET', '/orders?client_reference=none')).body['data']).toEqual([]);
    expect((await ask('GET', '/orders?limit=1')).body['data']).toHaveLength(1);
    const other = await gateway.account('other');
    expect(await ask('GET', `/orders/${id}`, undefined, other)).toMatchObject(
      refused(404, 'not_found'),
    );
  });

  it('a repeated reference answers the first order, and other content is refused', async () => {
    const given = order();
    const first = await ask('POST', '/orders', given);
    const again = await ask('POST', '/orders', given);
    expect(again.body['id']).toBe(first.body['id']);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await ask('POST', '/orders', { ...given, amount: '200' })).toMatchObject(
      refused(422, 'idempotency_key_reused'),
    );
    const duplicate = { ...given, client_reference: randomUUID() };
    expect(await ask('POST', '/orders', duplicate)).toMatchObject(refused(409, 'duplicate_order'));
    expect(await ask('POST', '/orders', { ...duplicate, allow_duplicate: true })).toMatchObject({
      status: 200,
    });
  });

  it('fifty parallel posts of one order are one order', async () => {
    const given = order();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => ask('POST', '/orders', given)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1);
  });

  it.each([
    ['9901', 'failed'],
    ['9902', 'reversed'],
    ['9908', 'delivered'],
  ])('a number that ends in %s leads to %s', async (last, status) => {
    const id = await place({ to: number(last) });
    await reaches(id, status);
    expect((await ask('GET', `/orders/${id}`)).body).toMatchObject({ status });
  });

  it('an order whose answer was lost has its amounts once the operator is asked', async () => {
    const id = await place({ to: number('9908') });
    await reaches(id, 'delivered');
    expect((await ask('GET', `/orders/${id}`)).body).toMatchObject({
      cost: 100,
      delivered_amount: '100',
      operator_reference: expect.stringMatching(/^SIM-/),
    });
  });

  it('a number that ends in 9909 is unknown until a person settles it', async () => {
    const id = await place({ to: number('9909') });
    await reaches(id, 'unknown');
    const vas = gateway.running.app.get(VasService, { strict: false });
    await vas.settle(id, { as: 'failed', by: 'ada', tenant: account.accountId });
    expect((await ask('GET', `/orders/${id}`)).body).toMatchObject({
      status: 'failed',
      error_code: 'settled_by_operator',
      settlement: { as: 'failed', at: expect.any(String) },
    });
  });

  it.each<[string, object, string]>([
    ['an amount above the product', { amount: '99999999' }, 'amount'],
    ['a number as amount', { amount: 100 }, 'amount'],
    ['an amount of a bundle', { product: 'data-ng-1gb' }, 'amount'],
    ['an unknown product', { product: 'none' }, 'product'],
    ['another currency', { currency: 'USD' }, 'currency'],
    ['no reference', { client_reference: undefined }, 'client_reference'],
    ['a plus', { to: '+2348012345678' }, 'to'],
    ['an unknown field', { foo: 1 }, 'foo'],
  ])('%s is 422', async (_, more, path) => {
    expect(await ask('POST', '/orders', order(more))).toMatchObject(
      refused(422, 'invalid_field', path),
    );
  });

  it('orders are off for an account until an operator allows them, and caps hold', async () => {
    const other = await gateway.account('capped');
    const tenant = other.accountId;
    expect(await ask('POST', '/orders', order(), other)).toMatchObject(
      refused(403, 'vas_not_allowed'),
    );
    const vas = gateway.running.app.get(VasService, { strict: false });
    await vas.allow({ currency: 'NGN', daily: '250', perNumber: '150' }, { tenant });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ask('POST', '/orders', order(), other)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(answers.find(({ status }) => status !== 200)).toMatchObject(
      refused(422, 'cap_exceeded'),
    );
  });

  it('the metrics count open orders', async () => {
    const answer = await fetch(`${gateway.url}/metrics`);
    expect(await answer.text()).toMatch(/^dundun_open_orders 0$/m);
  });
});
