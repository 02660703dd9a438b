import { type InboundMessage, isPhoneNumber, MessagingService } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, In } from 'typeorm';
import { ApiError, invalidFields } from '../http/api-error.js';
import { Account, WhatsAppNumber } from './accounts.tables.js';
import { FreshCache } from './fresh-cache.js';

/** The WhatsApp number of an account; a cached one costs no database read. */
@Injectable()
export class WhatsAppNumbers {
  readonly #byAccount: FreshCache<string>;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly messaging: MessagingService,
  ) {
    this.#byAccount = new FreshCache({ load: (ids) => this.#firstOf(ids), keep: () => true });
  }

  /** The account's oldest number. */
  of(accountId: string): Promise<string | undefined> {
    return this.#byAccount.get(accountId);
  }

  /**
   * Assigns a number to the account; repeated calls are safe. @throws ApiError where another
   * account has it
   */
  async add(accountId: string, number: string): Promise<void> {
    if (!isPhoneNumber(number))
      throw invalidFields([
        { path: 'number', message: 'must be 7 to 15 digits with country code' },
      ]);
    await this.messaging.transaction(async (manager) => {
      if (!(await manager.existsBy(Account, { id: accountId })))
        throw new ApiError('not_found', `There is no account ${accountId}`);
      const taken = await manager.findOneBy(WhatsAppNumber, { number });
      if (taken && taken.accountId !== accountId)
        throw invalidFields([{ path: 'number', message: 'belongs to another account' }]);
      if (!taken)
        await manager.insert(WhatsAppNumber, { number, accountId, createdAt: new Date() });
    });
    this.#byAccount.clear();
  }

  async #firstOf(ids: readonly string[]): Promise<Map<string, string>> {
    const found = await this.dataSource.manager.find(WhatsAppNumber, {
      where: { accountId: In([...ids]) },
      order: { createdAt: 'DESC', number: 'DESC' },
    });
    // Newest first, so that the oldest number of an account overwrites the others.
    return new Map(found.map(({ accountId, number }) => [accountId, number]));
  }
}

/** Finds the account of an inbound message by the number it was sent to. */
export function numberOwners(
  dataSource: DataSource,
): (message: InboundMessage) => Promise<string | undefined> {
  const owners = new FreshCache<string>({
    load: async (numbers) => {
      const where = { number: In([...numbers]) };
      const found = await dataSource.manager.find(WhatsAppNumber, { where });
      return new Map(found.map(({ number, accountId }) => [number, accountId]));
    },
    keep: () => true,
  });
  return async ({ channel, to }) => (channel === 'whatsapp' ? owners.get(to) : undefined);
}
