import type { MigrationInterface, QueryRunner } from 'typeorm';
import { driverOf } from '../store/open-store.js';
import { columnsSql, entitiesOf } from '../store/schema/columns.js';
import { createIfMissing } from '../store/schema/store.migration.js';

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
  suppression: { ...ADDRESS, ...SUPPRESSED },
  /** Suppressions of erased people: a keyed digest instead of the address. */
  erased_suppression: { tenant: ADDRESS.tenant, digest: 'short(64) NOT NULL', ...SUPPRESSED },
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
  },
  inbound_message: { id: 'uuid NOT NULL', token: 'uuid NOT NULL', received_at: 'big NOT NULL' },
} as const;

const PRIMARY_KEYS: Readonly<Record<keyof typeof CONTACT_COLUMNS, string>> = {
  contact: 'id',
  contact_address: 'tenant, address',
  consent: 'contact, channel, category',
  consent_history: 'contact, id',
  last_inbound: 'contact, sender',
  contact_group: 'id',
  group_member: 'group_id, contact',
  suppression: 'tenant, address, channel, category',
  erased_suppression: 'tenant, digest, channel, category',
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

class Contacts1790000000010 implements MigrationInterface {
  readonly name = 'Contacts1790000000010';

  async up(runner: QueryRunner): Promise<void> {
    const driver = driverOf(runner.dataSource);
    const { kind, types } = driver.dialect;
    const options = await driver.tableOptions(runner);
    for (const [table, key] of Object.entries(PRIMARY_KEYS)) {
      const columns = columnsSql(CONTACT_COLUMNS[table as keyof typeof CONTACT_COLUMNS], types);
      await runner.query(
        `CREATE TABLE IF NOT EXISTS messaging_${table} (${columns.join(', ')}, PRIMARY KEY (${key}))${options}`,
      );
    }
    const ifNew = kind === 'mysql' ? '' : 'IF NOT EXISTS ';
    for (const [name, on] of Object.entries(INDEXES))
      await createIfMissing(runner, `CREATE INDEX ${ifNew}messaging_${name} ON messaging_${on}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of Object.keys(PRIMARY_KEYS))
      await runner.query(`DROP TABLE IF EXISTS messaging_${table}`);
  }
}

export const CONTACT_ENTITIES = entitiesOf(CONTACT_COLUMNS, PRIMARY_KEYS);

export const CONTACT_MIGRATIONS: (new () => MigrationInterface)[] = [Contacts1790000000010];
