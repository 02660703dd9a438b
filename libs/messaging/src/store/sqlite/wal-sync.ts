import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';

export interface WalFile {
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Syncs SQLite's write-ahead log to the disk in Node's thread pool, for a connection with
 * `synchronous = NORMAL`, whose commits only write the log. The driver's own sync blocks the event
 * loop. The log is in the order of commits, so one sync covers all earlier commits.
 */
export class WalSync {
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(private readonly file: WalFile) {}

  /** @param connection in WAL mode, kept open: the last one to close deletes the log */
  static async open(connection: DataSource): Promise<WalSync> {
    const files = await connection.query<{ name: string; file: string }[]>('PRAGMA database_list');
    const main = files.find(({ name }) => name === 'main');
    // SQLite creates the log on the first read.
    await connection.query('PRAGMA schema_version');
    // Windows syncs only files that are open for writing.
    const log = `${main?.file}-wal`;
    const file = await open(log, 'r+');
    await syncDirectory(dirname(log));
    return new WalSync({ sync: () => file.datasync(), close: () => file.close() });
  }

  /**
   * Resolves when all earlier commits are on the disk. After a failed sync the state of the disk is
   * unknown: all later syncs fail with the same error until the process restarts.
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
        `SQLite's log could not be synced (${String(error)}): no write is confirmed until the process restarts`,
      );
      throw error;
    }
  }
}

/** A new log survives a power loss only if its directory was synced, too. */
async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open directories as files.
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
