import type { Concatenation } from './user-data-header.js';

export interface AssemblerOptions {
  /** Unfinished messages; the oldest gives way to the next one. @default 1000 */
  readonly maxMessages?: number;
  /** Milliseconds after its first part in which a message must be complete. @default 3600000 */
  readonly maxAge?: number;
  /** The time in milliseconds. @default Date.now */
  readonly now?: () => number;
}

interface Unfinished {
  readonly since: number;
  readonly parts: (Buffer | undefined)[];
  missing: number;
}

/**
 * Joins the parts of long messages, in any order. It holds at most `maxMessages` × 255 parts, needs no
 * timer and copies what it holds.
 *
 * @example
 * const { bytes, concatenation } = messageOf(pdu);
 * const whole = concatenation
 *   ? assembler.add(`${pdu.source.address} ${pdu.destination.address}`, concatenation, bytes) : bytes;
 */
export class MessageAssembler {
  readonly #unfinished = new Map<string, Unfinished>();
  readonly #maxMessages: number;
  readonly #maxAge: number;
  readonly #now: () => number;

  constructor({ maxMessages = 1_000, maxAge = 3_600_000, now = Date.now }: AssemblerOptions = {}) {
    this.#maxMessages = maxMessages;
    this.#maxAge = maxAge;
    this.#now = now;
  }

  /** Messages that lack parts. */
  get size(): number {
    return this.#unfinished.size;
  }

  /**
   * The whole message, once its last part is there; a part that is repeated changes nothing.
   * @param from names the sender and the recipient: references repeat between them
   */
  add(from: string, { reference, total, part }: Concatenation, bytes: Buffer): Buffer | undefined {
    const now = this.#now();
    this.#expire(now);
    const key = `${reference} ${total} ${from}`;
    let message = this.#unfinished.get(key);
    if (!message) {
      if (this.#unfinished.size >= this.#maxMessages)
        this.#unfinished.delete(this.#unfinished.keys().next().value as string);
      message = { since: now, parts: Array.from({ length: total }), missing: total };
      this.#unfinished.set(key, message);
    }
    if (message.parts[part - 1] === undefined) {
      // Allocated outside of the pool, of which a small copy would keep eight KiB.
      const copy = Buffer.allocUnsafeSlow(bytes.length);
      copy.set(bytes);
      message.parts[part - 1] = copy;
      message.missing--;
    }
    if (message.missing > 0) return undefined;
    this.#unfinished.delete(key);
    return Buffer.concat(message.parts as Buffer[]);
  }

  /** In order of their first parts. */
  #expire(now: number): void {
    for (const [key, { since }] of this.#unfinished) {
      if (now - since <= this.#maxAge) return;
      this.#unfinished.delete(key);
    }
  }
}
