import { existsSync } from 'node:fs';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { EnvironmentError } from '../config/environment.js';
import { SqliteDriver } from '../config/sqlite-driver.js';
import { invalidField } from '../http/api-error.js';

/** The hold that a restored database starts with; the first start of the copy sets its time. */
const MARK =
  "INSERT OR IGNORE INTO messaging_hold (lanes, reason, since) VALUES ('*', 'restored', 0)";

/**
 * Copies the database at `path` to `file` as of one moment, also while a gateway writes to it. Only
 * the owner may read the copy; inside it is marked as one. The file appears whole or not at all.
 * @returns its size in bytes
 * @throws ApiError 422 where `file` exists and `force` is not set, or cannot be written
 */
export async function backUpSqlite(
  path: string,
  file: string,
  { force }: { readonly force: boolean },
): Promise<number> {
  if (!existsSync(path))
    throw new EnvironmentError([`DATABASE_URL "sqlite:${path}": there is no such file to back up`]);
  const target = await pathOf(file);
  const database = await realpath(path);
  if ([database, `${database}-wal`, `${database}-shm`].includes(target))
    throw invalidField('file', 'is the database itself; name another file');
  const partial = `${target}.${process.pid}.partial`;
  const claimed = await claim(target, force);
  try {
    await (await open(partial, 'wx', 0o600)).close();
    copyInto(partial, database);
    const copy = await open(partial, 'r+');
    await copy.sync();
    await copy.close();
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    if (claimed) await rm(target, { force: true });
    throw error;
  }
  return (await stat(target)).size;
}

function copyInto(partial: string, database: string): void {
  const source = new SqliteDriver(database);
  try {
    // Without the table this is the database of another version, or of another program.
    if (
      source.prepare("SELECT 1 FROM sqlite_master WHERE name = 'messaging_hold'").all().length === 0
    )
      throw new EnvironmentError([
        'DATABASE_URL: the file has no tables of this version; run the backup with the version that uses it',
      ]);
    source.exec(`VACUUM INTO '${partial.replaceAll("'", "''")}'`);
  } finally {
    source.close();
  }
  const copy = new SqliteDriver(partial);
  try {
    copy.exec(MARK);
  } finally {
    copy.close();
  }
}

/** @throws ApiError 422 where its folder does not exist */
async function pathOf(file: string): Promise<string> {
  const folder = await realpath(dirname(resolve(file))).catch(() => {
    throw invalidField('file', 'is in a folder that does not exist; create it first');
  });
  return join(folder, basename(file));
}

/** Creates the file, so that no other process does. False: `force` allows to replace it. */
async function claim(target: string, force: boolean): Promise<boolean> {
  try {
    await (await open(target, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw invalidField('file', `cannot be written: ${message}`);
    if (force && (await stat(target)).isFile()) return false;
    const remedy = force ? 'is no file; name another' : 'exists; name another, or pass --force';
    throw invalidField('file', remedy);
  }
}
