import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, In } from 'typeorm';
import { Sender } from './accounts.tables.js';
import { FreshCache } from './fresh-cache.js';

export const SENDER_ID = /^(?=.*[A-Za-z])[0-9A-Za-z](?:[0-9A-Za-z ]{0,9}[0-9A-Za-z])?$/;

export const SENDER_ID_RULE =
  'must be 1 to 11 letters, digits and inner spaces with at least one letter, such as ACME';

export function isSenderId(value: unknown): value is string {
  return typeof value === 'string' && SENDER_ID.test(value);
}

@Injectable()
export class SenderRegistry {
  readonly #senders = new FreshCache((keys) => this.#load(keys));

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async isRegistered(accountId: string, sender: string): Promise<boolean> {
    return (await this.#senders.get(keyOf({ accountId, sender }))) === true;
  }

  async #load(keys: readonly string[]): Promise<Map<string, true>> {
    const pairs = keys.map((key) => key.split('/'));
    const found = await this.dataSource.manager.findBy(Sender, {
      accountId: In(pairs.map(([accountId]) => accountId)),
      sender: In(pairs.map(([, sender]) => sender)),
    });
    return new Map(found.map((one) => [keyOf(one), true]));
  }
}

/** The slash is unambiguous: neither part may contain one. */
function keyOf({ accountId, sender }: Sender): string {
  return `${accountId}/${sender}`;
}
