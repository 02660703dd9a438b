import { MessagingService } from '@dundun/messaging';
import { laneOf } from '@dundun/messaging/values';
import { HoldsService } from '@dundun/messaging/operations';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager, type FindOneOptions, IsNull, LessThan } from 'typeorm';
import { GatewayChannels, type Scope } from '../channel.js';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { ApiError, invalidField } from '../http/api-error.js';
import { validated } from '../http/validation.js';
import { checkGuard } from './account-guard.js';
import { checkRate, checkWords } from './account-settings.js';
import { Account, BY_HAND, Credential, TemplateEntity } from './accounts.tables.js';
import { activeTokens, insertCredential, listed, unknownToken } from './credential-rows.js';
import { CredentialVerifier, endOfCredential, randomBase62, spenderOf } from './credentials.js';
import { Template, TemplateRegistry } from './templates.js';

/** The secrets are returned once and stored nowhere. */
export interface CreatedAccount {
  readonly accountId: string;
  readonly apiToken: string;
  readonly apiKey: string;
}

/** A further API token of an account. */
export interface NewToken {
  /** 1 to 100 characters; one active token of the account has it. */
  readonly name: string;
  /** @default all that tokens may have */
  readonly scopes?: readonly Scope[] | undefined;
  /** @default never */
  readonly expiresAt?: Date | null | undefined;
}

export interface CreatedToken {
  readonly tokenId: string;
  /** `tok_…`, shown this once. */
  readonly apiToken: string;
}

export interface Rotation {
  /** @default the token that the account was made with */
  readonly tokenId?: string | undefined;
  /** Milliseconds for which the former token still works, at most 30 days. @default 0: it stops at once */
  readonly overlap?: number | undefined;
}

export interface RotatedCredential extends CreatedToken {
  /** When the former token stops; `null`: it has stopped. */
  readonly formerUntil: Date | null;
}

const MOST_OVERLAP = 30 * 86_400_000;

/** Active tokens of an account. */
const MOST_TOKENS = 50;

/** Settings of an account that an operator changes; `null` restores the default. */
export type AccountChange = Partial<
  Pick<Account, 'rate' | 'consentWords' | 'secondFactor' | 'guard'>
>;

/**
 * Work that the caller of a change adds to its transaction, such as an entry of an audit log.
 * It gets the id of the created object, if any.
 */
export type Also = (manager: EntityManager, created?: string) => Promise<unknown>;

const nothing: Also = () => Promise.resolve();

const ACCOUNTS_A_PAGE = 50;

/** Operations on accounts for operators, each in one transaction of the store. */
@Injectable()
export class AccountsService {
  constructor(
    private readonly messaging: MessagingService,
    private readonly holds: HoldsService,
    private readonly credentials: CredentialVerifier,
    private readonly templates: TemplateRegistry,
    private readonly channels: GatewayChannels,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(ENVIRONMENT)
    private readonly environment: Pick<Environment, 'carriers'>,
  ) {}

  /** With a token, a key of all scopes, and what channels add to each account. */
  create(name: string, also: Also = nothing): Promise<CreatedAccount> {
    return this.messaging.transaction(async (manager) => {
      const created = await this.#create(manager, name);
      await also(manager, created.accountId);
      return created;
    });
  }

  /**
   * Creates the first account; `undefined` where an account exists. `more` adds to it in the same
   * transaction.
   */
  createFirst(
    name: string,
    more: (manager: EntityManager, accountId: string) => Promise<void>,
  ): Promise<CreatedAccount | undefined> {
    return this.messaging.transaction(async (manager) => {
      if (await manager.exists(Account)) return undefined;
      const created = await this.#create(manager, name);
      await more(manager, created.accountId);
      return created;
    });
  }

