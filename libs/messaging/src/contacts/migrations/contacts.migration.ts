import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isDuplicateIndex } from '../../store/database-errors.js';
import { driverOf } from '../../store/open-store.js';

const TABLES = [
  'suppression',
  'group_member',
  'contact_group',
  'inbound',
  'consent_history',
  'consent',
  'contact',
];

/** Who they are, what they consented to, and when they last wrote. Times are epoch microseconds. */
export class Contacts1700000000200 implements MigrationInterface {
  readonly name = 'Contacts1700000000200';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of this.#statements(
      runner,
      await driverOf(runner.dataSource).tableOptions(runner),
    ))
      await runner.query(statement).catch((error: unknown) => {
        if (!isDuplicateIndex(error)) throw error;
      });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`DROP TABLE IF EXISTS messaging_${table}`);
  }

  #statements(runner: QueryRunner, options: string): string[] {
    const { kind, types: t } = driverOf(runner.dataSource).dialect;
    const short = (length: number) => (kind === 'sqlite' ? 'TEXT' : `varchar(${length})`);
    const table = (name: string, columns: string[]) =>
      `CREATE TABLE IF NOT EXISTS messaging_${name} (${columns.join(', ')})${options}`;
    const index = (name: string, on: string, columns: string, unique = '') =>
      `CREATE ${unique} INDEX ${kind === 'mysql' ? '' : 'IF NOT EXISTS '}messaging_${name} ON messaging_${on} (${columns})`;
    const tenant = `tenant ${t.key} NOT NULL DEFAULT ''`;
    const serial = {
      sqlite: 'id INTEGER PRIMARY KEY AUTOINCREMENT',
      postgres: 'id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
      mysql: 'id BIGINT AUTO_INCREMENT PRIMARY KEY',
    }[kind];
    const consent = [
      `contact ${t.uuid} NOT NULL`,
      `channel ${short(16)} NOT NULL`,
      `state ${short(16)} NOT NULL`,
      `at ${t.big} NOT NULL`,
      `source ${t.key} NOT NULL`,
      `evidence ${t.text}`,
    ];
    return [
      table('contact', [
        `id ${t.uuid} NOT NULL`,
        tenant,
        `phone ${short(64)}`,
        `bsuid ${t.key}`,
        `name ${t.key}`,
        `created_at ${t.big} NOT NULL`,
        `updated_at ${t.big} NOT NULL`,
        'PRIMARY KEY (id)',
      ]),
      index('contact_phone', 'contact', 'tenant, phone', 'UNIQUE'),
      index('contact_bsuid', 'contact', 'tenant, bsuid', 'UNIQUE'),
      index('contact_list', 'contact', 'tenant, id'),
      table('consent', [...consent, 'PRIMARY KEY (contact, channel)']),
      table('consent_history', [serial, ...consent, `recorded_at ${t.big} NOT NULL`]),
      index('consent_history_contact', 'consent_history', 'contact, id'),
      table('inbound', [
        `contact ${t.uuid} NOT NULL`,
        `sender ${t.key} NOT NULL`,
        `last_at ${t.big} NOT NULL`,
        'PRIMARY KEY (contact, sender)',
      ]),
      table('contact_group', [
        `id ${short(64)} NOT NULL`,
        tenant,
        `name ${t.key} NOT NULL`,
        `created_at ${t.big} NOT NULL`,
        'PRIMARY KEY (id)',
      ]),
      index('contact_group_list', 'contact_group', 'tenant, id'),
      table('group_member', [
        `group_id ${short(64)} NOT NULL`,
        `contact ${t.uuid} NOT NULL`,
        'PRIMARY KEY (group_id, contact)',
      ]),
      index('group_member_contact', 'group_member', 'contact'),
      table('suppression', [
        tenant,
        `recipient ${short(64)} NOT NULL`,
        `channel ${short(16)} NOT NULL`,
        `reason ${t.key} NOT NULL`,
        `at ${t.big} NOT NULL`,
        'PRIMARY KEY (tenant, recipient, channel)',
      ]),
    ];
  }
}
