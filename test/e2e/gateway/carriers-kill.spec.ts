import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildGateway } from '../../support/builds.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { InterfaceServer } from '../../support/interface-server.js';
import { Processes, type RunningGateway } from './built-gateway.js';

describeOneDatabase('a gateway with two carriers, of which the first has not answered', (db) => {
  const processes = new Processes();
  let directory: string;
  let environment: Record<string, string>;
  let gateway: RunningGateway;
  let token: string;
  let a: InterfaceServer;
  let b: InterfaceServer;

  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect([method, path, response.ok]).toEqual([method, path, true]);
    return (await response.json()) as Record<string, unknown>;
  };
  const send = async (to: string) =>
    String(
      (await call('POST', '/ng/v1/sendsms', { from: 'ACME', to: [to], body: 'Hello' }))[
        'reference_id'
      ],
    );
  const hasLeft = (reference: string) =>
    eventually(async () => {
      const { counts } = await call('GET', `/ng/v1/sms/${reference}`);
      expect(Object.keys(counts as object)).toEqual([expect.stringMatching(/^(sent|delivered)$/)]);
    }, 45_000);
  const keysOf = ({ requests }: InterfaceServer) =>
    requests.flatMap(({ method, headers }) =>
      method === 'POST' ? [String(headers['idempotency-key'])] : [],
    );

  beforeAll(async () => {
    await buildGateway();
    directory = await mkdtemp(join(tmpdir(), 'dundun-carriers-'));
    [a, b] = [await InterfaceServer.start(), await InterfaceServer.start()];
    const carriers = {
      a: { type: 'http', url: a.url, token: a.apiToken },
      b: { type: 'http', url: b.url, token: b.apiToken },
    };
    const file = join(directory, 'carriers.json');
    const routes = [{ channel: 'sms', use: { failover: ['a', 'b'] } }];
    await writeFile(file, JSON.stringify({ carriers, routes }));
    environment = { DATABASE_URL: db.url, CARRIERS_FILE: file, LEASE: '1s' };
    gateway = await processes.gateway(environment);
    await eventually(async () => {
      token = /\b(tok_\w+)\n/.exec(gateway.output)?.[1] ?? '';
      if (token === '') throw new Error('it has not shown its token yet');
    });
  });
  afterAll(async () => {
    await processes.destroy();
    await a.close();
    await b.close();
    await rm(directory, { recursive: true });
  });

  it('kill -9 between intent and answer sends the same submission to the same carrier', async () => {
    a.answer(({ method }) => method === 'POST');
    const reference = await send('2348012345678');
    await eventually(async () => expect(keysOf(a)).toHaveLength(1));
    await gateway.stop('SIGKILL');
    a.answer(undefined);
    gateway = await processes.gateway(environment);
    await hasLeft(reference);
    expect(new Set(keysOf(a)).size).toBe(1);
    expect(a.accepted.size).toBe(1);
    expect(keysOf(b)).toEqual([]);
  });

  it('a message that a carrier accepted without an answer never goes to the other carrier', async () => {
    a.requests.length = 0;
    a.loseNextAnswer();
    const reference = await send('2348012345679');
    await hasLeft(reference);
    expect(new Set(keysOf(a)).size).toBe(1);
    expect(a.accepted.size).toBe(2);
    expect(keysOf(b)).toEqual([]);
  });
});
