import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import twilio from 'twilio';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { RecordingServer } from '../../support/recording-server.js';
import { ReloadlyServer } from '../../support/reloadly-server.js';
import { type Answered, TestGateway } from './test-gateway.js';

const CALLER = '2348000000001';
const ACCOUNT = `AC${'a1'.repeat(16)}`;
const TOKEN = 'f'.repeat(32);
/** Address of the proxy through which Twilio reaches the gateway. */
const ORIGIN = 'https://gateway.example';

describeOneDatabase('a gateway whose calls go through Twilio', (db) => {
  let sids = 0;
  const server = new RecordingServer((_request, response) => {
    response.writeHead(201, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ sid: sidOf(++sids), status: 'queued' }));
  });
  let gateway: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    await server.listen();
    gateway = await new TestGateway({
      DATABASE_URL: db.url,
      VOICE_CARRIER: 'twilio',
      TWILIO_ACCOUNT_SID: ACCOUNT,
      TWILIO_AUTH_TOKEN: TOKEN,
      TWILIO_CALLBACK_URL: ORIGIN,
      TWILIO_URL: server.url,
    }).start();
    account = gateway.running.demo as CreatedAccount;
  });
  afterAll(async () => {
    await gateway?.destroy();
    await server.close();
  });

  const sidOf = (n: number): string => `CA${String(n).padStart(32, '0')}`;
  let numbers = 0;
  const call = async (more: object = {}) => {
    const to = `23480${String(++numbers).padStart(8, '0')}`;
    const sent = await gateway.call('POST', '/ng/v1/voice/calls', {
      token: account.apiToken,
      body: { from: CALLER, to: [to], text: 'Hello', delivery_report: 'yes', ...more },
    });
    expect([sent.status, sent.body['error']]).toEqual([200, undefined]);
    return { id: String(sent.body['reference_id']), to };
  };
  const read = async (id: string) =>
    (await gateway.call('GET', `/ng/v1/voice/calls/${id}`, { token: account.apiToken })).body;
  const formsTo = (to: string) =>
    server.requests
      .filter(({ method }) => method === 'POST')
      .map(({ body }) => new URLSearchParams(body))
      .filter((form) => form.get('To') === `+${to}`);
  const formTo = async (to: string) => {
    await eventually(async () => expect(formsTo(to)).toHaveLength(1));
    return formsTo(to)[0] as URLSearchParams;
  };
  /** Twilio's callback to an address of a form, signed by its own library. */
  const callBack = (address: string, fields: Record<string, string>, token = TOKEN) => {
    const path = address.slice(ORIGIN.length);
    expect(address).toBe(ORIGIN + path);
    return fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': twilio.getExpectedTwilioSignature(token, address, fields),
      },
      body: new URLSearchParams(fields),
    });
  };
  const fieldsOf = (to: string, sid: string, more: Record<string, string>) => ({
    CallSid: sid,
    AccountSid: ACCOUNT,
    To: `+${to}`,
    Timestamp: 'Thu, 01 Jan 2026 00:01:04 +0000',
    ...more,
  });

  it('signed callbacks bring a call to its end, and forged ones are refused', async () => {
    const { id, to } = await call();
    const form = await formTo(to);
    expect(form.get('From')).toBe(`+${CALLER}`);
    const address = form.get('StatusCallback') ?? '';
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'initiated' }));
    const sid = sidOf(sids);
    const ended = fieldsOf(to, sid, { CallStatus: 'completed', CallDuration: '61' });
    expect((await callBack(address, ended, '0'.repeat(32))).status).toBe(401);
    expect(await read(id)).toMatchObject({ status: 'initiated' });
    for (const CallStatus of ['completed', 'ringing', 'in-progress'])
      expect((await callBack(address, { ...ended, CallStatus })).status).toBe(204);
    // 61 s at 60/60 are two blocks of a minute.
    expect(await read(id)).toMatchObject({
      status: 'completed',
      duration: 61,
      billed_seconds: 120,
      cost: 30,
      currency: 'NGN',
    });
  });

  it('a call whose answer was lost is unknown, is not dialled again, and ends by its callback', async () => {
    server.loseNextAnswer();
    const { id, to } = await call({ redial: { times: 3, after: 1 } });
    const form = await formTo(to);
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'unknown' }));
    const address = form.get('StatusCallback') ?? '';
    const busy = fieldsOf(to, sidOf(sids), { CallStatus: 'busy', CallDuration: '0' });
    expect((await callBack(address, busy)).status).toBe(204);
    expect(await read(id)).toMatchObject({ status: 'busy', attempts: 1, cost: 0 });
    // Another call passes by, and no second form of the first one.
    const next = await call();
    await formTo(next.to);
    expect(formsTo(to)).toHaveLength(1);
  });

  it('pressed digits are read back, and the answer to them ends the call', async () => {
    const { id, to } = await call({ collect: { max_digits: 1 } });
    const form = await formTo(to);
    const [, address = ''] = /action="([^"]+)"/.exec(form.get('Twiml') ?? '') ?? [];
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'initiated' }));
    const pressed = fieldsOf(to, sidOf(sids), { CallStatus: 'in-progress', Digits: '4' });
    const answer = await callBack(address, pressed);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/xml'),
    ]);
    expect(await answer.text()).toContain('<Response></Response>');
    expect(await read(id)).toMatchObject({ digits: '4' });
  });

  it.each([
    ['machine_start', '<Hangup/>', 'machine'],
    ['fax', '<Hangup/>', 'fax'],
    ['human', '<Say loop="1">8, 4, 2, 1</Say>', 'human'],
  ])('a call that hangs up on machines, answered by %s, gets %s', async (by, verb, answeredBy) => {
    const { id, to } = await call({ text: undefined, code: '8421', machine: 'hangup' });
    const form = await formTo(to);
    expect([form.get('MachineDetection'), form.get('Method')]).toEqual(['Enable', 'POST']);
    const address = form.get('Url') ?? '';
    expect(form.get('Twiml')).toBeNull();
    const sealed = new URL(address).searchParams.get('twiml') ?? '';
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('Say');
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'initiated' }));
    const asked = fieldsOf(to, sidOf(sids), { CallStatus: 'in-progress', AnsweredBy: by });
    expect((await callBack(address, asked, '0'.repeat(32))).status).toBe(401);
    const answer = await callBack(address, asked);
    expect([answer.status, await answer.text()]).toEqual([
      200,
      `<?xml version="1.0" encoding="UTF-8"?><Response>${verb}</Response>`,
    ]);
    expect(await read(id)).toMatchObject({ status: 'answered' });
    const ended = { ...asked, CallStatus: 'completed', CallDuration: '3' };
    expect((await callBack(form.get('StatusCallback') ?? '', ended)).status).toBe(204);
    expect(await read(id)).toMatchObject({ status: 'completed', answered_by: answeredBy });
  });

  it('a form above the limit of callbacks is 413, and one to another path is 415', async () => {
    const post = (path: string, body: string) =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body,
      });
    const path = '/messaging/delivery-reports/twilio';
    expect((await post(path, `a=${'b'.repeat(1_048_576)}`)).status).toBe(413);
    expect((await post(path, 'CallSid=CA1&CallStatus=completed')).status).toBe(401);
    expect((await post('/ng/v1/voice/calls', 'from=1')).status).toBe(415);
  });
});