  /** @param cursor the id of the last account of the previous page */
  list(cursor = '') {
    return this.messaging.transaction(async (manager) => {
      const last = cursor && (await manager.findOneBy(Account, { id: cursor }));
      if (last === null) throw invalidField('cursor', 'must be the next_cursor of a page');
      const before = last && [
        { createdAt: LessThan(last.createdAt) },
        { createdAt: last.createdAt, id: LessThan(last.id) },
      ];
      const found = await manager.find(Account, {
        ...(before && { where: before }),
        order: { createdAt: 'DESC', id: 'DESC' },
        take: ACCOUNTS_A_PAGE,
      });
      const accounts = found.map(({ id, name, createdAt, suspendedAt }) => ({
        accountId: id,
        name,
        status: suspendedAt ? ('suspended' as const) : ('active' as const),
        createdAt,
      }));
      const isLast = found.length < ACCOUNTS_A_PAGE;
      return { accounts, nextCursor: isLast ? null : found.at(-1)?.id };
    });
  }

  /** @param body text of it, for people alone; `null`: not known */
  async putTemplate(
    accountId: string,
    template: Template,
    also: Also = nothing,
    body: string | null = null,
  ): Promise<void> {
    const { name, language, category, status, params_count } = validated(Template, template);
    const row = { accountId, name, language, category, status, params_count, body, ...BY_HAND };
    await this.#in(accountId, async (manager) => {
      await manager.save(TemplateEntity, row);
      await also(manager);
    });
  }

  /** The valid API token that has no name, without its secret. */
  async token(accountId: string): Promise<Credential | null> {
    const [newest] = await this.messaging.transaction((manager) =>
      activeTokens(manager, accountId, { name: IsNull() }),
    );
    return newest ?? null;
  }

  /** Makes a new API token in the place of the one without a name, which stops working at once. */
  async rotateToken(accountId: string, also: Also = nothing): Promise<string> {
    return (await this.rotate(accountId, {}, also)).apiToken;
  }

  /**
   * Makes a new token in the place of another one, with its name, scopes and expiry. Without `tokenId` every token
   * without a name stops, also one that an earlier rotation has left for a while.
   * @throws ApiError 404 for an unknown token, or one that has ended; 422 on `overlap`, or on `token` for one that
   * has been replaced
   */
  async rotate(
    accountId: string,
    { tokenId, overlap = 0 }: Rotation,
    also: Also = nothing,
  ): Promise<RotatedCredential> {
    if (!(overlap >= 0 && overlap <= MOST_OVERLAP))
      throw invalidField('overlap', 'must be at most 30 days, such as 24h');
    // The second of two concurrent rotations ends the token of the first.
    return this.#in(accountId, async (manager) => {
      const active = await activeTokens(manager, accountId);
      const former = active.filter(({ id, name }) =>
        tokenId === undefined ? name === null : id === tokenId,
      );
      const [newest] = former;
      if (tokenId !== undefined && !newest) throw unknownToken(tokenId);
      const successor = active.find(
        ({ id, name, replacedUntil }) => name === newest?.name && !replacedUntil && id !== tokenId,
      );
      if (tokenId !== undefined && newest?.replacedUntil && successor)
        throw invalidField('token', `has been replaced by ${successor.id}; rotate that one`);
      const staying = overlap > 0 ? active.length : active.length - former.length;
      if (staying >= MOST_TOKENS)
        throw invalidField(
          'overlap',
          `leaves one token too many: at most ${MOST_TOKENS}; revoke one first, or rotate without it`,
        );
      const now = Date.now();
      const until = new Date(now + overlap);
      for (const { id, replacedUntil } of former)
        if (overlap === 0) await manager.update(Credential, { id }, { revokedAt: new Date(now) });
        else if (!replacedUntil || replacedUntil > until)
          await manager.update(Credential, { id }, { replacedUntil: until });
      const { id, secret } = await insertCredential(manager, accountId, 'api_token', {
        name: newest?.name ?? null,
        spender: newest && newest.name !== null ? spenderOf(newest) : null,
        scopes: newest?.scopes ?? [],
        expiresAt: newest?.expiresAt ?? null,
      });
      await also(manager, id);
      return {
        tokenId: id,
        apiToken: secret,
        formerUntil:
          overlap > 0 && newest
            ? endOfCredential({ expiresAt: newest.expiresAt, replacedUntil: until })
            : null,
      };
    });
  }

  /** @throws ApiError 422 naming the wrong field, or for one token too many */
  async createToken(
    accountId: string,
    { name, scopes = [], expiresAt = null }: NewToken,
    also: Also = nothing,
  ): Promise<CreatedToken> {
    const trimmed = name.trim();
    if (trimmed === '' || trimmed.length > 100)
      throw invalidField('name', 'must be 1 to 100 characters');
    const { tokenScopes } = this.channels;
    const wrong = scopes.findIndex((scope) => !tokenScopes.includes(scope));
    if (wrong >= 0)
      throw invalidField(`scopes[${wrong}]`, `must be one of ${tokenScopes.join(', ')}`);
    if (expiresAt && expiresAt.getTime() <= Date.now())
      throw invalidField('expires', 'must be in the future');
    return this.#in(accountId, async (manager) => {
      const active = await activeTokens(manager, accountId);
      if (active.some((token) => token.name === trimmed))
        throw invalidField('name', 'is that of another token; choose another one, or rotate it');
      if (active.length >= MOST_TOKENS)
        throw invalidField(
          'name',
          `is one token too many: at most ${MOST_TOKENS}; revoke one first`,
        );
      const created = { name: trimmed, scopes, expiresAt };
      const { id, secret } = await insertCredential(manager, accountId, 'api_token', created);
      await also(manager, id);
      return { tokenId: id, apiToken: secret };
    });
  }

  /** The account's API tokens, newest first, expired and revoked ones included; never their secrets. */
  tokens(accountId: string) {
    return this.#read(accountId, async (manager) => {
      const found = await listed(manager, accountId, 'api_token');
      return found.map(({ keyId: tokenId, ...token }) => ({ tokenId, ...token }));
    });
  }

  /** @throws ApiError 404 */
  revokeToken(accountId: string, tokenId: string, also: Also = nothing): Promise<void> {
    return this.#revoke({ id: tokenId, accountId, kind: 'api_token' }, also);
  }

  async createKey(
    accountId: string,
    scopes: readonly Scope[],
    expiresAt: Date | null = null,
    also: Also = nothing,
  ): Promise<{ readonly keyId: string; readonly apiKey: string }> {
    if (expiresAt && expiresAt.getTime() <= Date.now())
      throw invalidField('expires', 'must be in the future');
    return this.#in(accountId, async (manager) => {
      const key = await insertCredential(manager, accountId, 'api_key', { scopes, expiresAt });
      await also(manager, key.id);
      return { keyId: key.id, apiKey: key.secret };
    });
  }

  /** The account's keys, newest first, expired and revoked ones included; never their secrets. */
  keys(accountId: string) {
    return this.#read(accountId, async (manager) => {
      const found = await listed(manager, accountId, 'api_key');
      return found.map(({ name: _name, ...key }) => key);
    });
  }

  /** @throws ApiError 404 */
  revokeKey(accountId: string, keyId: string, also: Also = nothing): Promise<void> {
    return this.#revoke({ id: keyId, accountId, kind: 'api_key' }, also);
  }

  #revoke(one: Pick<Credential, 'id' | 'accountId' | 'kind'>, also: Also): Promise<void> {
    return this.#in(one.accountId, async (manager) => {
      if (!(await manager.existsBy(Credential, one)))
        throw one.kind === 'api_token'
          ? unknownToken(one.id)
          : new ApiError('not_found', `The account has no key ${one.id}`);
      await manager.update(Credential, { ...one, revokedAt: IsNull() }, { revokedAt: new Date() });
      await also(manager);
    });
  }

  /** @throws ApiError 404 */
  find(accountId: string): Promise<Account> {
    return this.#read(accountId, (_manager, account) => Promise.resolve(account));
  }

  async change(accountId: string, change: AccountChange, also: Also = nothing): Promise<void> {
    if (change.rate) checkRate(change.rate);
    if (change.consentWords) checkWords(change.consentWords);
    if (change.guard) checkGuard(change.guard);
    await this.#in(accountId, async (manager) => {
      await manager.update(Account, { id: accountId }, change);
      await also(manager);
    });
  }

  /** Refuses the account's requests and holds its lanes; requests in flight end. Repeatable. */
  suspend(accountId: string, also: Also = nothing): Promise<void> {
    return this.#in(accountId, async (manager) => {
      const active = { id: accountId, suspendedAt: IsNull() };
      await manager.update(Account, active, { suspendedAt: new Date() });
      await this.holds.hold(suspensionOf(accountId), { manager });
      await also(manager);
    });
  }

  /**
   * Ends a suspension. @param waiting whether queued and scheduled batches are sent or cancelled
   * @returns the number of cancelled batches
   */
  async resume(
    accountId: string,
    waiting: 'send' | 'cancel' = 'send',
    also: Also = nothing,
  ): Promise<number> {
    const hold = suspensionOf(accountId);
    const { suspendedAt } = await this.find(accountId);
    if (waiting === 'cancel' && !suspendedAt)
      throw invalidField('account', 'is not suspended; cancel its batches one by one');
    // Before the end of the suspension, so that none of them starts meanwhile.
    const cancelled = waiting === 'cancel' ? await this.holds.cancelWaiting(hold.lanes) : 0;
    await this.#in(accountId, async (manager) => {
      await manager.update(Account, { id: accountId }, { suspendedAt: null });
      await this.holds.release(hold, { manager });
      await also(manager);
    });
    return cancelled;
  }

  async #create(manager: EntityManager, name: string): Promise<CreatedAccount> {
    const trimmed = name.trim();
    if (trimmed === '' || trimmed.length > 100)
      throw invalidField('name', 'must be 1 to 100 characters');
    const accountId = `acc_${randomBase62(22)}`;
    await manager.insert(Account, { id: accountId, name: trimmed, createdAt: new Date() });
    const token = await insertCredential(manager, accountId, 'api_token');
    const key = await insertCredential(manager, accountId, 'api_key', {
      scopes: this.channels.scopes,
    });
    const { carriers } = this.environment;
    for (const { seed } of this.channels.all) await seed?.(manager, { accountId, carriers });
    return { accountId, apiToken: token.secret, apiKey: key.secret };
  }

  /** Without a lock or a transaction, and the caches stay. @throws ApiError 404 */
  async #read<T>(
    accountId: string,
    read: (manager: EntityManager, account: Account) => Promise<T>,
  ): Promise<T> {
    const { manager } = this.dataSource;
    const account = await manager.findOneBy(Account, { id: accountId });
    if (!account) throw unknownAccount(accountId);
    return read(manager, account);
  }

  /** Locks the account, and empties the caches of this process afterwards. @throws ApiError 404 */
  async #in<T>(accountId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const result = await this.messaging.transaction(async (manager) => {
      await lockAccount(manager, accountId);
      return work(manager);
    });
    this.credentials.forget();
    this.templates.forget();
    return result;
  }
}

/** The hold on every lane of a suspended account, also of channels that it has not used yet. */
function suspensionOf(accountId: string): { readonly lanes: string; readonly reason: string } {
  return { lanes: laneOf(accountId, '*'), reason: 'account_suspended' };
}

/** Locks the rows found to the end of the transaction; SQLite's are serial anyway. */
export function forUpdate(manager: EntityManager): Pick<FindOneOptions, 'lock'> {
  const isSqlite = manager.dataSource.options.type === 'better-sqlite3';
  return isSqlite ? {} : { lock: { mode: 'pessimistic_write' } };
}

/** Locks the account to the end of the transaction. @throws ApiError 404 */
export async function lockAccount(manager: EntityManager, accountId: string): Promise<Account> {
  const where = { id: accountId };
  const account = await manager.findOne(Account, { where, ...forUpdate(manager) });
  if (!account) throw unknownAccount(accountId);
  return account;
}

function unknownAccount(id: string): ApiError {
  return new ApiError('not_found', `There is no account ${id}`);
}
