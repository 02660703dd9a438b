import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isDuplicateIndex } from '../store/database/database-errors.js';
import type { TypeNames } from '../store/database/dialect.js';
import { driverOf } from '../store/open-store.js';

/** Contacts, consent, groups, inbound times and suppressions. Times are epoch microseconds. */
class Contacts1790000000010 implements MigrationInterface {
  readonly name = 'Contacts1790000000010';

  async up(runner: QueryRunner): Promise<void> {
    const driver = driverOf(runner.dataSource);
    const { kind, types } = driver.dialect;
    const options = kind === 'sqlite' ? ' WITHOUT ROWID' : await driver.tableOptions(runner);
    for (const [table, columns] of Object.entries(columnsOf(types)))
      await runner.query(`CREATE TABLE IF NOT EXISTS messaging_${table} (${columns})${options}`);
    const ifNew = kind === 'mysql' ? '' : 'IF NOT EXISTS ';
    for (const [name, on] of Object.entries(INDEXES))
      await runner
        .query(`CREATE INDEX ${ifNew}messaging_${name} ON messaging_${on}`)
        .catch((error: unknown) => {
          if (!isDuplicateIndex(error)) throw error;
        });
  }

  async down(runner: QueryRunner): Promise<void> {
    const { types } = driverOf(runner.dataSource).dialect;
    for (const table of Object.keys(columnsOf(types)))
      await runner.query(`DROP TABLE IF EXISTS messaging_${table}`);
  }
}

const INDEXES = {
  contact_list: 'contact (tenant, id)',
  contact_address_contact: 'contact_address (contact)',
  contact_group_list: 'contact_group (tenant, id)',
  group_member_contact: 'group_member (contact)',
  inbound_received: 'inbound_message (received_at)',
};

function columnsOf({ uuid, key, address, text, big, short }: TypeNames): Record<string, string> {
  const tenant = `tenant ${key} NOT NULL DEFAULT ''`;
  const scope = `channel ${short(16)} NOT NULL, category ${short(32)} NOT NULL`;
  const consent = `contact ${uuid} NOT NULL, ${scope}, state ${short(16)} NOT NULL,
    at ${big} NOT NULL, source ${key} NOT NULL, evidence ${text}`;
  return {
    contact: `id ${uuid} NOT NULL, ${tenant}, name ${key}, created_at ${big} NOT NULL,
      PRIMARY KEY (id)`,
    contact_address: `${tenant}, address ${address} NOT NULL, kind ${short(16)} NOT NULL,
      contact ${uuid} NOT NULL, given_at ${big} NOT NULL, PRIMARY KEY (tenant, address)`,
    consent: `${consent}, PRIMARY KEY (contact, channel, category)`,
    consent_history: `id ${uuid} NOT NULL, ${consent}, recorded_at ${big} NOT NULL,
      PRIMARY KEY (contact, id)`,
    last_inbound: `contact ${uuid} NOT NULL, sender ${key} NOT NULL, last_at ${big} NOT NULL,
      PRIMARY KEY (contact, sender)`,
    contact_group: `id ${short(64)} NOT NULL, ${tenant}, name ${key} NOT NULL,
      created_at ${big} NOT NULL, PRIMARY KEY (id)`,
    group_member: `group_id ${short(64)} NOT NULL, contact ${uuid} NOT NULL,
      PRIMARY KEY (group_id, contact)`,
    suppression: `${tenant}, address ${address} NOT NULL, ${scope}, reason ${key} NOT NULL,
      at ${big} NOT NULL, PRIMARY KEY (tenant, address, channel, category)`,
    inbound_message: `id ${uuid} NOT NULL, token ${uuid} NOT NULL, received_at ${big} NOT NULL,
      PRIMARY KEY (id)`,
  };
}

export const CONTACT_MIGRATIONS: (new () => MigrationInterface)[] = [Contacts1790000000010];