describeOneDatabase('a gateway whose orders go to Reloadly', (db) => {
  const reloadly = new ReloadlyServer();
  let gateway: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    const url = await reloadly.start();
    gateway = await new TestGateway({
      DATABASE_URL: db.url,
      VAS_CARRIER: 'reloadly',
      RELOADLY_CLIENT_ID: 'id',
      RELOADLY_CLIENT_SECRET: 'right',
      RELOADLY_COUNTRIES: 'NG',
      RELOADLY_URL: url,
      RELOADLY_AUTH_URL: url,
    }).start();
    account = gateway.running.demo as CreatedAccount;
  });
  afterAll(async () => {
    await gateway?.destroy();
    await reloadly.stop();
  });

  let numbers = 0;
  const ask = (method: string, path: string, body?: object): Promise<Answered> =>
    gateway.call(method, `/ng/v1/vas${path}`, {
      token: account.apiToken,
      ...(body && { body }),
    });
  const order = (): object => ({
    to: `23481${String(++numbers).padStart(8, '0')}`,
    product: 'NG-341',
    amount: '100.5',
    client_reference: randomUUID(),
  });
  const place = async (given = order()): Promise<string> => {
    const { status, body } = await ask('POST', '/orders', given);
    expect([status, body['error']]).toEqual([200, undefined]);
    return String(body['id']);
  };
  const reaches = (id: string, expected: object) =>
    eventually(async () =>
      expect((await ask('GET', `/orders/${id}`)).body).toMatchObject(expected),
    );
  const orders = () => reloadly.asked.filter(({ path }) => path === '/topups-async');
  const settle = (status: string) => {
    for (const topup of reloadly.topups.values()) topup.status = status;
  };

  it('the products are those of the listed countries', async () => {
    const { body } = await ask('GET', '/products');
    const [first] = body['data'] as object[];
    expect(first).toMatchObject({ id: 'NG-341', type: 'airtime', min: '50', currency: 'NGN' });
  });

  it('fifty parallel posts of an order are one top-up, which is polled until it arrived', async () => {
    const given = order();
    const before = orders().length;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => ask('POST', '/orders', given)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const id = String(answers[0]?.body['id']);
    await reaches(id, { status: 'processing' });
    settle('SUCCESSFUL');
    await reaches(id, {
      status: 'delivered',
      cost: 100.5,
      delivered_amount: '100',
      operator_reference: 'op-7',
    });
    expect(orders()).toHaveLength(before + 1);
  });

  it('an order whose answer was lost is unknown, is not sent again, and is found by its key', async () => {
    const before = orders().length;
    reloadly.refuse = () => 'hang up';
    const id = await place();
    await reaches(id, { status: 'unknown' });
    reloadly.refuse = undefined;
    settle('SUCCESSFUL');
    await reaches(id, { status: 'delivered' });
    expect(orders()).toHaveLength(before + 1);
  });

  it('a refused number is rejected with the code of Reloadly', async () => {
    const errorCode = 'INVALID_RECIPIENT_PHONE';
    reloadly.refuse = () => ({ status: 400, body: { errorCode, message: 'no' } });
    const id = await place();
    await reaches(id, { status: 'rejected' });
    const { body } = await ask('GET', `/orders/${id}`);
    expect(body).toMatchObject({ error_code: 'invalid_recipient_phone', cost: 0 });
    reloadly.refuse = undefined;
  });

  it('no log has the credentials or a whole number', async () => {
    const log = gateway.log.join('');
    expect(log).not.toContain('token-1');
    expect(log).not.toMatch(/23481\d{8}/);
  });
});
