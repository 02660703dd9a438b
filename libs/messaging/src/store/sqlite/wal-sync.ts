import { close, fdatasync, fsync, open } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';

/** The log's file. */
export interface WalFile {
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Brings SQLite's write-ahead log to the disk from a thread of Node's pool, for a connection whose
 * commits only write it (`synchronous = NORMAL`): the driver's own sync blocks the event loop for as
 * long as the disk takes. The log is written in the order of commits, so one sync is for all before it.
 */
export class WalSync {
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(private readonly file: WalFile) {}

  /** @param connection in WAL mode, and open for as long as this: the last one to close deletes the log. */
  static async open(connection: DataSource): Promise<WalSync> {
    const files = await connection.query<{ name: string; file: string }[]>('PRAGMA database_list');
    const main = files.find(({ name }) => name === 'main');
    // The log is made when the database is first read.
    await connection.query('PRAGMA schema_version');
    // Windows syncs only what may be written.
    const log = `${main?.file}-wal`;
    const descriptor = await promisify(open)(log, 'r+');
    await syncDirectory(dirname(log));
    const sync = promisify(fdatasync);
    return new WalSync({
      sync: () => sync(descriptor),
      close: () => promisify(close)(descriptor),
    });
  }

  /**
   * Resolves when all that was committed before the call is on the disk. Once a sync has failed nobody
   * knows what the disk holds: each one after it fails as it did, until the process starts anew.
   */
  done(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      return (this.#last = this.#sync());
    });
    return this.#next;
  }

  async close(): Promise<void> {
    await (this.#next ?? this.#last).catch(() => undefined);
    await this.file.close();
  }

  async #sync(): Promise<void> {
    try {
      await this.file.sync();
    } catch (error) {
      new Logger('StoreDatabase').fatal(
        `SQLite's log could not be synced (${String(error)}): nothing is confirmed until the process starts anew`,
      );
      throw error;
    }
  }
}

/** A log that is new is found after a loss of power only where its directory was synced, too. */
async function syncDirectory(path: string): Promise<void> {
  // There directories are no files.
  if (process.platform === 'win32') return;
  const descriptor = await promisify(open)(path, 'r');
  try {
    await promisify(fsync)(descriptor);
  } finally {
    await promisify(close)(descriptor);
  }
}
