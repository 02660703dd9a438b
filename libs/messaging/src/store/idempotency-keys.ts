import { IdempotencyKeyReusedError } from '../message/errors.js';
import { type AcceptedBatch, accepted, type KeyOwner } from './accepted-batch.js';
import type { AcceptanceStatements } from './acceptance.statements.js';
import type { Sql } from './store-database.js';
import type { NewBatch } from './new-batch.js';

interface KeyRow {
  readonly id: string;
  readonly tenant: string;
  readonly channel: string;
  readonly idempotency_key: string;
  readonly fingerprint: string;
  readonly created_at: string | number;
  readonly recipient_count: number;
}

/** Who holds the idempotency keys; a batch row is the record of its own. */
export class IdempotencyKeys {
  constructor(
    private readonly statements: AcceptanceStatements,
    /** Milliseconds a key is kept. */
    private readonly window: number,
  ) {}

  /**
   * The batch that has this one's key already.
   * @throws IdempotencyKeyReusedError where that is another message
   */
  async replayOf(batch: NewBatch, sql: Pick<Sql, 'all'>): Promise<AcceptedBatch | undefined> {
    if (batch.idempotencyKey === null) return undefined;
    const [row] = await sql.all<KeyRow>(this.statements.findKeys, this.#bound([batch]));
    const owner = row && ownerOf(row);
    if (!owner || owner.createdAt + this.window < batch.createdAt) return undefined;
    if (owner.fingerprint !== batch.fingerprint) throw new IdempotencyKeyReusedError();
    return accepted(batch, owner, []);
  }

  /**
   * Who holds the keys of these before they are stored. A key of nobody is not locked: under REPEATABLE
   * READ MySQL would lock the gap it is in, and with it the keys of others.
   */
  async before(tx: Sql, keyed: readonly NewBatch[]): Promise<Map<string, KeyOwner>> {
    if (keyed.length === 0) return new Map();
    const { findKeys } = this.statements;
    const known = await tx.all<KeyRow>(findKeys, this.#bound(keyed));
    return known.length === 0 ? new Map() : this.owners(tx, keyed);
  }

  /** Who holds the keys of these now, by {@link keyOf}, locked; keys past their window are given up. */
  async owners(tx: Sql, keyed: readonly NewBatch[]): Promise<Map<string, KeyOwner>> {
    const owners = new Map<string, KeyOwner>();
    const [first] = keyed;
    if (!first) return owners;
    const { selectKeys, releaseKeys, ids } = this.statements;
    const rows = await tx.all<KeyRow>(selectKeys, this.#bound(keyed));
    const expired: string[][] = [];
    for (const row of rows) {
      const owner = ownerOf(row);
      if (owner.createdAt + this.window < first.createdAt) expired.push([row.id]);
      else owners.set(JSON.stringify([row.tenant, row.channel, row.idempotency_key]), owner);
    }
    if (expired.length > 0) await tx.run(releaseKeys, ids.bind(expired));
    return owners;
  }

  #bound(keyed: readonly NewBatch[]): unknown[] {
    return this.statements.keys.bind(
      keyed.map(({ tenant, channel, idempotencyKey }) => [tenant, channel, idempotencyKey]),
    );
  }
}

/** `null`: it has none. */
export function keyOf({ tenant, channel, idempotencyKey }: NewBatch): string | null {
  return idempotencyKey === null ? null : JSON.stringify([tenant, channel, idempotencyKey]);
}

function ownerOf(row: KeyRow): KeyOwner {
  return {
    id: row.id,
    fingerprint: row.fingerprint,
    createdAt: Math.floor(Number(row.created_at) / 1_000),
    recipients: { length: row.recipient_count },
  };
}
