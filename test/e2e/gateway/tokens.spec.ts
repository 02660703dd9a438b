import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { Credential } from '../../../src/accounts/accounts.tables.js';
import { CredentialUse } from '../../../src/accounts/credentials.js';
import { RequestLog, RequestLogReader } from '../../../src/accounts/request-log.js';
import { describeOneDatabase } from '../../support/databases.js';
import { type Answered, TestGateway } from './test-gateway.js';

const HOUR = 3_600_000;
const nothing = () => Promise.resolve();

describeOneDatabase('API tokens by name', (database) => {
  let gateway: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: database.url }).start();
    account = await gateway.account();
  });
  afterAll(() => gateway?.destroy());

  const part = <T>(type: abstract new (...given: never[]) => T): T =>
    gateway.running.app.get(type, { strict: false });
  const source = () => gateway.running.app.get<DataSource>(getDataSourceToken(), { strict: false });
  const list = (token: string): Promise<Answered> => gateway.call('GET', '/ng/v1/sms', { token });
  const send = (token: string): Promise<Answered> =>
    gateway.call('POST', '/ng/v1/sendsms', {
      token,
      body: { from: 'ACME', to: ['2348012345678'], body: 'Hello' },
    });
  const make = (name: string, scopes: ('sms:read' | 'sms:send')[] = [], expiresAt?: Date) =>
    gateway.accounts.createToken(account.accountId, { name, scopes, expiresAt }, nothing);
  /** As if so much time had passed. */
  const moved = async (id: string, by: number): Promise<void> => {
    const credentials = source().getRepository(Credential);
    const { expiresAt } = await credentials.findOneByOrFail({ id });
    await credentials.update({ id }, { expiresAt: new Date(expiresAt!.getTime() - by) });
    // As another process, which follows within a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
  };

  it('several are valid at once, each with its name, and one that is revoked stops alone', async () => {
    const [shop, desk] = [await make('shop'), await make('desk')];
    for (const token of [account.apiToken, shop.apiToken, desk.apiToken])
      expect((await list(token)).status).toBe(200);
    await gateway.accounts.revokeToken(account.accountId, shop.tokenId);
    expect((await list(shop.apiToken)).status).toBe(401);
    expect((await list(desk.apiToken)).status).toBe(200);
    expect(await gateway.accounts.tokens(account.accountId)).toMatchObject(
      [
        { name: 'desk', status: 'active', scopes: [] },
        { name: 'shop', status: 'revoked' },
        { name: null, status: 'active' },
      ].map((token) => expect.objectContaining(token)),
    );
    await expect(make('desk')).rejects.toMatchObject({ code: 'invalid_field' });
  });

  it('one with scopes does what they say, and 403 names the missing one', async () => {
    const { apiToken } = await make('reader', ['sms:read']);
    expect((await list(apiToken)).status).toBe(200);
    expect(await send(apiToken)).toMatchObject({
      status: 403,
      body: {
        error: {
          code: 'insufficient_scope',
          message: 'This token lacks the scope sms:send; use one that has it',
        },
      },
    });
    const via = { to: { phone: '2348012345678' }, via: ['sms'], sms: { from: 'ACME', body: 'Hi' } };
    expect(
      await gateway.call('POST', '/ng/v1/notifications', { token: apiToken, body: via }),
    ).toMatchObject({ status: 403, body: { error: { code: 'insufficient_scope' } } });
    expect(await gateway.call('GET', '/ng/v1/account/balance', { token: apiToken })).toMatchObject({
      status: 403,
    });
    await expect(make('wrong', ['email:send' as never])).rejects.toMatchObject({
      code: 'invalid_field',
    });
  });

  it('one stops at its expiry', async () => {
    const { apiToken, tokenId } = await make('short', [], new Date(Date.now() + HOUR));
    expect((await list(apiToken)).status).toBe(200);
    await moved(tokenId, HOUR + 1_000);
    expect((await list(apiToken)).status).toBe(401);
    expect(await gateway.accounts.tokens(account.accountId)).toContainEqual(
      expect.objectContaining({ tokenId, status: 'expired' }),
    );
    await expect(make('past', [], new Date(0))).rejects.toMatchObject({ code: 'invalid_field' });
  });

  it('a rotation with an overlap leaves both until its end, and one without stops the former at once', async () => {
    const { apiToken, tokenId } = await make('rotated', ['sms:read']);
    const next = await gateway.accounts.rotate(
      account.accountId,
      { tokenId, overlap: 24 * HOUR },
      nothing,
    );
    for (const token of [apiToken, next.apiToken]) expect((await list(token)).status).toBe(200);
    expect(await gateway.accounts.tokens(account.accountId)).toContainEqual(
      expect.objectContaining({
        tokenId: next.tokenId,
        name: 'rotated',
        scopes: ['sms:read'],
        expiresAt: null,
      }),
    );
    await moved(tokenId, 24 * HOUR + 1_000);
    expect((await list(apiToken)).status).toBe(401);
    expect((await list(next.apiToken)).status).toBe(200);
    const last = await gateway.accounts.rotate(
      account.accountId,
      { tokenId: next.tokenId },
      nothing,
    );
    expect(last.formerUntil).toBeNull();
    expect((await list(next.apiToken)).status).toBe(401);
    expect((await list(last.apiToken)).status).toBe(200);
    for (const overlap of [-1, 31 * 24 * HOUR, Number.NaN])
      await expect(
        gateway.accounts.rotate(account.accountId, { tokenId: last.tokenId, overlap }, nothing),
      ).rejects.toMatchObject({ code: 'invalid_field' });
    await expect(
      gateway.accounts.rotate(account.accountId, { tokenId: 'crd_unknown' }, nothing),
    ).rejects.toMatchObject({ code: 'not_found' });
  });

  it('the token of the account is rotated by itself, and named ones go on', async () => {
    const other = await gateway.account('other');
    const named = await gateway.accounts.createToken(other.accountId, { name: 'shop' }, nothing);
    const overlap = HOUR;
    const next = await gateway.accounts.rotate(other.accountId, { overlap }, nothing);
    for (const token of [other.apiToken, next.apiToken])
      expect((await list(token)).status).toBe(200);
    const fresh = await gateway.accounts.rotateToken(other.accountId);
    for (const token of [other.apiToken, next.apiToken])
      expect((await list(token)).status).toBe(401);
    for (const token of [fresh, named.apiToken]) expect((await list(token)).status).toBe(200);
  });

  it('requests and the last use are kept by token', async () => {
    const { apiToken, tokenId } = await make('counted', ['sms:read']);
    await list(apiToken);
    await send(apiToken);
    await part(CredentialUse).write();
    await part(RequestLog).write();
    const tokens = await gateway.accounts.tokens(account.accountId);
    const own = tokens.find((token) => token.tokenId === tokenId);
    expect(own?.lastUsedAt?.getTime()).toBeGreaterThan(Date.now() - 60_000);
    const page = { credential: tokenId, limit: 10, cursor: undefined };
    const { data } = await part(RequestLogReader).list(account.accountId, page);
    const shown = data.map(({ status, errorCode }) => [status, errorCode] as const);
    expect(shown.toSorted(([a], [b]) => a - b)).toEqual([
      [200, null],
      [403, 'insufficient_scope'],
    ]);
  });
});
