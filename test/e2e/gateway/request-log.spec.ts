import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { REQUESTS_KEPT, RequestLog, RequestLogReader } from '../../../src/accounts/request-log.js';
import { RequestLogEntity } from '../../../src/accounts/request-log.tables.js';
import type { LoggedRequest } from '../../../src/http/http-message.js';
import { describeEachDatabase } from '../../support/databases.js';
import { StatementLog } from '../../support/statement-log.js';
import { signedIn } from '../portal/portal-client.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

const MESSAGE = { from: 'ACME', to: ['2348012345678'], body: 'Hi, Ada' };

describeEachDatabase('the log of requests', (database) => {
  let gateway: TestGateway;
  let log: RequestLog;
  let reader: RequestLogReader;
  let source: DataSource;

  beforeAll(async () => {
    gateway = new TestGateway({ DATABASE_URL: database.url });
    await gateway.start();
    const { app } = gateway.running;
    log = app.get(RequestLog, { strict: false });
    reader = app.get(RequestLogReader, { strict: false });
    source = app.get(DataSource, { strict: false });
  });
  afterAll(() => gateway.destroy());

  const send = async (
    token: string,
    body: object = MESSAGE,
    path = '/ng/v1/sendsms',
    method = 'POST',
  ) => {
    const init: RequestInit = {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const answer = await fetch(gateway.url + path, init);
    await answer.text();
    return { status: answer.status, requestId: answer.headers.get('x-request-id') };
  };
  const logged = async (account: CreatedAccount, filter: object = {}) => {
    await log.write();
    return (await reader.list(account.accountId, { limit: 100, ...filter })).data;
  };

  it('accepted and refused requests have method, route, status, code, latency and id, and nothing of their contents', async () => {
    const acme = await gateway.account('acme');
    const { keyId, apiKey } = await gateway.accounts.createKey(acme.accountId, ['billing:read']);
    const answers = [
      await send(acme.apiToken),
      await send(acme.apiToken, { ...MESSAGE, to: [] }),
      await send(apiKey, {}, '/email/ng/v1/messages'),
      await send(
        acme.apiToken,
        {},
        '/ng/v1/sms/01993021-0000-7000-8000-000000000000?x=1',
        'DELETE',
      ),
    ];
    await gateway.accounts.revokeKey(acme.accountId, keyId);
    answers.push(await send(apiKey, {}, '/email/ng/v1/messages'));
    await send(`tok_${'0'.repeat(49)}`);
    const rows = await logged(acme);
    expect(rows.map(({ status, requestId }) => ({ status, requestId })).toReversed()).toEqual(
      answers,
    );
    const sms = { method: 'POST', route: '/ng/v1/sendsms', weight: 1 };
    expect(rows.toReversed()).toMatchObject([
      { ...sms, status: 200, errorCode: null, latency: expect.any(Number) },
      { ...sms, status: 422, errorCode: 'invalid_field' },
      { route: '/email/ng/v1/messages', status: 403, errorCode: 'insufficient_scope' },
      { method: 'DELETE', route: '/ng/v1/sms/:referenceId', status: 404, errorCode: 'not_found' },
      { status: 401, errorCode: 'unauthorized', credentialId: keyId },
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/2348012345678|Ada|tok_|svk_|01993021/);
    expect(await logged(acme, { credential: keyId })).toHaveLength(2);
    expect(await logged(acme, { refused: true })).toHaveLength(4);
    expect(await logged(await gateway.account('other'))).toEqual([]);
  });

  it('pages follow each other without a gap', async () => {
    const acme = await gateway.account('pages');
    for (let n = 0; n < 5; n++) await send(acme.apiToken);
    await log.write();
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await reader.list(acme.accountId, { limit: 2, cursor });
      ids.push(...page.data.map(({ requestId }) => requestId));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(new Set(ids).size).toBe(5);
    await expect(reader.list(acme.accountId, { limit: 2, cursor: 'x' })).rejects.toMatchObject({
      code: 'invalid_field',
    });
  });

  it('of a busy key a sample is written, whose weights are its requests; refused ones stay beside it', async () => {
    const { accountId } = await gateway.account('busy');
    const credential = { id: 'crd_busy', accountId };
    note(credential, 5_000);
    note(credential, 1, 422);
    await log.write();
    const rows = (await reader.list(accountId, { limit: 100 })).data;
    expect(rows.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(rows.filter(({ status }) => status === 422)).toMatchObject([{ weight: 1 }]);
    expect(rows.reduce((sum, { weight }) => sum + weight, 0)).toBe(5_001);
    // Not the first ones alone.
    const numbers = rows.map(({ requestId }) => Number(requestId.split('-')[1]));
    expect(Math.max(...numbers)).toBeGreaterThan(100);
  });

  it('a write is one statement', async () => {
    const { accountId } = await gateway.account('one');
    const statements = new StatementLog();
    const { logger } = source;
    Object.assign(source, { logger: statements });
    try {
      for (let n = 0; n < 30; n++) note({ id: `crd_one_${n}`, accountId }, 20);
      await log.write();
    } finally {
      Object.assign(source, { logger });
    }
    expect(statements.matching(/gateway_request_log/)).toHaveLength(1);
    expect(await source.manager.countBy(RequestLogEntity, { accountId })).toBe(600);
  });

  it('a key has about a thousand rows an hour, and a write has at most a thousand', async () => {
    const { accountId } = await gateway.account('endless');
    const credential = { id: 'crd_endless', accountId };
    for (let write = 0; write < 60; write++) {
      note(credential, 50);
      await log.write();
    }
    const of = { credentialId: credential.id };
    expect(await source.manager.countBy(RequestLogEntity, of)).toBe(1_000 + 10);
    for (let n = 0; n < 1_500; n++) note({ id: `crd_many_${n}`, accountId }, 1);
    await log.write();
    expect(await source.manager.countBy(RequestLogEntity, { accountId })).toBe(2_010);
  });

  it('rows of more than 30 days are deleted', async () => {
    const { accountId } = await gateway.account('old');
    note({ id: 'crd_old', accountId }, 3);
    await log.write();
    const [one, two] = await source.manager.findBy(RequestLogEntity, { accountId });
    const idAt = (time: number) => {
      const hex = time.toString(16).padStart(12, '0');
      return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001`;
    };
    const now = Date.now();
    const HOUR = 3_600_000;
    for (const [row, id] of [
      [one, idAt(now - REQUESTS_KEPT - HOUR)],
      [two, idAt(now - REQUESTS_KEPT + HOUR)],
    ] as const)
      await source.manager.update(RequestLogEntity, { id: row?.id ?? '' }, { id });
    await log.purge();
    expect(await source.manager.countBy(RequestLogEntity, { accountId })).toBe(2);
  });

  it('a write that fails loses its rows, and the next one is written', async () => {
    const { accountId } = await gateway.account('lost');
    note({ id: 'x'.repeat(40_000), accountId: 'y'.repeat(40_000) }, 1);
    await source.query('ALTER TABLE gateway_request_log RENAME TO gateway_request_log_away');
    await log.write();
    await source.query('ALTER TABLE gateway_request_log_away RENAME TO gateway_request_log');
    note({ id: 'crd_next', accountId }, 1);
    await log.write();
    expect(await source.manager.countBy(RequestLogEntity, { accountId })).toBe(1);
    expect(gateway.log.join('')).toContain('requests are not logged');
  });

  function note(credential: LoggedRequest['credential'], times: number, status = 200): void {
    for (let n = 0; n < times; n++) {
      const request = {
        id: `req-${n}`,
        method: 'POST',
        routeOptions: { url: '/ng/v1/sendsms' },
        credential,
        errorCode: 'invalid_field',
      };
      log.note(request as unknown as LoggedRequest, status, 1.4);
    }
  }
});

describe('the log of requests for people', () => {
  const gateway = new TestGateway();
  let acme: CreatedAccount;
  beforeAll(async () => {
    await gateway.start();
    acme = await gateway.account();
    for (const to of [['2348012345678'], []])
      await gateway.call('POST', '/ng/v1/sendsms', {
        token: acme.apiToken,
        body: { ...MESSAGE, to },
      });
    await gateway.running.app.get(RequestLog, { strict: false }).write();
  });
  afterAll(() => gateway.destroy());

  it('`dundun requests` lists them, newest first', async () => {
    const ask = async (...more: string[]) => {
      const args = ['requests', '--account', acme.accountId, ...more, '--json'];
      const { code, stdout, stderr } = await commandLine(
        args,
        { DATABASE_URL: gateway.databaseUrl },
        '/tmp',
      );
      return { code, body: JSON.parse(code === 0 ? stdout : stderr) as Record<string, unknown> };
    };
    const { body } = await ask();
    expect(body).toMatchObject({
      requests: [
        { key: expect.stringMatching(/^crd_/), status: 422, error_code: 'invalid_field' },
        { route: '/ng/v1/sendsms', status: 200, error_code: null },
      ],
      next_cursor: null,
    });
    expect((await ask('--refused')).body).toMatchObject({ requests: [{ status: 422 }] });
    expect(await ask('--limit', '0')).toMatchObject({
      code: 1,
      body: { error: { code: 'invalid_field' } },
    });
  });

  it('admins see those of their account alone in the portal', async () => {
    const admin = await signedIn(gateway, 'admin', acme.accountId);
    const { data } = await admin.ok<{ data: object[] }>('GET', 'requests');
    const key = `tok_…${acme.apiToken.slice(-4)}`;
    expect(data).toMatchObject([
      { status: 422, errorCode: 'invalid_field', method: 'POST', key },
      { status: 200, errorCode: null, route: '/ng/v1/sendsms', weight: 1, key },
    ]);
    const refused = await admin.ok<{ data: object[] }>('GET', 'requests?refused=true');
    expect(refused.data).toHaveLength(1);
    const sender = await signedIn(gateway, 'sender', acme.accountId);
    expect((await sender.call('GET', 'requests')).status).toBe(403);
    const other = await signedIn(gateway, 'admin', (await gateway.account('other')).accountId);
    expect((await other.ok<{ data: object[] }>('GET', 'requests')).data).toEqual([]);
  });
});
