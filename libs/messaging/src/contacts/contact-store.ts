import { MessageValidationError } from '../message/errors.js';
import type { Clock } from '../ports/clock.js';
import type { Columns, Dialect } from '../store/dialect.js';
import type { Sql } from '../store/store-database.js';
import type { Identity } from './person.js';

export interface ContactRow {
  readonly id: string;
  readonly tenant: string;
  readonly phone: string | null;
  readonly bsuid: string | null;
  readonly name: string | null;
  readonly created_at: string | number;
}

const CONTACT = {
  v_id: 'uuid',
  v_tenant: 'key',
  v_phone: 'key',
  v_bsuid: 'key',
  v_name: 'key',
  v_at: 'bigint',
} as const satisfies Columns;

/** Contacts by either of their identifiers, many to a statement. */
export class ContactStore {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(
    dialect: Dialect,
    private readonly clock: Clock,
  ) {
    this.#sql = statementsFor(dialect);
  }

  /**
   * Each identity's contact, made where there is none; ids in the order given. They are locked: who is
   * erased meanwhile is made anew, so that nothing is written down of a contact that is no more.
   */
  async resolve(tx: Sql, tenant: string, people: readonly Identity[]): Promise<string[]> {
    let known = await this.lookUp(tx, tenant, people);
    do {
      await this.#insert(
        tx,
        tenant,
        people.filter((person) => !known.of(person)),
      );
      // Not before: MySQL would lock the gaps of those that are not there, and two would wait for each other.
      known = await this.hold(tx, tenant, people);
    } while (people.some((person) => !known.of(person)));
    await this.#learn(tx, tenant, people, known);
    return people.map((person) => (known.of(person) as ContactRow).id);
  }

  /** Contacts that exist, by identity. */
  lookUp(tx: Pick<Sql, 'all'>, tenant: string, people: readonly Identity[]): Promise<Known> {
    return this.#read(tx, tenant, people, this.#sql.seen);
  }

  /** As they are now, and stay until the transaction ends. */
  hold(tx: Sql, tenant: string, people: readonly Identity[]): Promise<Known> {
    return this.#read(tx, tenant, people, this.#sql.held);
  }

  async #read(
    tx: Pick<Sql, 'all'>,
    tenant: string,
    people: readonly Identity[],
    { byPhone, byBsuid }: { readonly byPhone: string; readonly byBsuid: string },
  ): Promise<Known> {
    const phones = people.flatMap(({ phone }) => (phone === null ? [] : [[phone]]));
    const bsuids = people.flatMap(({ bsuid }) => (bsuid === null ? [] : [[bsuid]]));
    const { keys } = this.#sql;
    return new Known([
      ...(phones.length > 0
        ? await tx.all<ContactRow>(byPhone, [...keys.bind(phones), tenant])
        : []),
      ...(bsuids.length > 0
        ? await tx.all<ContactRow>(byBsuid, [...keys.bind(bsuids), tenant])
        : []),
    ]);
  }

  async #insert(tx: Sql, tenant: string, people: readonly Identity[]): Promise<void> {
    const fresh = new Map<string, Identity>();
    for (const person of people) fresh.set(keyOf(person), person);
    if (fresh.size === 0) return;
    const { insert, contacts } = this.#sql;
    const at = this.clock.now() * 1_000;
    // Ids in the order given; rows in one order, so that two of these never wait for each other.
    const rows = [...fresh].map(([key, p]) => ({
      key,
      row: [this.clock.id(), tenant, p.phone, p.bsuid, p.name ?? null, at],
    }));
    rows.sort((a, b) => (a.key < b.key ? -1 : 1));
    await tx.run(insert, contacts.bind(rows.map(({ row }) => row)));
  }

  /** Writes down what the identities tell beyond what is known. */
  async #learn(tx: Sql, tenant: string, people: readonly Identity[], known: Known): Promise<void> {
    const updates = new Map<string, unknown[]>();
    people.forEach((person, index) => {
      const row = known.of(person) as ContactRow;
      const other = known.ofBsuid(person.bsuid);
      if (other && other.id !== row.id)
        throw new MessageValidationError([
          {
            path: `contacts[${index}]`,
            message: 'phone and bsuid belong to two contacts; erase one of them first',
          },
        ]);
      const phone = person.phone ?? row.phone;
      const bsuid = person.bsuid ?? row.bsuid;
      const name = person.name ?? row.name;
      if (phone !== row.phone || bsuid !== row.bsuid || name !== row.name)
        updates.set(row.id, [row.id, tenant, phone, bsuid, name, this.clock.now() * 1_000]);
    });
    if (updates.size > 0)
      await tx.run(this.#sql.update, this.#sql.contacts.bind([...updates.values()]));
  }
}

/** Contacts found, by what they are found by. */
export class Known {
  readonly #byPhone = new Map<string, ContactRow>();
  readonly #byBsuid = new Map<string, ContactRow>();

  constructor(rows: readonly ContactRow[]) {
    for (const row of rows) {
      if (row.phone !== null) this.#byPhone.set(row.phone, row);
      if (row.bsuid !== null) this.#byBsuid.set(row.bsuid, row);
    }
  }

  of({ phone, bsuid }: Identity): ContactRow | undefined {
    return (phone === null ? undefined : this.#byPhone.get(phone)) ?? this.ofBsuid(bsuid);
  }

  ofBsuid(bsuid: string | null): ContactRow | undefined {
    return bsuid === null ? undefined : this.#byBsuid.get(bsuid);
  }
}

function keyOf({ phone, bsuid }: Identity): string {
  return phone === null ? `b${bsuid}` : `p${phone}`;
}

function statementsFor(dialect: Dialect) {
  const contacts = dialect.rows(CONTACT);
  const keys = dialect.rows({ v_key: 'key' });
  const select = (column: string, held = '') =>
    `SELECT c.id, c.tenant, c.phone, c.bsuid, c.name, c.created_at
     FROM ${keys.sql} ${dialect.join} messaging_contact c ON c.${column} = v_key AND c.tenant = ? ${held}`;
  // In one order, so that two of these never wait for each other.
  const held = `ORDER BY c.id ${dialect.forUpdate('c')}`;
  return {
    contacts,
    keys,
    seen: { byPhone: select('phone'), byBsuid: select('bsuid') },
    held: { byPhone: select('phone', held), byBsuid: select('bsuid', held) },
    insert: `INSERT INTO messaging_contact (id, tenant, phone, bsuid, name, created_at, updated_at)
      SELECT v_id, v_tenant, v_phone, v_bsuid, v_name, v_at, v_at FROM ${contacts.sql} WHERE 1 = 1
      ${dialect.ignoreConflict('messaging_contact', 'id')}`,
    update: dialect.updateFrom({
      table: 'messaging_contact',
      rows: contacts,
      set: 'phone = v_phone, bsuid = v_bsuid, name = v_name, updated_at = v_at',
      where: 'messaging_contact.id = v_id',
    }),
  };
}
