import type { MigrationInterface, QueryRunner } from 'typeorm';
import { driverOf } from '../store/open-store.js';
import { columnsSql, entitiesOf } from '../store/schema/columns.js';
import { createIndex } from '../store/schema/store.migration.js';
import { NumberIdentities1790000001000 } from './identity.migration.js';

const ADDRESS = { tenant: "key NOT NULL DEFAULT ''", address: 'address NOT NULL' } as const;

const SCOPE = { channel: 'short(16) NOT NULL', category: 'short(32) NOT NULL' } as const;

const SUPPRESSED = {
  ...SCOPE,
  reason: 'key NOT NULL',
  at: 'big NOT NULL',
  /** Id of the message whose bounce or complaint was the reason. */
  message: 'key',
} as const;

const CONSENT = {
  contact: 'uuid NOT NULL',
  ...SCOPE,
  state: 'short(16) NOT NULL',
  at: 'big NOT NULL',
  source: 'key NOT NULL',
  evidence: 'text',
} as const;

/** The key's columns come first: rows are inserted in their order. A `big` is in epoch microseconds. */
export const CONTACT_COLUMNS = {
  contact: {
    id: 'uuid NOT NULL',
    tenant: ADDRESS.tenant,
    name: 'key',
    created_at: 'big NOT NULL',
  },
  contact_address: {
    ...ADDRESS,
    kind: 'short(16) NOT NULL',
    contact: 'uuid NOT NULL',
    given_at: 'big NOT NULL',
    /** The address as it was written, where that is another form of it; `address` is its identity. */
    written: 'address',
  },
  consent: CONSENT,
  consent_history: { id: 'uuid NOT NULL', ...CONSENT, recorded_at: 'big NOT NULL' },
  last_inbound: { contact: 'uuid NOT NULL', sender: 'key NOT NULL', last_at: 'big NOT NULL' },
  contact_group: {
    id: 'short(64) NOT NULL',
    tenant: ADDRESS.tenant,
    name: 'key NOT NULL',
    created_at: 'big NOT NULL',
  },
  group_member: { group_id: 'short(64) NOT NULL', contact: 'uuid NOT NULL' },
  suppression: { ...ADDRESS, ...SUPPRESSED, written: 'address' },
  /** Suppressions of erased people: a keyed digest instead of the address. */
  erased_suppression: { tenant: ADDRESS.tenant, digest: 'short(64) NOT NULL', ...SUPPRESSED },
  /** A number of which a platform answered another one: numbers with one `person` are one person. */
  learnt_number: { ...ADDRESS, person: 'address NOT NULL' },
  /** The text of an inbound message; goes with the content of messages, or with its contact. */
  inbound_text: {
    contact: 'uuid NOT NULL',
    id: 'uuid NOT NULL',
    tenant: ADDRESS.tenant,
    channel: SCOPE.channel,
    sender: 'address NOT NULL',
    recipient: 'key NOT NULL',
    text: 'text',
    received_at: 'big NOT NULL',
    /** The provider's id of the message, and the provider; null before they were kept. */
    message: 'key',
    provider: 'short(32)',
    kind: 'short(16)',
    profile: 'key',
    /** The provider's id of the message that it answers. */
    answers: 'key',
    /** JSON of a content that is no text; lists do not read it. */
    content: 'text',
  },
  inbound_message: { id: 'uuid NOT NULL', token: 'uuid NOT NULL', received_at: 'big NOT NULL' },
} as const;

type ContactTable = keyof typeof CONTACT_COLUMNS;

const PRIMARY_KEYS: Readonly<Record<ContactTable, string>> = {
  contact: 'id',
  contact_address: 'tenant, address',
  consent: 'contact, channel, category',
  consent_history: 'contact, id',
  last_inbound: 'contact, sender',
  contact_group: 'id',
  group_member: 'group_id, contact',
  suppression: 'tenant, address, channel, category',
  erased_suppression: 'tenant, digest, channel, category',
  learnt_number: 'tenant, address',
  inbound_text: 'contact, id',
  inbound_message: 'id',
};

const INDEXES = {
  contact_list: 'contact (tenant, id)',
  contact_address_contact: 'contact_address (contact)',
  contact_group_list: 'contact_group (tenant, id)',
  group_member_contact: 'group_member (contact)',
  inbound_received: 'inbound_message (received_at)',
  inbound_text_received: 'inbound_text (received_at)',
  inbound_text_list: 'inbound_text (tenant, id)',
};

/** The tables of the first migration. */
const FIRST = (Object.keys(PRIMARY_KEYS) as ContactTable[]).filter(
  (table) => table !== 'learnt_number',
);

class Contacts1790000000010 implements MigrationInterface {
  readonly name = 'Contacts1790000000010';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of FIRST) await createTable(runner, table);
    for (const [name, on] of Object.entries(INDEXES))
      await createIndex(runner, 'INDEX', `messaging_${name}`, `messaging_${on}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of FIRST) await runner.query(`DROP TABLE IF EXISTS messaging_${table}`);
  }
}

class LearntNumbers1790000001300 implements MigrationInterface {
  readonly name = 'LearntNumbers1790000001300';

  async up(runner: QueryRunner): Promise<void> {
    await createTable(runner, 'learnt_number');
    await createIndex(
      runner,
      'INDEX',
      'messaging_learnt_number_person',
      'messaging_learnt_number (tenant, person)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE IF EXISTS messaging_learnt_number');
  }
}

/** Columns that messages of earlier versions have not. */
const CONTENT = ['message', 'provider', 'kind', 'profile', 'answers', 'content'] as const;

class InboundContents1790000001800 implements MigrationInterface {
  readonly name = 'InboundContents1790000001800';

  async up(runner: QueryRunner): Promise<void> {
    const { dialect } = driverOf(runner.dataSource);
    const { inbound_text: all } = CONTACT_COLUMNS;
    for (const name of CONTENT) {
      if (await runner.hasColumn('messaging_inbound_text', name)) continue;
      const [column] = columnsSql({ [name]: all[name] }, dialect.types);
      await runner.query(`ALTER TABLE messaging_inbound_text ADD COLUMN ${column}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of CONTENT)
      await runner.query(`ALTER TABLE messaging_inbound_text DROP COLUMN ${name}`);
  }
}

async function createTable(runner: QueryRunner, table: ContactTable): Promise<void> {
  const driver = driverOf(runner.dataSource);
  const columns = columnsSql(CONTACT_COLUMNS[table], driver.dialect.types);
  const options = await driver.tableOptions(runner);
  await runner.query(
    `CREATE TABLE IF NOT EXISTS messaging_${table} (${columns.join(', ')}, PRIMARY KEY (${PRIMARY_KEYS[table]}))${options}`,
  );
}

export const CONTACT_ENTITIES = entitiesOf(CONTACT_COLUMNS, PRIMARY_KEYS);

export const CONTACT_MIGRATIONS: (new () => MigrationInterface)[] = [
  Contacts1790000000010,
  NumberIdentities1790000001000,
  LearntNumbers1790000001300,
  InboundContents1790000001800,
];
