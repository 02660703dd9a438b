import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { COMMAND_STATUS, connectSmpp, SmppBindError } from '@dundun/smpp';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import type { NewSmppCredential } from '../../../src/smpp/smpp-credentials.service.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { commandLine } from './command-line.js';
import { SmppClient } from './smpp-client.js';
import { TestGateway } from './test-gateway.js';

const MODES = ['transmitter', 'receiver', 'transceiver'] as const;

describe('binds to SMPP_LISTEN', () => {
  let port: number;
  let gateway: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    port = await freePort();
    const SMPP_LISTEN = `127.0.0.1:${port}`;
    gateway = await new TestGateway({ SMPP_LISTEN, AUTH_FAILURE_LIMIT: '8/h' }).start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const dundun = async (...args: string[]): Promise<Record<string, unknown>> => {
    const settings = { NODE_ENV: 'test', DATABASE_URL: gateway.databaseUrl };
    const ended = await commandLine([...args, '--json'], settings, tmpdir());
    return JSON.parse(ended.code === 0 ? ended.stdout : ended.stderr) as Record<string, unknown>;
  };
  const smpp = (command: string, ...args: string[]) =>
    dundun('smpp', command, '--account', account.accountId, ...args);
  async function added(): Promise<NewSmppCredential> {
    const { system_id: systemId, password } = await smpp('add');
    return { systemId: String(systemId), password: String(password) };
  }
  const statusOf = (pair: NewSmppCredential): Promise<number> =>
    connectSmpp({ host: '127.0.0.1', port, ...pair, responseTimeout: 60_000 }).then(
      () => 0,
      (error: unknown) => (error as SmppBindError).status,
    );
  const reasonOf = async ({ session }: SmppClient): Promise<unknown> =>
    session.isClosed ? 'closed before' : ((await once(session, 'close'))[0] as object);

  it('`dundun smpp add` and `change` set the alphabets of a pair, and a change ends its binds', async () => {
    const { system_id: systemId, password } = await smpp('add', '--data-coding-1', 'gsm7');
    const pair = { systemId: String(systemId), password: String(password) };
    const alphabetsOf = async () => {
      const { system_ids: listed } = await smpp('list');
      const found = (listed as Record<string, unknown>[]).find(
        (one) => one['system_id'] === systemId,
      );
      return [found?.['data_coding0'], found?.['data_coding1']];
    };
    expect(await alphabetsOf()).toEqual(['gsm7', 'gsm7']);
    const bound = await SmppClient.bind(port, pair);
    const ended = reasonOf(bound);
    await smpp('change', '--system-id', pair.systemId, '--data-coding-0', 'latin1');
    expect(await ended).toMatchObject({ reason: 'peer_unbound' });
    expect(await alphabetsOf()).toEqual(['latin1', 'gsm7']);
    expect(await smpp('change', '--system-id', pair.systemId)).toMatchObject({
      error: { code: 'invalid_field' },
    });
    await smpp('remove', '--system-id', pair.systemId);
  });

  it('a pair of `dundun smpp add` binds in each mode, is listed with its last bind and is stored hashed', async () => {
    const pair = await added();
    expect(pair.systemId).toMatch(/^[0-9A-Za-z]{1,15}$/);
    expect(pair.password).toMatch(/^[0-9A-Za-z]{8}$/);
    for (const mode of MODES) {
      const { session } = await SmppClient.bind(port, pair, mode);
      expect(session.mode).toBe(mode);
      const metrics = await fetch(`${gateway.url}/metrics`);
      expect(await metrics.text()).toContain(`dundun_smpp_binds{mode="${mode}"} 1`);
      await session.unbind();
    }
    await eventually(async () => {
      const { system_ids: listed } = await smpp('list');
      expect(listed).toEqual([
        {
          system_id: pair.systemId,
          created_at: expect.any(String),
          last_bound_at: expect.any(String),
          data_coding0: 'gsm7',
          data_coding1: 'auto',
        },
      ]);
    });
    expect(gateway.log.join('')).not.toContain(pair.password);
    await smpp('remove', '--system-id', pair.systemId);
  });

  it('a pair binds only with its own password, and is no token of the HTTP interface', async () => {
    const [pair, other] = [await added(), await added()];
    const invalid = COMMAND_STATUS.ESME_RINVPASWD;
    expect(await statusOf({ ...pair, password: other.password })).toBe(invalid);
    expect(await statusOf({ ...pair, systemId: 'smppunknown' })).toBe(invalid);
    const swapped = { systemId: pair.password, password: other.password };
    expect(await statusOf(swapped)).toBe(invalid);
    expect(gateway.log.join('')).not.toContain(pair.password);
    const { status } = await gateway.call('GET', '/ng/v1/sms', { token: pair.password });
    expect(status).toBe(401);
    for (const { systemId } of [pair, other]) await smpp('remove', '--system-id', systemId);
  });

  it('rotating and removing a pair end its binds, and no other', async () => {
    const [pair, other] = [await added(), await added()];
    const stays = await SmppClient.bind(port, other);
    const rotated = await SmppClient.bind(port, pair);
    const end = reasonOf(rotated);
    const { password } = await smpp('rotate', '--system-id', pair.systemId);
    expect(await end).toMatchObject({ reason: 'peer_unbound' });
    expect(await statusOf(pair)).toBe(COMMAND_STATUS.ESME_RINVPASWD);
    const removed = await SmppClient.bind(port, { ...pair, password: String(password) });
    const gone = reasonOf(removed);
    await smpp('remove', '--system-id', pair.systemId);
    expect(await gone).toMatchObject({ reason: 'peer_unbound' });
    expect(stays.session.isBound).toBe(true);
    await stays.session.unbind();
    expect(await smpp('remove', '--system-id', pair.systemId)).toMatchObject({
      error: { code: 'not_found' },
    });
  });

  it('suspending the account ends its binds and refuses new ones until it is resumed', async () => {
    const pair = await added();
    const client = await SmppClient.bind(port, pair);
    const end = reasonOf(client);
    await dundun('account', 'suspend', '--account', account.accountId);
    expect(await end).toMatchObject({ reason: 'peer_unbound' });
    expect(await statusOf(pair)).toBe(COMMAND_STATUS.ESME_RBINDFAIL);
    await dundun('account', 'resume', '--account', account.accountId);
    expect(await statusOf(pair)).toBe(0);
  });

  it('above AUTH_FAILURE_LIMIT an address cannot bind, not even with a right password', async () => {
    const pair = await added();
    const wrong = { ...pair, password: 'wrong' };
    await eventually(async () =>
      expect(await statusOf(wrong)).toBe(COMMAND_STATUS.ESME_RTHROTTLED),
    );
    expect(await statusOf(pair)).toBe(COMMAND_STATUS.ESME_RTHROTTLED);
    const { status } = await gateway.call('GET', '/ng/v1/sms', { token: 'tok_wrong' });
    expect(status).toBe(429);
  });
});

it('SMPP_LISTEN on a port in use stops the boot with the name of the setting, except of a worker', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const SMPP_LISTEN = `127.0.0.1:${(taken.address() as { port: number }).port}`;
  const gateway = new TestGateway({ SMPP_LISTEN });
  await expect(gateway.start()).rejects.toThrow(
    `SMPP_LISTEN "${SMPP_LISTEN}": is in use; stop the other process or set another port`,
  );
  await gateway.destroy();
  const worker = await new TestGateway({ SMPP_LISTEN, ROLE: 'worker' }).start();
  await worker.destroy();
  await once(taken.close(), 'close');
});
