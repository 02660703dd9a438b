import { withMigrationLock } from '@dundun/messaging/migrations';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
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
  if (!existsSync(path)) makeKeyFile(path);
  return readFileSync(path, 'utf8').trim();
}

/** A power loss leaves the whole file or none; of two processes, the first one makes it. */
function makeKeyFile(path: string): void {
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true });
  const own = `${path}.${process.pid}`;
  writeFileSync(own, `${newKey()}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(own, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  unlinkSync(own);
  // Windows cannot open directories as files.
  if (process.platform === 'win32') return;
  const opened = openSync(directory, 'r');
  fsyncSync(opened);
  closeSync(opened);
}

function newKey(): string {
  return randomBytes(32).toString('base64');
}
