import type { EntityManager } from 'typeorm';
import type { Sql, StoreDatabase } from '../store/database/store-database.js';
import { groupedBy, type Row } from './contact-tables.js';

/** An identity of a number of a tenant. */
export interface TenantNumber {
  readonly tenant: string;
  readonly address: string;
}

/** Numbers of one person, as a platform answered. */
export interface LearntPerson {
  /** One of them, which names the person. */
  readonly person: string;
  readonly numbers: readonly string[];
}

/** The learnt person of each number that has one, by {@link numberKey}. */
export type LearntPeople = ReadonlyMap<string, LearntPerson>;

export function numberKey({ tenant, address }: TenantNumber): string {
  return `${address} ${tenant}`;
}

/** Reads and writes the numbers that platforms answered for others. */
export class LearntNumbers {
  readonly #keys;
  /** Once a row was seen, the check whether there is any would only add a query. */
  #filled = false;

  constructor(private readonly database: StoreDatabase) {
    this.#keys = database.dialect.rows<TenantNumber>({
      v_key: ['key', ({ address }) => address],
      v_tenant: ['key', ({ tenant }) => tenant],
    });
  }

  async people(
    numbers: readonly TenantNumber[],
    { sql, manager }: { readonly sql?: Pick<Sql, 'all'>; readonly manager?: EntityManager } = {},
  ): Promise<LearntPeople> {
    const reader = sql ?? (manager ? this.database.join(manager) : this.database);
    if (numbers.length === 0 || !(await this.#hasAny(reader))) return new Map();
    const { dialect } = this.database;
    const distinct = new Map(numbers.map((one) => [numberKey(one), one]));
    const rows = await reader.all<Row<'learnt_number'> & { readonly other: string }>(
      `SELECT l.tenant, l.address, l.person, o.address AS other FROM ${this.#keys.keyed}
       ${dialect.join} messaging_learnt_number l ON l.address = v_key AND l.tenant = v_tenant
       JOIN messaging_learnt_number o ON o.person = l.person AND o.tenant = l.tenant
       ORDER BY o.address`,
      this.#keys.bind([...distinct.values()]),
    );
    return new Map(
      [...groupedBy(rows, numberKey)].map(([key, own]) => [
        key,
        { person: own[0]?.person as string, numbers: own.map(({ other }) => other) },
      ]),
    );
  }

  /** All identities of the person of each of these, itself included. */
  async sameAs(
    sql: Pick<Sql, 'all'>,
    tenant: string,
    addresses: readonly string[],
  ): Promise<Map<string, readonly string[]>> {
    const people = await this.people(
      addresses.map((address) => ({ tenant, address })),
      { sql },
    );
    return new Map(
      addresses.map((address) => [
        address,
        people.get(numberKey({ tenant, address }))?.numbers ?? [address],
      ]),
    );
  }

  async forget(tx: Sql, tenant: string, addresses: readonly string[]): Promise<void> {
    const { sql } = this.#keys;
    await tx.run(
      `DELETE FROM messaging_learnt_number WHERE address IN (SELECT v_key FROM ${sql}) AND tenant = ?`,
      [...this.#keys.bind(addresses.map((address) => ({ tenant, address }))), tenant],
    );
  }

  async #hasAny(sql: Pick<Sql, 'all'>): Promise<boolean> {
    if (this.#filled) return true;
    const rows = await sql.all('SELECT 1 AS one FROM messaging_learnt_number LIMIT 1');
    this.#filled = rows.length > 0;
    return this.#filled;
  }
}
