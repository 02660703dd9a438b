import type { Dialect } from '../store/dialect.js';
import type { Sql } from '../store/store-database.js';
import { eraseRecipient } from '../store/upkeep/erasure.js';
import { REFUSED } from './consents.js';
import type { Suppressions } from './suppressions.js';

export interface ErasureResult {
  /** Messages that no longer name the person. */
  readonly messages: number;
  /** Batches that have not ended and still do. */
  readonly remaining: number;
}

/** Forgets one person, keeping the counts and what they refused. */
export class Erasure {
  constructor(
    private readonly dialect: Dialect,
    private readonly suppressions: Suppressions,
  ) {}

  /** @param contact locked already: what it refuses from now on waits until it is gone */
  async erase(
    tx: Sql,
    tenant: string,
    contact: string | undefined,
    phone: string | null,
    now: number,
  ): Promise<ErasureResult> {
    if (contact !== undefined) {
      const refused = await tx.all<{ channel: string }>(
        `SELECT k.channel FROM messaging_consent k WHERE k.contact = ? AND k.state = 'opted_out'
         ${this.dialect.forUpdate('k')}`,
        [contact],
      );
      if (phone !== null)
        for (const { channel } of refused)
          await this.suppressions.add(tx, tenant, [phone], {
            channel,
            reason: REFUSED,
            at: now,
          });
      for (const table of ['group_member', 'inbound', 'consent_history', 'consent'])
        await tx.run(`DELETE FROM messaging_${table} WHERE contact = ?`, [contact]);
      await tx.run('DELETE FROM messaging_contact WHERE id = ?', [contact]);
    }
    return phone === null
      ? { messages: 0, remaining: 0 }
      : eraseRecipient(tx, this.dialect, tenant, phone);
  }
}
