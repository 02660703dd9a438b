import { addressOfKey } from '../message/address.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import type { Dialect } from '../store/database/dialect.js';

import type { Sql } from '../store/database/store-database.js';
import { eraseRecipient } from '../store/upkeep/erasure.js';
import { type ConsentScope, REFUSED } from './consent.js';
import type { ContactStore } from './contact-store.js';
import type { Suppressions } from './suppressions.js';

export interface ErasureResult {
  /** Number of messages from which the address was erased. */
  readonly messages: number;
  /** Number of open batches that still contain the address. */
  readonly remaining: number;
}

/** Erases persons by their addresses; keeps counts and refusals. */
export class Erasure {
  readonly #ids;
  readonly #refused: string;

  constructor(
    private readonly dialect: Dialect,
    private readonly registry: ChannelRegistry,
    private readonly store: ContactStore,
    private readonly suppressions: Suppressions,
  ) {
    this.#ids = dialect.rows({ v_id: 'uuid' });
    this.#refused = `SELECT k.contact, k.channel, k.category FROM ${this.#ids.sql}
      ${dialect.join} messaging_consent k ON k.contact = v_id WHERE k.state = 'opted_out'`;
  }

  /** @param now epoch milliseconds */
  async erase(
    tx: Sql,
    tenant: string,
    given: readonly string[],
    now: number,
  ): Promise<ErasureResult> {
    // The locks make a concurrent refusal wait until the contact is deleted.
    const contacts = [...new Set((await this.store.hold(tx, tenant, given)).values())];
    const addresses = new Set(given);
    for (const contact of contacts) {
      const own = await this.store.addressesOf(tx, [contact]);
      for (const address of own) addresses.add(address);
      const refused = await tx.all<ConsentScope>(this.#refused, this.#ids.bind([[contact]]));
      for (const scope of refused) {
        const kept = own.filter((address) => this.#reaches(scope.channel, address));
        await this.suppressions.add(tx, tenant, kept, scope, { reason: REFUSED, at: now });
      }
    }
    await this.store.remove(tx, contacts);
    const result = { messages: 0, remaining: 0 };
    for (const address of [...addresses].sort()) {
      const { messages, remaining } = await eraseRecipient(tx, this.dialect, tenant, address);
      result.messages += messages;
      result.remaining += remaining;
    }
    return result;
  }

  /** Whether the channel sends to addresses of this kind. */
  #reaches(channel: string, address: string): boolean {
    const { kind } = addressOfKey(address);
    return !this.registry.has(channel) || this.registry.get(channel).addressKinds.includes(kind);
  }
}
