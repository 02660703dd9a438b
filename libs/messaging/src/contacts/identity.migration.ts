import type { MigrationInterface, QueryRunner } from 'typeorm';
import { normalisePhoneNumber } from '../message/phone-number.js';
import { addressIdentity } from '../message/phone-identity.js';
import type { Dialect } from '../store/database/dialect.js';
import type { Sql } from '../store/database/store-database.js';
import { driverOf } from '../store/open-store.js';

/** Rows that one statement reads. */
const PAGE = 1_000;

/** Columns that it adds. */
const ADDED = [
  ['messaging_contact_address', 'written'],
  ['messaging_suppression', 'written'],
] as const;

/** Reasons that end with an opt-in of the person; any other one stays. */
const ENDING = ['opted_out', 'unsubscribe'];

/** Suppressions have a channel and a category, too. */
interface KeyedRow {
  readonly tenant: string;
  readonly address: string;
  readonly channel?: string;
  readonly category?: string;
}

interface AddressRow extends KeyedRow {
  readonly contact: string;
  readonly given_at: string | number;
}

interface SuppressionRow extends KeyedRow {
  readonly channel: string;
  readonly category: string;
  readonly reason: string;
  readonly at: string | number;
  readonly message: string | null;
}

interface TimeRow {
  readonly sender: string;
  readonly last_at: string | number;
}

interface ConsentRow {
  readonly channel: string;
  readonly category: string;
  readonly state: string;
  readonly at: string | number;
}

/**
 * Keeps addresses by their identity. Contacts that are one person become the older one, and a refusal
 * of either stays. Reads pages by the primary key; a row that it has changed is left alone by a
 * repeated run.
 */
export class NumberIdentities1790000001000 implements MigrationInterface {
  readonly name = 'NumberIdentities1790000001000';

  async up(runner: QueryRunner): Promise<void> {
    const { dialect } = driverOf(runner.dataSource);
    for (const [table, column] of ADDED)
      if (!(await runner.hasColumn(table, column)))
        await runner.query(`ALTER TABLE ${table} ADD COLUMN ${column} ${dialect.types.address}`);
    const identities = new Identities(sqlOn(runner, dialect), dialect);
    await identities.ofContacts();
    await identities.ofSuppressions();
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, column] of ADDED)
      await runner.query(`ALTER TABLE ${table} DROP COLUMN ${column}`);
  }
}

function sqlOn(runner: QueryRunner, dialect: Dialect): Sql {
  const query = (sql: string, params: readonly unknown[] = []) =>
    runner.query(dialect.placeholders(sql), [...params], true);
  return {
    all: async <T>(sql: string, params?: readonly unknown[]) =>
      (await query(sql, params)).records as T[],
    run: async (sql, params) => (await query(sql, params)).affected ?? 0,
  };
}

function identityOf(address: string): string {
  const isNumber = /^\d+$/.test(address);
  return isNumber ? addressIdentity(normalisePhoneNumber(address)) : address;
}

/** Changes the rows of the tables with addresses, page by page. */
class Identities {
  constructor(
    private readonly sql: Sql,
    private readonly dialect: Dialect,
  ) {}

