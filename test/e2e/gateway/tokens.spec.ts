import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { Credential } from '../../../src/accounts/accounts.tables.js';
import { CredentialUse, CredentialVerifier } from '../../../src/accounts/credentials.js';
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
    const { expiresAt, replacedUntil } = await credentials.findOneByOrFail({ id });
    const before = (end: Date | null) => end && new Date(end.getTime() - by);
    await credentials.update(
      { id },
      { expiresAt: before(expiresAt), replacedUntil: before(replacedUntil) },
    );
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

  it('a token that follows one in its overlap does not end with it', async () => {
    const other = await gateway.account('overlaps');
    const { accountId } = other;
    const rotate = (options: { tokenId?: string; overlap?: number }) =>
      gateway.accounts.rotate(accountId, options, nothing);
    const endOf = async (id: string) =>
      (await gateway.accounts.tokens(accountId)).find(({ tokenId }) => tokenId === id)?.expiresAt;
    const first = await gateway.accounts.token(accountId);
    const second = await rotate({ overlap: 24 * HOUR });
    expect(await endOf(first!.id)).toEqual(second.formerUntil);
    await gateway.accounts.revokeToken(accountId, second.tokenId);
    const third = await rotate({ overlap: 24 * HOUR });
    expect(await endOf(third.tokenId)).toBeNull();
    await moved(first!.id, 24 * HOUR + 1_000);
    expect((await list(other.apiToken)).status).toBe(401);
    expect((await list(third.apiToken)).status).toBe(200);

    const expiresAt = new Date(Date.now() + 48 * HOUR);
    const named = { name: 'shop', expiresAt };
    const shop = await gateway.accounts.createToken(accountId, named, nothing);
    const next = await rotate({ tokenId: shop.tokenId, overlap: 72 * HOUR });
    expect(next.formerUntil).toEqual(expiresAt);
    // A second rotation of the former one would make two tokens of one name.
    await expect(rotate({ tokenId: shop.tokenId, overlap: HOUR })).rejects.toMatchObject({
      code: 'invalid_field',
      message: expect.stringContaining(next.tokenId),
    });
    await gateway.accounts.revokeToken(accountId, next.tokenId);
    const last = await rotate({ tokenId: shop.tokenId, overlap: HOUR });
    expect(await endOf(last.tokenId)).toEqual(expiresAt);
  });

  it('a rotation that would leave one token too many is refused', async () => {
    const { accountId } = await gateway.account('many');
    const credentials = source().getRepository(Credential);
    const token = await gateway.accounts.token(accountId);
    await credentials.insert(
      Array.from({ length: 49 }, (_, n) => ({
        ...token!,
        id: `crd_many${n}`,
        fingerprint: `many${n}`,
        name: `name ${n}`,
      })),
    );
    await expect(
      gateway.accounts.rotate(accountId, { overlap: HOUR }, nothing),
    ).rejects.toMatchObject({ code: 'invalid_field', message: expect.stringContaining('50') });
    expect((await gateway.accounts.rotate(accountId, {}, nothing)).formerUntil).toBeNull();
  });

  it('a read of an account waits for no lock of its row and leaves the caches', async () => {
    const { accountId, apiToken } = await gateway.account('read');
    const forget = jest.spyOn(part(CredentialVerifier), 'forget');
    const reads = () =>
      Promise.all([
        gateway.accounts.find(accountId),
        gateway.accounts.tokens(accountId),
        gateway.accounts.keys(accountId),
      ]);
    const lock = source().createQueryRunner();
    if (source().options.type === 'better-sqlite3') await reads();
    else {
      await lock.startTransaction();
      await lock.query(`SELECT id FROM gateway_account WHERE id = '${accountId}' FOR UPDATE`);
      await reads();
      await lock.rollbackTransaction();
    }
    await lock.release();
    expect(forget).not.toHaveBeenCalled();
    expect((await list(apiToken)).status).toBe(200);
    await expect(gateway.accounts.find('acc_none')).rejects.toMatchObject({ code: 'not_found' });
    forget.mockRestore();
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
