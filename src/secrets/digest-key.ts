import { withMigrationLock } from '@dundun/messaging';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DataSource } from 'typeorm';
import { whileLocked } from '../config/database.js';
import type { Environment } from '../config/environment.js';
import type { Secrets } from './secrets.js';
import { DIGEST_KEY, DigestKeyEntity, ONLY } from './secrets.tables.js';

type KeySettings = Pick<Environment, 'SECRETS_KEY' | 'DATABASE_URL'>;

/** Without its extension, for a database on a server. */
const BESIDE_SERVER = 'data/dundun';

/**
 * The key of digests, in base64: made once, and stored under `SECRETS_KEY`, so that a new
 * `SECRETS_KEY` leaves the digests as they are. Without `SECRETS_KEY`, outside production, it is in
 * a file of its own: the database alone never reveals it.
 */
export async function digestKeyOf(
  dataSource: DataSource,
  secrets: Pick<Secrets, 'seal' | 'open'>,
  { SECRETS_KEY, DATABASE_URL: database }: KeySettings,
): Promise<string> {
  const path = `${database.type === 'sqlite' ? database.path : BESIDE_SERVER}.digest-key`;
  if (!SECRETS_KEY) return keyOfFile(path);
  const find = () => dataSource.manager.findOneBy(DigestKeyEntity, { id: ONLY });
  const open = ({ secret }: DigestKeyEntity) => secrets.open(DIGEST_KEY, ONLY, secret);
  const stored = await whileLocked(find);
  if (stored) return open(stored);
  return withMigrationLock(dataSource, async () => {
    const other = await find();
    if (other) return open(other);
    const key = existsSync(path) ? keyOfFile(path) : newKey();
    const secret = secrets.seal(DIGEST_KEY, ONLY, key);
    await whileLocked(() => dataSource.manager.insert(DigestKeyEntity, { id: ONLY, secret }));
    return key;
  });
}

function keyOfFile(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeFileSync(path, `${newKey()}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'utf8').trim();
}

function newKey(): string {
  return randomBytes(32).toString('base64');
}
