import 'reflect-metadata';
import { writeSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { LedgerDatabase } from '../../../libs/messaging/src/ledger/ledger-database.js';
import { dataSourceOptions } from './data-source-options.js';

/** Commits by each way there is, and says so on standard output. */
const [database = ''] = process.argv.slice(2);
const INSERT = 'INSERT INTO kept (value) VALUES (1)';

const dataSource = await new DataSource(dataSourceOptions(database)).initialize();
// As SQLite is built for some drivers.
await dataSource.query('PRAGMA synchronous = NORMAL');
const ledger = new LedgerDatabase(dataSource);
await ledger.open();
await ledger.transaction((tx) => tx.run(INSERT));
writeSync(1, 'ledger\n');
await ledger.callerTransaction((manager) => manager.query(INSERT));
writeSync(1, 'caller\n');
await ledger.close();
await dataSource.destroy();
