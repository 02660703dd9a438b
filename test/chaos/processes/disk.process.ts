import 'reflect-metadata';
import { writeSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { databaseOf } from '../../../libs/messaging/src/store/open-store.js';
import { dataSourceOptions } from './data-source-options.js';

/** Commits by each way there is, and says so on standard output. */
const [database = ''] = process.argv.slice(2);
const INSERT = 'INSERT INTO kept (value) VALUES (1)';

const dataSource = await new DataSource(dataSourceOptions(database)).initialize();
// As SQLite is built for some drivers.
await dataSource.query('PRAGMA synchronous = NORMAL');
const store = databaseOf(dataSource);
await store.open();
await store.transaction((tx) => tx.run(INSERT));
writeSync(1, 'store\n');
await store.callerTransaction((manager) => manager.query(INSERT));
writeSync(1, 'caller\n');
await store.close();
await dataSource.destroy();
