import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Sender, WhatsAppNumber } from './accounts.tables.js';
import { type Fresh, RowCache, whenKnown } from './row-cache.js';

export const SENDER_ID = /^(?=.*[A-Za-z])[0-9A-Za-z](?:[0-9A-Za-z ]{0,9}[0-9A-Za-z])?$/;

export const SENDER_ID_RULE =
  'must be 1 to 11 letters, digits and inner spaces with at least one letter, such as ACME';

export function isSenderId(value: unknown): value is string {
  return typeof value === 'string' && SENDER_ID.test(value);
}

@Injectable()
export class SenderRegistry {
  readonly #senders: RowCache<Sender>;

  constructor(@InjectDataSource() private readonly source: DataSource) {
    this.#senders = new RowCache(source, Sender, ['accountId', 'sender']);
  }

  /** The first approved sender ID by name. */
  async firstOf(accountId: string): Promise<string | undefined> {
    const [first] = await this.source.manager.find(Sender, {
      where: { accountId, state: 'approved' },
      order: { sender: 'ASC' },
      take: 1,
    });
    return first?.sender;
  }

  /** Whether the account may send from it: a sender ID that waits for approval does not count. */
  isRegistered(accountId: string, sender: string): Fresh<boolean> {
    return whenKnown(
      this.#senders.find({ accountId, sender }),
      (found) => found?.state === 'approved',
    );
  }

  forget(): void {
    this.#senders.clear();
  }
}

/** Finds a verified domain of an account; email provides it. */
export abstract class AccountDomains {
  /** The first one by name. */
  abstract firstOf(accountId: string): Promise<string | undefined>;
}

/** Finds a caller id of an account; voice provides it. */
export abstract class AccountCallers {
  /** The first one by number. */
  abstract firstOf(accountId: string): Promise<string | undefined>;
}

@Injectable()
export class WhatsAppNumbers {
  readonly #oldest: RowCache<WhatsAppNumber>;
  readonly #numbers: RowCache<WhatsAppNumber>;

  constructor(@InjectDataSource() source: DataSource) {
    const order = { createdAt: 'ASC', number: 'ASC' } as const;
    this.#oldest = new RowCache(source, WhatsAppNumber, ['accountId'], order);
    this.#numbers = new RowCache(source, WhatsAppNumber, ['number']);
  }

  /** The account's oldest number. */
  async of(accountId: string): Promise<string | undefined> {
    return (await this.#oldest.find({ accountId }))?.number;
  }

  async ownerOf(number: string): Promise<string | undefined> {
    return (await this.#numbers.find({ number }))?.accountId;
  }
}
