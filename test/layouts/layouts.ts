import type { DatabaseKind } from '../support/databases.js';

/** A released form of the tables, with the fixtures of databases that have it. */
export interface Layout {
  /** The day its fixtures were made, which is the name of their folder. */
  readonly name: string;
  /** Names of its migrations, in the order of their timestamps. */
  readonly migrations: readonly string[];
  /** SHA-256 of each fixture, as hexadecimal. */
  readonly digests: Readonly<Record<DatabaseKind, string>>;
}

/**
 * Every layout that databases in use may have, the oldest first. A line is only added, together with
 * its fixtures: `NEW_LAYOUT=2026-11-27 npm test -- gateway/upgrade` makes them and prints it.
 */
export const LAYOUTS: readonly Layout[] = [
  {
    name: '2026-11-27',
    migrations: [
      'Accounts1700000001000',
      'Webhooks1700000002000',
      'Health1700000003000',
      'Secrets1700000003000',
      'EmailDomains1700000005000',
      'Portal1700000006000',
      'Callers1700000008000',
      'Smpp1700000009000',
      'Store1790000000000',
      'Contacts1790000000010',
      'Vas1790000000020',
      'Verifications1790000000030',
      'Operations1790000000040',
      'Cancellations1790000000050',
      'RecipientIndex1790000000100',
    ],
    digests: {
      sqlite: '0e665173abbf68b7d174a0ea60e2c0648f03623692bd3a5f5381d4948768cc05',
      postgres: 'bd17d7a0d38081bcb2294966464080f9ccfc2c413a9a68bfec1f3e94136413fb',
      mariadb: '68f86698ef094447312ace0f42143931a75d58eb39760656c5bb412bf93d9c24',
    },
  },
];
