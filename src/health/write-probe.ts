import { MessagingService } from '@dundun/messaging';
import { isUnavailable, type WriteRefusal } from '@dundun/messaging/queue';
import { Injectable, Logger } from '@nestjs/common';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { WriteRefusals } from '../http/write-refusals.js';
import { WriteProbeRow } from './write-probe.table.js';

/** Milliseconds between two writes, however often readiness is asked for. */
const EVERY = 1_000;

/** Milliseconds that readiness waits for a write; one that waits longer is its own reason. */
const PATIENCE = 2_000;

/** Bytes that must fit before a full database counts as writable again: some tables' next pages. */
const ROOM = 45_000;

/** Why a write fails; `write_failed`: for a cause that the log has. */
export type ProbeRefusal = WriteRefusal | 'no_answer' | 'write_failed';

/** Finds out whether the database takes writes, by the errors of requests and by a write. */
@Injectable()
export class WriteProbe {
  readonly #logger = new Logger('Health');
  #last: { readonly at: number; readonly refusal: Promise<ProbeRefusal | undefined> } | undefined;
  #isWriting = false;

  constructor(
    private readonly messaging: MessagingService,
    private readonly refusals: WriteRefusals,
  ) {}

  /** Why the database has refused writes of the last seconds. */
  get recent(): WriteRefusal | undefined {
    return this.refusals.recent;
  }

  /** Why the database takes no write now; `undefined`: it takes them, or has not answered yet. */
  async refusal(): Promise<ProbeRefusal | undefined> {
    const now = performance.now();
    if (!this.#last || (!this.#isWriting && now - this.#last.at >= EVERY))
      this.#last = { at: now, refusal: this.#write() };
    return Promise.race([this.#last.refusal, wait(PATIENCE, undefined, { ref: false })]);
  }

  /** Never rejects. */
  async #write(): Promise<ProbeRefusal | undefined> {
    const bytes = this.refusals.isOpen ? ROOM : 1;
    const row = { id: randomUUID(), filler: randomBytes(bytes).toString('base64') };
    this.#isWriting = true;
    try {
      await this.messaging.transaction(async (manager) => {
        await manager.insert(WriteProbeRow, row);
        await manager.delete(WriteProbeRow, { id: row.id });
      });
      this.refusals.clear();
      return undefined;
    } catch (error) {
      this.refusals.note(error);
      if (this.refusals.recent === undefined)
        this.#logger.warn({ message: 'the database refuses a write', err: error });
      return this.refusals.recent ?? (isUnavailable(error) ? 'no_answer' : 'write_failed');
    } finally {
      this.#isWriting = false;
    }
  }
}
