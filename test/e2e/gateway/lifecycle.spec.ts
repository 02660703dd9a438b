import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MessagingService } from '@dundun/messaging';
import { once } from 'node:events';
import { connect } from 'node:net';
import { DataSource } from 'typeorm';
import { EnvironmentError, readEnvironment } from '../../../src/config/environment.js';
import { startGateway } from '../../../src/gateway.js';
import { PinoLogger } from '../../../src/http/pino.logger.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Credential } from '../../../src/accounts/accounts.tables.js';
import { TestGateway } from './test-gateway.js';

describeOneDatabase('a gateway that stops and starts again', (db) => {
  let gateway: TestGateway;
  beforeAll(() => {
    gateway = new TestGateway({ DATABASE_URL: db.url });
  });
  afterAll(() => gateway.destroy());

  it('a restarted gateway creates no second demo account and keeps its data', async () => {
    await gateway.start();
    const { demo } = gateway.running;
    const token = String(demo?.apiToken);
    const body = {
      from: 'ACME',
      to: ['2348012345678'],
      body: 'Later',
      send_at: '2150-01-01T00:00:00Z',
    };
    const headers = { 'idempotency-key': 'order-1' };
    const sent = await gateway.call('POST', '/ng/v1/sendsms', { token, body, headers });
    const id = String(sent.body['reference_id']);
    await gateway.stop();

    await gateway.start();
    expect(gateway.running.demo).toBeUndefined();
    const again = await gateway.call('POST', '/ng/v1/sendsms', { token, body, headers });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(sent.body);
    const batch = await gateway.call('GET', `/ng/v1/sms/${id}`, { token });
    expect(batch).toMatchObject({ status: 200, body: { status: 'scheduled', body: 'Later' } });
    const moved = await gateway.call('PATCH', `/ng/v1/sms/${id}`, {
      token,
      body: { send_at: '2020-01-01T00:00:00Z' },
    });
    expect(moved.status).toBe(200);
    await eventually(async () => {
      const { body } = await gateway.call('GET', `/ng/v1/sms/${id}`, { token });
      expect(body['counts']).toEqual({ delivered: 1 });
    });
  });

  it('in production the gateway refuses old tables and names the migration command', async () => {
    await gateway.stop();
    const source = await db.open();
    await source.query("DELETE FROM migrations WHERE name LIKE 'Accounts%'");
    await source.destroy();
    const environment = readEnvironment({
      NODE_ENV: 'production',
      SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
      DATABASE_URL: db.url,
      PORT: '0',
    });
    const start = startGateway(environment, new PinoLogger('silent', { write: () => undefined }));
    await expect(start).rejects.toThrow(EnvironmentError);
    await expect(start).rejects.toThrow(/Accounts1700000001000.*npm run migration:run/);
  });
});

describe('a running gateway', () => {
  const gateway = new TestGateway();
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  it('a running gateway is live and ready with database and lanes', async () => {
    expect(await gateway.call('GET', '/health/live')).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    });
    expect(await gateway.call('GET', '/health/ready')).toMatchObject({
      status: 200,
      body: {
        status: 'ok',
        details: { database: { status: 'up' }, lanes: { status: 'up', busy: 0, paused: {} } },
      },
    });
  });

  it('readiness names the part that is down', async () => {
    const source = gateway.running.app.get(DataSource, { strict: false });
    const { query } = source;
    source.query = () => Promise.reject(new Error('connect ECONNREFUSED 10.1.2.3:5432'));
    const answer = await gateway.call('GET', '/health/ready');
    source.query = query;
    expect(answer).toMatchObject({
      status: 503,
      body: { status: 'error', details: { database: { status: 'down', reason: 'no_answer' } } },
    });
    expect(JSON.stringify(answer.body)).not.toMatch(/ECONN|10\.1\.2\.3/);
    expect(gateway.log.join('')).toContain('connect ECONNREFUSED 10.1.2.3:5432');
    expect((await gateway.call('GET', '/health/live')).status).toBe(200);
  });

  it('readiness names the reason of a pause in a fixed word', async () => {
    const service = gateway.running.app.get(MessagingService, { strict: false });
    const { lanes } = service;
    const paused = { lane: 'x', pauseProvider: 'http', pauseDetail: null, pausedUntil: null };
    const lane = (pauseReason: string) => ({
      ...paused,
      pauseReason,
      waiting: 0,
      leased: false,
      hold: null,
      doubt: null,
    });
    const codes = ['unauthorized', 'user bob at 10.1.2.3', 'x'];
    service.lanes = () => Promise.resolve(codes.map(lane));
    const named = await gateway.call('GET', '/health/ready');
    service.lanes = () => Promise.reject(new Error('no route to host 10.1.2.3'));
    const unread = await gateway.call('GET', '/health/ready');
    service.lanes = lanes;
    expect(named).toMatchObject({ status: 200, body: { status: 'degraded' } });
    const { lanes: shown } = named.body['details'] as { lanes: Record<string, unknown> };
    expect(shown['paused']).toEqual({ unauthorized: 1, other: 2 });
    expect(unread).toMatchObject({
      status: 503,
      body: { details: { lanes: { status: 'down', reason: 'store_unreadable' } } },
    });
    expect(JSON.stringify(unread.body)).not.toContain('10.1.2.3');
    expect(gateway.log.join('')).toContain('no route to host 10.1.2.3');
  });

  it('each request logs one debug line without path parameters', async () => {
    gateway.log.length = 0;
    await gateway.call('GET', '/ng/v1/sms/2348012345678');
    await eventually(async () => {
      const line = gateway.log.find((one) => one.includes('"context":"Access"'));
      expect(JSON.parse(String(line))).toMatchObject({
        level: 'debug',
        msg: 'request',
        method: 'GET',
        route: '/ng/v1/sms/:referenceId',
        status: 401,
        ms: expect.any(Number),
      });
      await Promise.resolve();
    });
    expect(gateway.log.join('')).not.toContain('2348012345678');
  });

  it('a stopping gateway answers new requests 503 and finishes the running ones', async () => {
    const { app, url } = gateway.running;
    const source = app.get(DataSource, { strict: false });
    const find = source.manager.find.bind(source.manager);
    let asked = (): void => undefined;
    let answer = (): void => undefined;
    const underWay = new Promise<void>((resolve) => (asked = resolve));
    const held = new Promise<void>((resolve) => (answer = resolve));
    source.manager.find = (async (...args: Parameters<typeof find>) => {
      if (args[0] === Credential) {
        asked();
        await held;
      }
      return find(...args);
    }) as typeof source.manager.find;
    const token = String(gateway.running.demo?.apiToken);
    const slow = gateway.call('GET', '/ng/v1/sms', { token });
    await underWay;
    const finishLate = await begunRequest(url);
    const stopped = gateway.stop();
    expect(await finishLate()).toEqual([
      503,
      { error: expect.objectContaining({ code: 'unavailable' }) },
    ]);
    answer();
    expect((await slow).status).toBe(200);
    await stopped;
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});

/** A started request whose last line is sent later; resolves with status and body. */
async function begunRequest(url: string): Promise<() => Promise<unknown>> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write('GET /ng/v1/sms HTTP/1.1\r\nHost: gateway\r\n');
  return async () => {
    socket.write('\r\n');
    let answer = '';
    for await (const chunk of socket.setEncoding('utf8')) answer += String(chunk);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    return [Number(head.split(' ')[1]), JSON.parse(body)];
  };
}
