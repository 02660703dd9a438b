import { MessagingService } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager, In } from 'typeorm';
import { type Also, lockAccount } from '../accounts/accounts.service.js';
import { Account } from '../accounts/accounts.tables.js';
import { randomBase62 } from '../accounts/credentials.js';
import { networksOf } from '../accounts/limits.js';
import { ApiError, invalidField } from '../http/api-error.js';
import { hashPassword, isPasswordOf } from '../secrets/password-hash.js';
import { type SmppAlphabets, SmppCredential, SmppDelivery, SmppPart } from './smpp.tables.js';

/** The password is returned once and stored nowhere. */
export interface NewSmppCredential {
  readonly systemId: string;
  readonly password: string;
}

export interface SmppPrincipal extends SmppAlphabets {
  readonly systemId: string;
  readonly accountId: string;
  /** Changes with the password. */
  readonly passwordHash: string;
}

const MOST_CREDENTIALS = 20;

export function isSystemId(text: string): boolean {
  return /^smpp[0-9A-Za-z]{8}$/.test(text);
}

/** Longest password that SMPP allows: 47 random bits. */
const PASSWORD_LENGTH = 8;

const nothing: Also = () => Promise.resolve();

/** The pairs of system_id and password with which accounts bind over SMPP. */
@Injectable()
export class SmppCredentials {
  constructor(
    private readonly messaging: MessagingService,
    @InjectDataSource() private readonly source: DataSource,
  ) {}

  /** @throws ApiError 404 or 422 */
  async add(
    accountId: string,
    also: Also = nothing,
    alphabets: Partial<SmppAlphabets> = {},
  ): Promise<NewSmppCredential> {
    const systemId = `smpp${randomBase62(8)}`;
    const { password, passwordHash } = await newPassword();
    await this.messaging.transaction(async (manager) => {
      await lockAccount(manager, accountId);
      if ((await manager.countBy(SmppCredential, { accountId })) >= MOST_CREDENTIALS)
        throw invalidField(
          'account',
          `has ${MOST_CREDENTIALS} system_ids, the most it may have; remove one first`,
        );
      const row = { systemId, accountId, passwordHash, createdAt: new Date(), ...alphabets };
      await manager.insert(SmppCredential, row);
      await also(manager, systemId);
    });
    return { systemId, password };
  }

  /** Oldest first. @throws ApiError 404 */
  list(accountId: string): Promise<SmppCredential[]> {
    return this.messaging.transaction(async (manager) => {
      await lockAccount(manager, accountId);
      const order = { createdAt: 'ASC', systemId: 'ASC' } as const;
      return manager.find(SmppCredential, { where: { accountId }, order });
    });
  }

  /** Gives it a new password, and ends its binds within a second. @throws ApiError 404 */
  async rotate(
    accountId: string,
    systemId: string,
    also: Also = nothing,
  ): Promise<NewSmppCredential> {
    const { password, passwordHash } = await newPassword();
    await this.#change(accountId, systemId, also, (manager) =>
      manager.update(SmppCredential, { systemId }, { passwordHash }),
    );
    return { systemId, password };
  }

  /** Changes how its submits are read, and ends its binds within a second. @throws ApiError 404 */
  async change(
    accountId: string,
    systemId: string,
    alphabets: Partial<SmppAlphabets>,
    also: Also = nothing,
  ): Promise<void> {
    await this.#change(accountId, systemId, also, (manager) =>
      manager.update(SmppCredential, { systemId }, alphabets),
    );
  }

  /** Ends its binds within a second, and deletes its deliveries. @throws ApiError 404 */
  remove(accountId: string, systemId: string, also: Also = nothing): Promise<void> {
    return this.#change(accountId, systemId, also, async (manager) => {
      await manager.delete(SmppCredential, { systemId });
      await manager.delete(SmppPart, { systemId });
      await manager.delete(SmppDelivery, { systemId });
    });
  }

  /** Takes the same time for an unknown system_id. @throws ApiError 503 where too many wait */
  async verify(
    systemId: string,
    password: string,
    address: string,
  ): Promise<SmppPrincipal | undefined> {
    const found = await this.source.manager.findOneBy(SmppCredential, { systemId });
    // Guesses of strangers do not delay the binds of accounts.
    const account = found?.accountId ?? 'unknown';
    const share = ['smpp', account, ...networksOf(address)] as const;
    return (await isPasswordOf(password, found?.passwordHash, share)) && found ? found : undefined;
  }

  async noteBind(systemId: string): Promise<void> {
    await this.messaging.transaction((manager) =>
      manager.update(SmppCredential, { systemId }, { lastBoundAt: new Date() }),
    );
  }

  /** Those of the bound that may stay: not removed or changed, and their account is active. */
  async stillValid(bound: readonly SmppPrincipal[]): Promise<ReadonlySet<SmppPrincipal>> {
    if (bound.length === 0) return new Set();
    const { manager } = this.source;
    const known = await manager.findBy(SmppCredential, {
      systemId: In([...new Set(bound.map(({ systemId }) => systemId))]),
    });
    const accounts = await manager.findBy(Account, {
      id: In([...new Set(known.map(({ accountId }) => accountId))]),
    });
    const active = new Set(accounts.filter((one) => !one.suspendedAt).map(({ id }) => id));
    const current = new Map(
      known
        .filter(({ accountId }) => active.has(accountId))
        .map((credential) => [credential.systemId, credential]),
    );
    return new Set(
      bound.filter((one) => {
        const now = current.get(one.systemId);
        return (
          now?.passwordHash === one.passwordHash &&
          now.dataCoding0 === one.dataCoding0 &&
          now.dataCoding1 === one.dataCoding1
        );
      }),
    );
  }

  async #change(
    accountId: string,
    systemId: string,
    also: Also,
    work: (manager: EntityManager) => Promise<unknown>,
  ): Promise<void> {
    await this.messaging.transaction(async (manager) => {
      await lockAccount(manager, accountId);
      if (!(await manager.existsBy(SmppCredential, { systemId, accountId })))
        throw new ApiError('not_found', `The account has no system_id ${systemId}`);
      await work(manager);
      await also(manager);
    });
  }
}

async function newPassword(): Promise<{ password: string; passwordHash: string }> {
  const password = randomBase62(PASSWORD_LENGTH);
  return { password, passwordHash: await hashPassword(password) };
}
