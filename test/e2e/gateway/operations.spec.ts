import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MessagingService } from '@dundun/messaging';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

const SEND = '/ng/v1/sendsms';
const GOOD = { from: 'ACME', to: ['2348012345678', '2348012349901'], body: 'Hello' };

/** The sample of a metric with these labels, as they are written. */
async function sample(gateway: TestGateway, name: string): Promise<number | undefined> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

describe('a gateway in operation', () => {
  const gateway = new TestGateway({ LANE_STUCK_AFTER: '1m' });
  let token: string;
  beforeAll(async () => {
    await gateway.start();
    token = (await gateway.account()).apiToken;
  });
  afterAll(() => gateway.destroy());

  it('metrics count accepted and dispatched messages and their outcomes', async () => {
    const key = { 'idempotency-key': 'once' };
    for (let n = 0; n < 2; n++)
      expect((await gateway.call('POST', SEND, { token, body: GOOD, headers: key })).status).toBe(
        200,
      );
    expect(await sample(gateway, 'dundun_accepted_batches_total{channel="sms"}')).toBe(1);
    expect(await sample(gateway, 'dundun_accepted_messages_total{channel="sms"}')).toBe(2);
    // Each is counted as its own event comes, after its commit.
    await eventually(async () => {
      expect(await sample(gateway, 'dundun_outcomes_total{channel="sms",status="delivered"}')).toBe(
        1,
      );
      expect(
        await sample(gateway, 'dundun_outcomes_total{channel="sms",status="undelivered"}'),
      ).toBe(1);
      expect(await sample(gateway, 'dundun_dispatched_messages_total{channel="sms"}')).toBe(2);
      expect(
        await sample(gateway, 'dundun_report_lag_seconds_count{channel="sms"}'),
      ).toBeGreaterThanOrEqual(2);
    });
    expect(await sample(gateway, 'dundun_queue_age_seconds{class="normal"}')).toBe(0);
    expect(await sample(gateway, 'dundun_webhook_lag_seconds')).toBe(0);
  });

  it('the request id is in the answer and in the log line', async () => {
    const { headers } = await gateway.call('GET', '/ng/v1/sms', { token });
    const id = headers.get('x-request-id');
    expect(id).toMatch(/^req-/);
    await eventually(async () => {
      expect(gateway.log.filter((line) => line.includes(`"request":"${id}"`))).toHaveLength(1);
    });
  });

  it('readiness is red while due messages wait in a lane without a holder', async () => {
    const service = gateway.running.app.get(MessagingService, { strict: false });
    const { lanes } = service;
    const lane = {
      lane: 'x',
      pauseProvider: null,
      pauseReason: null,
      pauseDetail: null,
      pausedUntil: null,
      hold: null,
      doubt: null,
    };
    const ready = async (change: object): Promise<number> => {
      service.lanes = () =>
        Promise.resolve([{ ...lane, waiting: 61_000, leased: false, ...change }]);
      return (await gateway.call('GET', '/health/ready')).status;
    };
    try {
      expect(await ready({})).toBe(503);
      expect(await ready({ leased: true })).toBe(200);
      expect(await ready({ waiting: 59_000 })).toBe(200);
      expect(await ready({ pauseReason: 'unauthorized' })).toBe(200);
      const hold = { lanes: 'x', reason: 'account_suspended', since: new Date() };
      expect(await ready({ hold })).toBe(200);
    } finally {
      service.lanes = lanes;
    }
    expect((await gateway.call('GET', '/health/ready')).status).toBe(200);
  });
});

describe('a gateway that takes messages and sends none', () => {
  const gateway = new TestGateway({ RATE_LIMIT: '1/h' });
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  it('metrics show the waiting time and the lane of undispatched messages', async () => {
    const { apiToken: token } = await gateway.account();
    const to = Array.from({ length: 5_000 }, (_, n) => String(2_348_000_000_000 + n));
    await gateway.call('POST', SEND, { token, body: { ...GOOD, to } });
    await eventually(async () => {
      expect(await sample(gateway, 'dundun_queue_age_seconds{class="normal"}')).toBeGreaterThan(0);
      expect(await sample(gateway, 'dundun_lanes{state="working",reason=""}')).toBe(1);
    });
    const lanes = await gateway.running.app.get(MessagingService, { strict: false }).lanes();
    expect(lanes).toMatchObject([{ leased: true, pauseReason: null }]);
  });
});

describe('the metrics of a gateway', () => {
  const METRICS_TOKEN = 'metrics-token';
  const open = new TestGateway({ HOST: '0.0.0.0' });
  const guarded = new TestGateway({ HOST: '0.0.0.0', METRICS_TOKEN });
  const local = new TestGateway({ HOST: '127.0.0.1', METRICS_TOKEN });
  const all = [open, guarded, local];
  beforeAll(() => Promise.all(all.map((gateway) => gateway.start())));
  afterAll(() => Promise.all(all.map((gateway) => gateway.destroy())));

  const read = async (gateway: TestGateway, authorization?: string): Promise<number> => {
    const headers = new Headers(authorization === undefined ? {} : { authorization });
    return (await fetch(`${gateway.url}/metrics`, { headers })).status;
  };

  it('metrics on loopback need METRICS_TOKEN where it is set', async () => {
    expect(await read(local)).toBe(401);
    expect(await read(local, 'Bearer metrics-tokem')).toBe(401);
    expect(await read(local, 'Bearer metrics-token')).toBe(200);
  });

  it('metrics on a public address need METRICS_TOKEN', async () => {
    expect(await read(open)).toBe(401);
    expect(await read(open, 'Bearer undefined')).toBe(401);
    expect(await read(guarded)).toBe(401);
    expect(await read(guarded, 'Bearer metrics-tokem')).toBe(401);
    expect(await read(guarded, 'Bearer metrics-token')).toBe(200);
    for (const [gateway, remedy] of [
      [open, /until the operator sets METRICS_TOKEN/],
      [guarded, /Send METRICS_TOKEN/],
    ] as const)
      expect((await gateway.call('GET', '/metrics')).body).toMatchObject({
        error: { code: 'unauthorized', message: expect.stringMatching(remedy) },
      });
  });
});