  async ofContacts(): Promise<void> {
    for await (const page of this.#pages<AddressRow>('contact_address', 'address'))
      for (const row of await this.#rename('contact_address', page)) await this.#joinContacts(row);
  }

  async ofSuppressions(): Promise<void> {
    const order = 'address, channel, category';
    for await (const page of this.#pages<SuppressionRow>('suppression', order))
      for (const row of await this.#rename('suppression', page)) await this.#joinSuppression(row);
  }

  /** Rows in the order of the primary key; those of one address are in one page. */
  async *#pages<T extends KeyedRow>(table: string, order: string): AsyncGenerator<T[]> {
    const next = `SELECT t.tenant FROM messaging_${table} t WHERE t.tenant`;
    let [of] = await this.sql.all<KeyedRow>(`${next} >= '' ORDER BY t.tenant LIMIT 1`);
    while (of) {
      const { tenant } = of;
      for (let after: string | undefined = ''; after !== undefined;) {
        const rows: T[] = await this.sql.all<T>(
          `SELECT t.* FROM messaging_${table} t WHERE t.tenant = ? AND t.address > ?
           ORDER BY ${order} LIMIT ${PAGE}`,
          [tenant, after],
        );
        const last = rows.at(-1)?.address;
        const isWhole = rows.length < PAGE;
        const page = isWhole ? rows : rows.filter(({ address }) => address !== last);
        yield page;
        after = isWhole ? undefined : page.at(-1)?.address;
      }
      [of] = await this.sql.all<KeyedRow>(`${next} > ? ORDER BY t.tenant LIMIT 1`, [tenant]);
    }
  }

  /** @returns the rows whose identity has a row already */
  async #rename<T extends KeyedRow>(table: Renamed, page: readonly T[]): Promise<T[]> {
    const others = page.filter(({ address }) => identityOf(address) !== address);
    if (others.length === 0) return [];
    const { dialect } = this;
    const keys = dialect.rows({ v_tenant: 'key', v_key: 'key' });
    const known = await this.sql.all<T>(
      `SELECT t.* FROM ${keys.keyed} ${dialect.join} messaging_${table} t
         ON t.address = v_key AND t.tenant = v_tenant`,
      keys.bind(others.map(({ tenant, address }) => [tenant, identityOf(address)])),
    );
    const taken = new Set(known.map((row) => rowKey(row, row.address)));
    const isFree = (row: T) => {
      const key = rowKey(row, identityOf(row.address));
      return !taken.has(key) && taken.add(key);
    };
    const free = new Set(others.filter(isFree));
    const { columns, where } = RENAMED[table];
    const rows = dialect.rows<T>({
      v_to: ['key', ({ address }) => identityOf(address)],
      ...Object.fromEntries(
        columns.map((name) => [`v_${name}`, ['key', (row: T) => row[name]]] as const),
      ),
    });
    if (free.size > 0)
      await this.sql.run(
        dialect.updateFrom({
          table: `messaging_${table}`,
          rows,
          // MySQL assigns from left to right.
          set: 'written = v_address, address = v_to',
          where,
        }),
        rows.bind([...free]),
      );
    return others.filter((row) => !free.has(row));
  }

  /** The younger contact becomes the older one, whose address has the identity. */
  async #joinContacts(row: AddressRow): Promise<void> {
    const { sql } = this;
    const { tenant, address } = row;
    const identity = identityOf(address);
    const read = (key: string) =>
      sql.all<AddressRow>(
        'SELECT t.* FROM messaging_contact_address t WHERE t.tenant = ? AND t.address = ?',
        [tenant, key],
      );
    // Read again: an earlier row of the page may have merged its contact.
    const [[given], [known]] = [await read(address), await read(identity)];
    if (!given || !known) return;
    await sql.run('DELETE FROM messaging_contact_address WHERE tenant = ? AND address = ?', [
      tenant,
      address,
    ]);
    // The form that was given last is the one that messages are sent to.
    if (Number(given.given_at) > Number(known.given_at))
      await sql.run(
        'UPDATE messaging_contact_address SET written = ?, given_at = ? WHERE tenant = ? AND address = ?',
        [address, given.given_at, tenant, identity],
      );
    // UUIDv7 ids sort by age.
    const [into = '', from = ''] = [given.contact, known.contact].sort();
    if (into !== from) await this.#merge(into, from);
  }

  async #merge(into: string, from: string): Promise<void> {
    const { sql } = this;
    const [named] = await sql.all<{ readonly name: string | null }>(
      'SELECT c.name FROM messaging_contact c WHERE c.id = ?',
      [from],
    );
    await sql.run('UPDATE messaging_contact SET name = ? WHERE id = ? AND name IS NULL', [
      named?.name ?? null,
      into,
    ]);
    for (const table of ['contact_address', 'consent_history', 'inbound_text'])
      await sql.run(`UPDATE messaging_${table} SET contact = ? WHERE contact = ?`, [into, from]);
    await this.#mergeConsents(into, from);
    await this.#mergeTimes(into, from);
    await sql.run(
      `DELETE FROM messaging_group_member WHERE contact = ? AND group_id IN (
         SELECT g.group_id FROM (SELECT group_id FROM messaging_group_member WHERE contact = ?) AS g)`,
      [from, into],
    );
    await sql.run('UPDATE messaging_group_member SET contact = ? WHERE contact = ?', [into, from]);
    await sql.run('DELETE FROM messaging_contact WHERE id = ?', [from]);
  }

