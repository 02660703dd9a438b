import { MessagingService } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { type EntityManager, IsNull, LessThan } from 'typeorm';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { ApiError, invalidFields } from '../http/api-error.js';
import { checkWords, formatRate, parseRate } from './account-settings.js';
import {
  Account,
  type AccountWords,
  Credential,
  type CredentialKind,
  Sender,
} from './accounts.tables.js';
import { CredentialVerifier, fingerprint, newSecret, randomBase62 } from './credentials.js';
import { type Scope, SCOPES } from './scope.js';
import { isSenderId, SENDER_ID_RULE, SenderRegistry } from './senders.js';
import { seedDemoAccount } from './seed-demo-account.js';

/** A new account. Its secrets are returned once and stored nowhere. */
export interface CreatedAccount {
  readonly accountId: string;
  readonly apiToken: string;
  readonly apiKey: string;
}

/** Accounts per page. */
const PAGE = 50;

/** A credential as an operator sees it; never its secret. */
export interface CredentialView {
  readonly keyId: string;
  readonly lastFour: string;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/**
 * Operations on accounts for operators. Every write is one transaction, serialised with the store's
 * on SQLite.
 */
@Injectable()
export class AccountsService {
  constructor(
    private readonly messaging: MessagingService,
    private readonly credentials: CredentialVerifier,
    private readonly senders: SenderRegistry,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'CARRIER'>,
  ) {}

  /**
   * Creates an account with an API token and a key with all scopes; on the simulated carrier also a
   * WhatsApp number and templates.
   */
  create(name: string): Promise<CreatedAccount> {
    const wanted = accountName(name);
    return this.#write((manager) => this.#create(manager, wanted));
  }

  /** Creates the first account with a sender; `undefined` where an account exists. */
  createFirst(name: string, sender: string): Promise<CreatedAccount | undefined> {
    return this.#write(async (manager) => {
      if (await manager.exists(Account)) return undefined;
      const created = await this.#create(manager, accountName(name));
      await insertSender(manager, created.accountId, sender);
      return created;
    });
  }

  /**
   * Lists accounts, newest first.
   * @param cursor `nextCursor` of the previous page: the id of its last account
   */
  list(cursor = '') {
    return this.messaging.transaction(async (manager) => {
      const last = cursor && (await manager.findOneBy(Account, { id: cursor }));
      if (last === null)
        throw invalidFields([{ path: 'cursor', message: 'must be the next_cursor of a page' }]);
      const found = await manager.find(Account, {
        ...(last && {
          where: [
            { createdAt: LessThan(last.createdAt) },
            { createdAt: last.createdAt, id: LessThan(last.id) },
          ],
        }),
        order: { createdAt: 'DESC', id: 'DESC' },
        take: PAGE,
      });
      const accounts = found.map(({ id, name, createdAt, suspendedAt }) => ({
        accountId: id,
        name,
        status: suspendedAt ? 'suspended' : 'active',
        createdAt,
      }));
      return { accounts, nextCursor: found.length === PAGE ? (found.at(-1)?.id ?? null) : null };
    });
  }

  /** Registers a sender ID; repeated calls are safe. */
  async addSender(accountId: string, sender: string): Promise<void> {
    if (!isSenderId(sender)) throw invalidFields([{ path: 'sender', message: SENDER_ID_RULE }]);
    await this.#write(async (manager) => {
      await requireAccount(manager, accountId);
      await insertSender(manager, accountId, sender);
    });
  }

  /** Creates an API token; earlier ones stop working. */
  rotateToken(accountId: string): Promise<string> {
    return this.#write(async (manager) => {
      await lockAccount(manager, accountId);
      await manager.update(
        Credential,
        { accountId, kind: 'api_token', revokedAt: IsNull() },
        { revokedAt: new Date() },
      );
      return (await insertCredential(manager, accountId, 'api_token', [])).secret;
    });
  }

  async createKey(
    accountId: string,
    scopes: readonly Scope[],
    expiresAt: Date | null = null,
  ): Promise<{ readonly keyId: string; readonly apiKey: string }> {
    if (expiresAt && expiresAt.getTime() <= Date.now())
      throw invalidFields([{ path: 'expires', message: 'must be in the future' }]);
    return this.#write(async (manager) => {
      await requireAccount(manager, accountId);
      const { id, secret } = await insertCredential(
        manager,
        accountId,
        'api_key',
        scopes,
        expiresAt,
      );
      return { keyId: id, apiKey: secret };
    });
  }

  /** The account's keys, newest first, expired and revoked ones included. */
  keys(accountId: string): Promise<CredentialView[]> {
    return this.messaging.transaction(async (manager) => {
      await requireAccount(manager, accountId);
      const found = await manager.find(Credential, {
        where: { accountId, kind: 'api_key' },
        order: { createdAt: 'DESC', id: 'ASC' },
      });
      return found.map(viewOf);
    });
  }

  async revokeKey(accountId: string, keyId: string): Promise<void> {
    await this.#write(async (manager) => {
      await requireAccount(manager, accountId);
      const found = await manager.findOneBy(Credential, { id: keyId, accountId, kind: 'api_key' });
      if (!found) throw new ApiError('not_found', `The account has no key ${keyId}`);
      if (!found.revokedAt)
        await manager.update(Credential, { id: keyId }, { revokedAt: new Date() });
    });
  }

  suspend(accountId: string): Promise<void> {
    return this.#change(accountId, { suspendedAt: new Date() });
  }

  resume(accountId: string): Promise<void> {
    return this.#change(accountId, { suspendedAt: null });
  }

  /** The account's own rate; `null` where `RATE_LIMIT` applies. */
  async rate(accountId: string): Promise<string | null> {
    const { rateMax, ratePer } = await this.#find(accountId);
    return rateMax === null || ratePer === null ? null : formatRate(rateMax, ratePer);
  }

  /** @param rate such as `50/s`; `null`: `RATE_LIMIT` applies */
  async setRate(accountId: string, rate: string | null): Promise<void> {
    const { max: rateMax, per: ratePer } =
      rate === null ? { max: null, per: null } : parseRate(rate);
    await this.#change(accountId, { rateMax, ratePer });
  }

  /** The account's own consent words and replies. */
  async words(accountId: string): Promise<AccountWords> {
    return (await this.#find(accountId)).consentWords ?? {};
  }

  /** Replaces the account's own consent words and replies; an empty object restores the defaults. */
  async setWords(accountId: string, words: AccountWords): Promise<void> {
    checkWords(words);
    const consentWords = Object.keys(words).length > 0 ? words : null;
    await this.#change(accountId, { consentWords });
  }

  async #create(manager: EntityManager, name: string): Promise<CreatedAccount> {
    const created = await createAccount(manager, name);
    if (this.environment.CARRIER === 'simulator') await seedDemoAccount(manager, created.accountId);
    return created;
  }

  #find(accountId: string): Promise<Account> {
    return this.messaging.transaction(async (manager) => {
      const account = await manager.findOneBy(Account, { id: accountId });
      if (!account) throw unknownAccount(accountId);
      return account;
    });
  }

  #change(accountId: string, change: Partial<Account>): Promise<void> {
    return this.#write(async (manager) => {
      await requireAccount(manager, accountId);
      await manager.update(Account, { id: accountId }, change);
    });
  }

  async #write<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const result = await this.messaging.transaction(work);
    this.credentials.forget();
    this.senders.forget();
    return result;
  }
}

