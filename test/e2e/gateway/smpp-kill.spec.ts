import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { encodeText, splitMessage } from '@dundun/smpp';
import type { NewSmppCredential } from '../../../src/smpp/smpp-credentials.service.js';
import { buildGateway } from '../../support/builds.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { Processes, type RunningGateway } from './built-gateway.js';
import { SmppClient, TO } from './smpp-client.js';

const LONG = `Grüße ${'für 5 € und mehr '.repeat(20)}Ende`;

describeOneDatabase('kill -9 of a gateway with SMPP binds', (db) => {
  const processes = new Processes();
  const clients: SmppClient[] = [];
  let environment: Record<string, string>;
  let port: number;
  let gateway: RunningGateway;
  let token: string;
  let pair: NewSmppCredential;

  const dundun = async (...args: string[]): Promise<Record<string, string>> => {
    const { stdout, code, stderr } = await processes.dundun([...args, '--json'], environment);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as Record<string, string>;
  };

  beforeAll(async () => {
    await buildGateway();
    port = await freePort();
    environment = { DATABASE_URL: db.url, SMPP_LISTEN: `127.0.0.1:${port}`, LEASE: '1s' };
    gateway = await processes.gateway(environment);
    const made = await dundun('account', 'create', '--name', 'acme');
    token = made['api_token'] ?? '';
    const account = ['--account', made['account_id'] ?? ''];
    await dundun('sender', 'add', ...account, '--sender', 'ACME');
    const { system_id: systemId = '', password = '' } = await dundun('smpp', 'add', ...account);
    pair = { systemId, password };
  });
  afterEach(() => {
    for (const { session } of clients.splice(0)) session.close();
  });
  afterAll(() => processes.destroy());

  async function bound(mode?: 'transmitter'): Promise<SmppClient> {
    const client = await SmppClient.bind(port, pair, mode);
    clients.push(client);
    return client;
  }
  async function killAndStart(): Promise<void> {
    await gateway.stop('SIGKILL');
    gateway = await processes.gateway(environment);
  }
  async function batch(id: string): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${gateway.url}/ng/v1/sms/${id}`, { headers });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, unknown>;
  }
  const idOf = async (submit: ReturnType<SmppClient['submit']>): Promise<string> =>
    (await submit)[0]?.messageId ?? '';

  it('waiting receipts and answered parts survive kill -9', async () => {
    const transmitter = await bound('transmitter');
    const ids: string[] = [];
    for (const text of ['one', 'two', 'three']) {
      ids.push(await idOf(transmitter.submit(text)));
      await eventually(async () =>
        expect((await batch(ids.at(-1) ?? ''))['counts']).toEqual({ delivered: 1 }),
      );
    }
    const parts = splitMessage(encodeText(LONG), { reference: 5 });
    const send = async ({ session }: SmppClient, part: object): Promise<string> => {
      const answer = await session.request('submit_sm', {
        source: { ton: 5, npi: 0, address: 'ACME' },
        destination: { ton: 1, npi: 1, address: TO },
        registeredDelivery: 1,
        ...part,
      });
      expect(answer.status).toBe(0);
      return 'messageId' in answer ? answer.messageId : '';
    };
    for (const part of parts.slice(0, -1)) ids.push(await send(transmitter, part));
    await killAndStart();
    const client = await bound();
    await eventually(async () =>
      expect(client.receipts.map(({ id }) => id)).toEqual(ids.slice(0, 3)),
    );
    ids.push(await send(client, parts.at(-1) as object));
    expect((await batch(ids.at(-1) ?? ''))['body']).toBe(LONG);
    await eventually(async () =>
      expect(client.receipts.map(({ id }) => String(id)).toSorted()).toEqual(ids.toSorted()),
    );
  });

  it('receipts without an answer are sent again after kill -9', async () => {
    const client = await bound();
    client.silent = true;
    const ids = await Promise.all(['one', 'two', 'three'].map((text) => idOf(client.submit(text))));
    await eventually(async () => expect(client.receipts).not.toHaveLength(0));
    await killAndStart();
    const next = await bound();
    await eventually(async () =>
      expect(new Set(next.receipts.map(({ id }) => id))).toEqual(new Set(ids)),
    );
  });
});
