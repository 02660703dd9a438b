import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, In } from 'typeorm';
import { Sender, WhatsAppNumber } from './accounts.tables.js';
import { FreshCache, RowCache } from './fresh-cache.js';

export const SENDER_ID = /^(?=.*[A-Za-z])[0-9A-Za-z](?:[0-9A-Za-z ]{0,9}[0-9A-Za-z])?$/;

export const SENDER_ID_RULE =
  'must be 1 to 11 letters, digits and inner spaces with at least one letter, such as ACME';

export function isSenderId(value: unknown): value is string {
  return typeof value === 'string' && SENDER_ID.test(value);
}

@Injectable()
export class SenderRegistry {
  readonly #senders: RowCache<Sender>;

  constructor(@InjectDataSource() source: DataSource) {
    this.#senders = new RowCache(source, Sender, ['accountId', 'sender']);
  }

  async isRegistered(accountId: string, sender: string): Promise<boolean> {
    return (await this.#senders.find({ accountId, sender })) !== undefined;
  }
}

@Injectable()
export class WhatsAppNumbers {
  readonly #numbers: FreshCache<string>;
  readonly #owners: RowCache<WhatsAppNumber>;

  constructor(@InjectDataSource() source: DataSource) {
    this.#owners = new RowCache(source, WhatsAppNumber, ['number']);
    this.#numbers = new FreshCache(async (accountIds) => {
      const found = await source.manager.find(WhatsAppNumber, {
        where: { accountId: In(accountIds) },
        order: { createdAt: 'DESC', number: 'DESC' },
      });
      // Newest first, so that the oldest number of an account overwrites the others.
      return new Map(found.map(({ accountId, number }) => [accountId, number]));
    });
  }

  /** The account's oldest number. */
  of(accountId: string): Promise<string | undefined> {
    return this.#numbers.get(accountId);
  }

  async ownerOf(number: string): Promise<string | undefined> {
    return (await this.#owners.find({ number }))?.accountId;
  }
}
