import { Column, Entity, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm';
import { isDuplicateIndex } from '../store/database/database-errors.js';
import { driverOf } from '../store/open-store.js';

/** A person. Times are epoch microseconds. */
@Entity('messaging_contact')
class ContactEntity {
  @PrimaryColumn('varchar', { length: 36 }) id!: string;
  @Column('varchar') tenant!: string;
  @Column('varchar', { nullable: true }) name!: string | null;
  @Column('bigint', { name: 'created_at' }) createdAt!: string;
  @Column('bigint', { name: 'updated_at' }) updatedAt!: string;
}

/** An address of a contact; unique within a tenant. */
@Entity('messaging_contact_address')
class ContactAddressEntity {
  @PrimaryColumn('varchar') tenant!: string;
  /** The output of `addressKey()`. */
  @PrimaryColumn('varchar', { length: 320 }) address!: string;
  @Column('varchar', { length: 16 }) kind!: string;
  @Column('varchar', { length: 36 }) contact!: string;
  /** The youngest address of each kind is the contact's first of that kind. */
  @Column('bigint', { name: 'given_at' }) givenAt!: string;
}

/** A contact's current consent for a channel (category `*`), or for one category of it. */
@Entity('messaging_consent')
class ConsentEntity {
  @PrimaryColumn('varchar', { length: 36 }) contact!: string;
  @PrimaryColumn('varchar', { length: 16 }) channel!: string;
  @PrimaryColumn('varchar', { length: 32 }) category!: string;
  @Column('varchar', { length: 16 }) state!: string;
  @Column('bigint') at!: string;
  @Column('varchar') source!: string;
  @Column('text', { nullable: true }) evidence!: string | null;
}

@Entity('messaging_contact_group')
class ContactGroupEntity {
  @PrimaryColumn('varchar', { length: 64 }) id!: string;
  @Column('varchar') tenant!: string;
  @Column('varchar') name!: string;
  @Column('bigint', { name: 'created_at' }) createdAt!: string;
}

/** A suppressed address; `*` is every channel, or every category. */
@Entity('messaging_suppression')
class SuppressionEntity {
  @PrimaryColumn('varchar') tenant!: string;
  @PrimaryColumn('varchar', { length: 320 }) address!: string;
  @PrimaryColumn('varchar', { length: 16 }) channel!: string;
  @PrimaryColumn('varchar', { length: 32 }) category!: string;
  @Column('varchar') reason!: string;
  @Column('bigint') at!: string;
}

const TABLES = [
  'inbound_message',
  'suppression',
  'group_member',
  'contact_group',
  'last_inbound',
  'consent_history',
  'consent',
  'contact_address',
  'contact',
];

/** Contacts, their consent, groups and last inbound message, and the suppression list. Times are epoch microseconds. */
class Contacts1790000000010 implements MigrationInterface {
  readonly name = 'Contacts1790000000010';

  async up(runner: QueryRunner): Promise<void> {
    const options = await driverOf(runner.dataSource).tableOptions(runner);
    for (const statement of this.#statements(runner, options))
      await runner.query(statement).catch((error: unknown) => {
        if (!isDuplicateIndex(error)) throw error;
      });
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`DROP TABLE IF EXISTS messaging_${table}`);
  }

  #statements(runner: QueryRunner, options: string): string[] {
    const { kind, types: t } = driverOf(runner.dataSource).dialect;
    const { short } = t;
    const compact = kind === 'sqlite' ? ' WITHOUT ROWID' : options;
    const table = (name: string, key: string, columns: string[]) =>
      `CREATE TABLE IF NOT EXISTS messaging_${name} (${columns.join(', ')}, PRIMARY KEY (${key}))${compact}`;
    const index = (name: string, on: string, columns: string) =>
      `CREATE INDEX ${kind === 'mysql' ? '' : 'IF NOT EXISTS '}messaging_${name} ON messaging_${on} (${columns})`;
    const tenant = `tenant ${t.key} NOT NULL DEFAULT ''`;
    const contact = `contact ${t.uuid} NOT NULL`;
    const address = `address ${t.address} NOT NULL`;
    const consent = [
      contact,
      `channel ${short(16)} NOT NULL`,
      `category ${short(32)} NOT NULL`,
      `state ${short(16)} NOT NULL`,
      `at ${t.big} NOT NULL`,
      `source ${t.key} NOT NULL`,
      `evidence ${t.text}`,
    ];
    return [
      table('contact', 'id', [
        `id ${t.uuid} NOT NULL`,
        tenant,
        `name ${t.key}`,
        `created_at ${t.big} NOT NULL`,
        `updated_at ${t.big} NOT NULL`,
      ]),
      index('contact_list', 'contact', 'tenant, id'),
      table('contact_address', 'tenant, address', [
        tenant,
        address,
        `kind ${short(16)} NOT NULL`,
        contact,
        `given_at ${t.big} NOT NULL`,
      ]),
      index('contact_address_contact', 'contact_address', 'contact'),
      table('consent', 'contact, channel, category', consent),
      table('consent_history', 'contact, id', [
        `id ${t.uuid} NOT NULL`,
        ...consent,
        `recorded_at ${t.big} NOT NULL`,
      ]),
      table('last_inbound', 'contact, sender', [
        contact,
        `sender ${t.key} NOT NULL`,
        `last_at ${t.big} NOT NULL`,
      ]),
      table('contact_group', 'id', [
        `id ${short(64)} NOT NULL`,
        tenant,
        `name ${t.key} NOT NULL`,
        `created_at ${t.big} NOT NULL`,
      ]),
      index('contact_group_list', 'contact_group', 'tenant, id'),
      table('group_member', 'group_id, contact', [`group_id ${short(64)} NOT NULL`, contact]),
      index('group_member_contact', 'group_member', 'contact'),
      table('suppression', 'tenant, address, channel, category', [
        tenant,
        address,
        `channel ${short(16)} NOT NULL`,
        `category ${short(32)} NOT NULL`,
        `reason ${t.key} NOT NULL`,
        `at ${t.big} NOT NULL`,
      ]),
      table('inbound_message', 'id', [
        `id ${t.uuid} NOT NULL`,
        `token ${t.uuid} NOT NULL`,
        `received_at ${t.big} NOT NULL`,
      ]),
      index('inbound_received', 'inbound_message', 'received_at'),
    ];
  }
}

export const CONTACT_ENTITIES = [
  ContactEntity,
  ContactAddressEntity,
  ConsentEntity,
  ContactGroupEntity,
  SuppressionEntity,
];

export const CONTACT_MIGRATIONS: (new () => MigrationInterface)[] = [Contacts1790000000010];
