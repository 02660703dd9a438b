import { refusalOfWrites, type WriteRefusal } from '@dundun/messaging/queue';
import { Injectable } from '@nestjs/common';

/** How long a refusal counts after it happened, in milliseconds. */
const RECENT = 5_000;

/** The last write of this process that the database refused because it takes no writes. */
@Injectable()
export class WriteRefusals {
  #last: { readonly reason: WriteRefusal; readonly until: number } | undefined;

  /** Ignores other errors. */
  note(error: unknown): void {
    const reason = refusalOfWrites(error);
    if (reason !== undefined) this.#last = { reason, until: performance.now() + RECENT };
  }

  get recent(): WriteRefusal | undefined {
    return this.#last && performance.now() < this.#last.until ? this.#last.reason : undefined;
  }

  /** Whether no write is known to have succeeded since the last refusal. */
  get isOpen(): boolean {
    return this.#last !== undefined;
  }

  clear(): void {
    this.#last = undefined;
  }
}
