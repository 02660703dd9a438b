import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, In } from 'typeorm';
import { FreshCache } from './fresh-cache.js';
import { Sender } from './sender.entity.js';

/** Which sender IDs an account may use; one in use costs no database read. */
@Injectable()
export class SenderRegistry {
  readonly #cache: FreshCache<true>;

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {
    this.#cache = new FreshCache({
      load: (keys) => this.#load(keys),
      keep: () => true,
    });
  }

  /** At once where the sender is in use, else a promise. */
  isRegistered(accountId: string, sender: string): true | Promise<boolean> {
    const key = keyOf(accountId, sender);
    return this.#cache.peek(key) ?? this.#cache.get(key).then((found) => found === true);
  }

  /** After a write: nothing read before it counts. */
  forget(): void {
    this.#cache.clear();
  }

  async #load(keys: readonly string[]): Promise<Map<string, true>> {
    const pairs = keys.map((key) => key.split('/') as [string, string]);
    const found = await this.dataSource.manager.findBy(Sender, {
      accountId: In([...new Set(pairs.map(([accountId]) => accountId))]),
      sender: In([...new Set(pairs.map(([, sender]) => sender))]),
    });
    return new Map(found.map(({ accountId, sender }) => [keyOf(accountId, sender), true]));
  }
}

/** Neither part can hold a slash. */
function keyOf(accountId: string, sender: string): string {
  return `${accountId}/${sender}`;
}
