import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { SmppCredentials } from '../../../src/smpp/smpp-credentials.service.js';
import { SmppDelivery } from '../../../src/smpp/smpp.tables.js';
import { TestGateway } from '../../e2e/gateway/test-gateway.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { KannelPrograms } from '../../support/kannel-programs.js';
import { describeWithServer } from '../../support/servers.js';
import { type SmppKannelPorts, smppKannelConfiguration } from './smpp-configuration.js';

describeWithServer('kannel', "Kannel's bearerbox as an SMPP customer of the gateway", () => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let directory: string;
  let programs: KannelPrograms;
  let http: Server;
  let ports: SmppKannelPorts;
  /** Receipts that Kannel passed on. */
  const calls: URLSearchParams[] = [];

  beforeAll(async () => {
    const smsc = await freePort();
    gateway = await new TestGateway({ SMPP_LISTEN: `127.0.0.1:${smsc}` }).start();
    account = await gateway.account();
    const pair = await gateway.running.app
      .get(SmppCredentials, { strict: false })
      .add(account.accountId);
    http = createServer(({ url = '' }, response) => {
      calls.push(new URL(url, 'http://127.0.0.1').searchParams);
      response.end();
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const inbound = (http.address() as AddressInfo).port;
    const [admin, boxes, sendsms] = [await freePort(), await freePort(), await freePort()];
    ports = { admin, boxes, sendsms, smsc, inbound };
    directory = await mkdtemp(join(tmpdir(), 'dundun-kannel-customer-'));
    await mkdir(join(directory, 'spool'));
    const configuration = smppKannelConfiguration(directory, ports, {
      username: pair.systemId,
      password: pair.password,
    });
    await writeFile(join(directory, 'kannel.conf'), configuration);
    programs = new KannelPrograms(directory);
    await programs.spawn('bearerbox', ['kannel.conf']);
    await eventually(async () => {
      if (!gateway.log.join('').includes('"SMPP bound"')) throw new Error('Kannel has not bound');
    });
    await programs.spawn('smsbox', ['kannel.conf']);
    await eventually(async () => void (await fetch(`http://127.0.0.1:${sendsms}/`)));
  });
  afterAll(async () => {
    for (const program of ['smsbox', 'bearerbox'] as const) await programs.end(program, 'SIGKILL');
    await gateway.destroy();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
    await rm(directory, { recursive: true, force: true });
  });

  async function send(to: string, text: string, coding = '2'): Promise<void> {
    const url = new URL(`http://127.0.0.1:${ports.sendsms}/cgi-bin/sendsms`);
    url.search = new URLSearchParams({
      username: 'tester',
      password: 'kannel-pass-1',
      from: 'ACME',
      to,
      text,
      coding,
      charset: 'UTF-8',
      'dlr-mask': '31',
      'dlr-url': `http://127.0.0.1:${ports.inbound}/report?to=${to}&status=%d`,
    }).toString();
    expect((await fetch(url)).status).toBe(202);
  }
  async function batches(): Promise<Record<string, unknown>[]> {
    const { apiToken: token } = account;
    const { body } = await gateway.call('GET', '/ng/v1/sms?limit=100', { token });
    return body['data'] as Record<string, unknown>[];
  }
  const statusesOf = (to: string): (string | null)[] =>
    calls.filter((call) => call.get('to') === to).map((call) => call.get('status'));

  it.each([
    ['2348010000002', `Привет ${'мир 🙂 '.repeat(40)}конец`, '1'],
    ['2348010009901', 'Привет', '2'],
    ['2348010000003', '£ $ @ é € {ok} Köln', '1', '0'],
  ])(
    'a text to %s is sent unchanged, and its receipt reaches the caller of Kannel',
    async (to, text, status, coding = '2') => {
      await send(to, text, coding);
      await eventually(async () =>
        expect((await batches())[0]).toMatchObject({ body: text, from: 'ACME' }),
      );
      await eventually(async () => expect(statusesOf(to)).toContain(status));
      await eventually(async () => {
        const source = gateway.running.app.get<DataSource>(getDataSourceToken(), { strict: false });
        expect(await source.manager.count(SmppDelivery)).toBe(0);
      });
    },
  );
});
