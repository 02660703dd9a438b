import { isPhoneNumber, MessagingService } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, In } from 'typeorm';
import { ApiError, invalidFields } from '../http/api-error.js';
import { Account } from './account.entity.js';
import { FreshCache } from './fresh-cache.js';
import { WhatsAppNumber } from './whatsapp-number.entity.js';

/** From which WhatsApp number an account sends; one in use costs no database read. */
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

  /** Gives the account a number; again is no error. @throws ApiError where another account has it */
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
    // Of several the oldest is set last.
    return new Map(found.map(({ accountId, number }) => [accountId, number]));
  }
}
