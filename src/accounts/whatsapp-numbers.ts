import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, In } from 'typeorm';
import { WhatsAppNumber } from './accounts.tables.js';
import { FreshCache } from './fresh-cache.js';

@Injectable()
export class WhatsAppNumbers {
  readonly #numbers = new FreshCache(async (accountIds) => {
    const found = await this.dataSource.manager.find(WhatsAppNumber, {
      where: { accountId: In(accountIds) },
      order: { createdAt: 'DESC', number: 'DESC' },
    });
    // Newest first, so that the oldest number of an account overwrites the others.
    return new Map(found.map(({ accountId, number }) => [accountId, number]));
  });

  readonly #owners = new FreshCache(async (numbers) => {
    const found = await this.dataSource.manager.findBy(WhatsAppNumber, { number: In(numbers) });
    return new Map(found.map(({ number, accountId }) => [number, accountId]));
  });

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** The account's oldest number. */
  of(accountId: string): Promise<string | undefined> {
    return this.#numbers.get(accountId);
  }

  ownerOf(number: string): Promise<string | undefined> {
    return this.#owners.get(number);
  }
}
