import { setTimeout as wait } from 'node:timers/promises';
import Database from 'libsql';
import { chances } from './chance.js';

/** Takes the write lock of an SQLite file again and again, for 1 to 300 ms each, and commits a change. */
const [path = '', seed = '0'] = process.argv.slice(2);
const next = chances(Number(seed));
const some = (most: number): number => 1 + Math.floor(next() * most);

const database = new Database(path, { timeout: 0 });
let taken = 0;
process.on('message', () => process.send?.({ taken }, () => process.exit(0)));
for (;;) {
  try {
    database.exec('BEGIN IMMEDIATE');
  } catch {
    await wait(1);
    continue;
  }
  await wait(some(300));
  database.exec('UPDATE gateway_account SET name = name');
  database.exec('COMMIT');
  taken++;
  await wait(some(300));
}