  /** Of two entries for one scope a refusal stays, else the younger one. */
  async #mergeConsents(into: string, from: string): Promise<void> {
    const { sql } = this;
    const read = (contact: string) =>
      sql.all<ConsentRow>('SELECT t.* FROM messaging_consent t WHERE t.contact = ?', [contact]);
    const own = await read(into);
    for (const given of await read(from)) {
      const { channel, category } = given;
      const scope = 'WHERE contact = ? AND channel = ? AND category = ?';
      const kept = own.find((one) => one.channel === channel && one.category === category);
      const isRefusal = given.state === 'opted_out';
      const wins =
        !kept || (kept.state === given.state ? Number(given.at) > Number(kept.at) : isRefusal);
      const loser = wins ? into : from;
      await sql.run(`DELETE FROM messaging_consent ${scope}`, [loser, channel, category]);
      if (wins)
        await sql.run(`UPDATE messaging_consent SET contact = ? ${scope}`, [
          into,
          from,
          channel,
          category,
        ]);
    }
  }

  /** The latest inbound message to each sender counts. */
  async #mergeTimes(into: string, from: string): Promise<void> {
    const { sql } = this;
    const read = (contact: string) =>
      sql.all<TimeRow>('SELECT t.* FROM messaging_last_inbound t WHERE t.contact = ?', [contact]);
    const own = new Map((await read(into)).map(({ sender, last_at }) => [sender, Number(last_at)]));
    for (const { sender, last_at } of await read(from)) {
      const loser = Number(last_at) > (own.get(sender) ?? 0) ? into : from;
      const scope = 'WHERE contact = ? AND sender = ?';
      await sql.run(`DELETE FROM messaging_last_inbound ${scope}`, [loser, sender]);
      if (loser === into)
        await sql.run(`UPDATE messaging_last_inbound SET contact = ? ${scope}`, [
          into,
          from,
          sender,
        ]);
    }
  }

  /** The entry that no opt-in of the person ends is kept. */
  async #joinSuppression(row: SuppressionRow): Promise<void> {
    const { tenant, address, channel, category, reason, at, message } = row;
    const scope = 'WHERE tenant = ? AND address = ? AND channel = ? AND category = ?';
    const known = [tenant, identityOf(address), channel, category];
    await this.sql.run(`DELETE FROM messaging_suppression ${scope}`, [
      tenant,
      address,
      channel,
      category,
    ]);
    if (ENDING.includes(reason))
      await this.sql.run(
        `UPDATE messaging_suppression SET at = ? ${scope} AND at < ? AND reason IN ('opted_out', 'unsubscribe')`,
        [at, ...known, at],
      );
    else
      await this.sql.run(
        `UPDATE messaging_suppression SET reason = ?, at = ?, message = ? ${scope}
           AND reason IN ('opted_out', 'unsubscribe')`,
        [reason, at, message, ...known],
      );
  }
}

/** The columns that find a row, and the condition by them. */
const RENAMED = {
  contact_address: {
    columns: ['tenant', 'address'],
    where:
      'messaging_contact_address.tenant = v_tenant AND messaging_contact_address.address = v_address',
  },
  suppression: {
    columns: ['tenant', 'address', 'channel', 'category'],
    where: `messaging_suppression.tenant = v_tenant AND messaging_suppression.address = v_address
      AND messaging_suppression.channel = v_channel AND messaging_suppression.category = v_category`,
  },
} as const;

type Renamed = keyof typeof RENAMED;

function rowKey({ tenant, channel, category }: KeyedRow, address: string): string {
  return JSON.stringify([tenant, address, channel, category]);
}
