import type { SenderState } from '../accounts/accounts.tables.js';
import type { AccountCallers } from '../accounts/senders.js';
import { isPhoneNumber, MessagingService } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { type Also, lockAccount } from '../accounts/accounts.service.js';
import { type Fresh, RowCache, whenKnown } from '../accounts/row-cache.js';
import { DEMO_CALLER } from '../accounts/demo-account.js';
import { ApiError, invalidField } from '../http/api-error.js';
import { Caller } from './callers.tables.js';

const MOST_CALLERS = 1_000;

/** Caller ids of accounts: only a registered one may be called from. */
@Injectable()
export class CallersService implements AccountCallers {
  readonly #callers: RowCache<Caller>;

  constructor(
    @InjectDataSource() source: DataSource,
    private readonly messaging: MessagingService,
  ) {
    this.#callers = new RowCache(source, Caller, ['accountId', 'caller']);
  }

  isRegistered(accountId: string, caller: string): Fresh<boolean> {
    return whenKnown(
      this.#callers.find({ accountId, caller }),
      (found) => found?.state === 'approved',
    );
  }

  async firstOf(accountId: string): Promise<string | undefined> {
    return (await this.list(accountId)).find(({ state }) => state === 'approved')?.caller;
  }

  /** By number, also those that wait for approval. */
  list(accountId: string): Promise<Caller[]> {
    return this.#in(accountId, (manager) =>
      manager.find(Caller, { where: { accountId }, order: { caller: 'ASC' } }),
    );
  }

  /** The first callers of all accounts that wait for approval. */
  pending(most: number): Promise<Caller[]> {
    const order = { accountId: 'ASC', caller: 'ASC' } as const;
    return this.messaging.transaction((manager) =>
      manager.find(Caller, { where: { state: 'pending' }, order, take: most }),
    );
  }

  /** Adds a caller id, or approves one that waits. Repeatable. */
  async add(accountId: string, caller: string, also?: Also): Promise<void> {
    await this.#put(accountId, caller, 'approved', also);
  }

  /** Adds a caller id that waits for approval. @returns its state: it may be approved already */
  request(accountId: string, caller: string, also?: Also): Promise<SenderState> {
    return this.#put(accountId, caller, 'pending', also);
  }

  /** @throws ApiError 404 where none waits for approval */
  async approve(accountId: string, caller: string, also?: Also): Promise<void> {
    await this.#in(accountId, async (manager) => {
      const pending = { accountId, caller, state: 'pending' } as const;
      if (!(await manager.existsBy(Caller, pending))) throw noCaller();
      await manager.update(Caller, pending, { state: 'approved' });
      await also?.(manager);
    });
  }

  /** Calls that are queued with it are still made. @throws ApiError 404 */
  async remove(
    accountId: string,
    caller: string,
    { only, also }: { readonly only?: SenderState; readonly also?: Also } = {},
  ): Promise<void> {
    await this.#in(accountId, async (manager) => {
      const found = { accountId, caller, ...(only && { state: only }) };
      if (!(await manager.existsBy(Caller, found))) throw noCaller();
      await manager.delete(Caller, found);
      await also?.(manager);
    });
  }

  /** So that the demo account can call at once. */
  async addDemo(manager: EntityManager, accountId: string): Promise<void> {
    await manager.insert(Caller, { accountId, caller: DEMO_CALLER, createdAt: new Date() });
  }

  #put(accountId: string, caller: string, state: SenderState, also?: Also): Promise<SenderState> {
    if (!isPhoneNumber(caller))
      throw invalidField('caller', 'must be 7 to 15 digits with country code');
    return this.#in(accountId, async (manager) => {
      const known = await manager.findOneBy(Caller, { accountId, caller });
      if (known?.state === 'approved') return known.state;
      if (!known && (await manager.countBy(Caller, { accountId })) >= MOST_CALLERS)
        throw invalidField(
          'caller',
          `is one too many: an account has at most ${MOST_CALLERS}; remove one first`,
        );
      const createdAt = known?.createdAt ?? new Date();
      await manager.save(Caller, { accountId, caller, createdAt, state });
      await also?.(manager);
      return state;
    });
  }

  /** Locks the account, and empties the cache of this process afterwards. @throws ApiError 404 */
  async #in<T>(accountId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const result = await this.messaging.transaction(async (manager) => {
      await lockAccount(manager, accountId);
      return work(manager);
    });
    this.#callers.clear();
    return result;
  }
}

function noCaller(): ApiError {
  return new ApiError('not_found', 'There is no such caller id');
}
