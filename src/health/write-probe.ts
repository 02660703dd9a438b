import { MessagingService } from '@dundun/messaging';
import type { WriteRefusal } from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { WriteRefusals } from '../http/write-refusals.js';
import { WriteProbeRow } from './write-probe.table.js';

/** Milliseconds between two writes, however often readiness is asked for. */
const EVERY = 1_000;

/** Milliseconds that readiness waits for a write; a locked database is none that takes no writes. */
const PATIENCE = 2_000;

/** Bytes that must fit before a full database counts as writable again: some tables' next pages. */
const ROOM = 45_000;

/** Finds out whether the database takes writes, by the errors of requests and by a write. */
@Injectable()
export class WriteProbe {
  #last: { readonly at: number; readonly refusal: Promise<WriteRefusal | undefined> } | undefined;

  constructor(
    private readonly messaging: MessagingService,
    private readonly refusals: WriteRefusals,
  ) {}

  /** Why the database takes no writes; `undefined`: it takes them, or does not answer. */
  async refusal(): Promise<WriteRefusal | undefined> {
    const { recent } = this.refusals;
    if (recent !== undefined) return recent;
    const now = performance.now();
    if (!this.#last || now - this.#last.at >= EVERY)
      this.#last = { at: now, refusal: this.#write() };
    return Promise.race([this.#last.refusal, wait(PATIENCE, undefined, { ref: false })]);
  }

  /** Never rejects. */
  async #write(): Promise<WriteRefusal | undefined> {
    const bytes = this.refusals.isOpen ? ROOM : 1;
    const row = { id: randomUUID(), filler: randomBytes(bytes).toString('base64') };
    try {
      await this.messaging.transaction(async (manager) => {
        await manager.insert(WriteProbeRow, row);
        await manager.delete(WriteProbeRow, { id: row.id });
      });
      this.refusals.clear();
    } catch (error) {
      this.refusals.note(error);
    }
    return this.refusals.recent;
  }
}
