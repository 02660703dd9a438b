import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { Audit } from '../../../src/portal/audit.js';
import { eventually } from '../../support/eventually.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

const CALLER = '2348000000077';

describe('dundun caller and dundun do-not-call', () => {
  const gateway = new TestGateway();
  let account: CreatedAccount;

  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const dundun = (...args: string[]) => dundunOf(['--account', account.accountId], ...args);
  const dundunOf = async (
    of: readonly string[],
    ...args: string[]
  ): Promise<Record<string, unknown>> => {
    const settings = { NODE_ENV: 'test', DATABASE_URL: gateway.databaseUrl };
    const ended = await commandLine([...args, ...of, '--json'], settings, tmpdir());
    return JSON.parse(ended.code === 0 ? ended.stdout : ended.stderr) as Record<string, unknown>;
  };
  const call = async (fields: object = {}) => {
    const { status, body } = await gateway.call('POST', '/ng/v1/voice/calls', {
      token: account.apiToken,
      body: { from: CALLER, to: ['2348012345678'], text: 'Hello', ...fields },
    });
    return [status, (body['error'] as { code?: string } | undefined)?.code];
  };

  it('an added caller id is listed and can place calls until it is removed', async () => {
    expect(await call()).toEqual([422, 'caller_not_registered']);
    const caller = ['--caller', CALLER];
    expect(await dundun('caller', 'add', ...caller)).toEqual({
      account_id: account.accountId,
      caller: CALLER,
    });
    expect(await dundun('caller', 'list')).toEqual({
      callers: [{ caller: CALLER, state: 'approved' }],
    });
    await eventually(async () => expect(await call()).toEqual([200, undefined]));
    expect(await dundun('caller', 'remove', ...caller)).toMatchObject({ status: 'removed' });
    // The gateway caches its reads for a few seconds.
    await eventually(async () => expect(await call()).toEqual([422, 'caller_not_registered']));
    expect(await dundun('caller', 'remove', ...caller)).toMatchObject({
      error: { code: 'not_found' },
    });
    expect(await dundun('caller', 'add', '--caller', 'ACME')).toMatchObject({
      error: { code: 'invalid_field' },
    });
  });

  it('a number on the do-not-call list gets calls again once it is taken off', async () => {
    const phone = '2348012340099';
    await dundun('caller', 'add', '--caller', CALLER);
    const marketing = () => call({ to: [phone], category: 'marketing' });
    expect(await marketing()).toEqual([200, undefined]);
    expect(await dundun('do-not-call', 'add', '--phone', phone)).toMatchObject({
      status: 'do_not_call',
    });
    expect(await dundun('do-not-call', 'list')).toMatchObject({
      numbers: [{ phone, category: 'marketing', reason: 'do_not_call' }],
    });
    // A process that knows of no refusal looks for the first one every few seconds.
    await eventually(async () => expect(await marketing()).toEqual([422, 'do_not_call']));
    expect(await dundun('do-not-call', 'remove', '--phone', phone)).toMatchObject({
      status: 'removed',
    });
    await eventually(async () => expect(await marketing()).toEqual([200, undefined]));
  });

  it('a number with a trunk zero is refused, and the right one named', async () => {
    for (const command of [
      ['caller', 'add', '--caller'],
      ['number', 'add', '--number'],
      ['do-not-call', 'add', '--phone'],
      ['do-not-call', 'remove', '--phone'],
    ])
      expect(await dundun(...command, '4402079460958')).toMatchObject({
        error: { message: expect.stringContaining('must be 442079460958:') },
      });
  });

  it('both lists refuse an account that does not exist, and the audit log has their changes', async () => {
    const nowhere = ['--account', 'acc_nowhere'];
    for (const one of [
      ['suppression', 'add', '--email', 'ada@example.com'],
      ['do-not-call', 'add', '--phone', '2348012340098'],
    ]) {
      expect(await dundun(...one)).not.toHaveProperty('error');
      expect(await dundunOf(nowhere, ...one)).toMatchObject({ error: { code: 'not_found' } });
    }
    const audit = gateway.running.app.get(Audit, { strict: false });
    const { data } = await audit.list(account.accountId, { limit: 2 });
    expect(data).toMatchObject([
      { action: 'do_not_call.added', target: '+234 801 ••• 0098' },
      { action: 'suppression.added', target: 'a•••@example.com' },
    ]);
  });
});