function accountName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.length > 100)
    throw invalidFields([{ path: 'name', message: 'must be 1 to 100 characters' }]);
  return trimmed;
}

async function requireAccount(manager: EntityManager, accountId: string): Promise<void> {
  if (!(await manager.existsBy(Account, { id: accountId }))) throw unknownAccount(accountId);
}

function unknownAccount(accountId: string): ApiError {
  return new ApiError('not_found', `There is no account ${accountId}`);
}

/** Locks the account, so that of two rotations at once the second revokes the token of the first. On SQLite transactions are serial anyway. */
export async function lockAccount(manager: EntityManager, accountId: string): Promise<void> {
  await requireAccount(manager, accountId);
  if (manager.dataSource.options.type !== 'better-sqlite3')
    await manager.findOne(Account, {
      where: { id: accountId },
      lock: { mode: 'pessimistic_write' },
    });
}

async function createAccount(manager: EntityManager, name: string): Promise<CreatedAccount> {
  const accountId = `acc_${randomBase62(22)}`;
  await manager.insert(Account, { id: accountId, name, createdAt: new Date(), suspendedAt: null });
  const token = await insertCredential(manager, accountId, 'api_token', []);
  const key = await insertCredential(manager, accountId, 'api_key', SCOPES);
  return { accountId, apiToken: token.secret, apiKey: key.secret };
}

async function insertCredential(
  manager: EntityManager,
  accountId: string,
  kind: CredentialKind,
  scopes: readonly Scope[],
  expiresAt: Date | null = null,
): Promise<{ id: string; secret: string }> {
  const secret = newSecret(kind);
  const id = `crd_${randomBase62(22)}`;
  await manager.insert(Credential, {
    id,
    accountId,
    kind,
    fingerprint: fingerprint(secret),
    lastFour: secret.slice(-4),
    scopes,
    createdAt: new Date(),
    revokedAt: null,
    expiresAt,
    lastUsedAt: null,
  });
  return { id, secret };
}

function viewOf(credential: Credential): CredentialView {
  const { id, lastFour, scopes, createdAt, expiresAt, lastUsedAt, revokedAt } = credential;
  const expired = expiresAt !== null && expiresAt.getTime() <= Date.now();
  const status = revokedAt ? 'revoked' : expired ? 'expired' : 'active';
  return { keyId: id, lastFour, status, scopes, createdAt, expiresAt, lastUsedAt };
}

/** The account exists and the sender is well-formed, so that `orIgnore` ignores duplicates only. */
async function insertSender(
  manager: EntityManager,
  accountId: string,
  sender: string,
): Promise<void> {
  await manager
    .createQueryBuilder()
    .insert()
    .into(Sender)
    .values({ accountId, sender, createdAt: new Date() })
    .orIgnore()
    .updateEntity(false)
    .execute();
}
