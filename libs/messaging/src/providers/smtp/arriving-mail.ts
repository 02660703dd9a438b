import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

/** Most octets and lines of a piece: what verifies a mail spends its time per line. */
const PIECE = 65_536;
const PIECE_LINES = 1_000;
/** Most pieces of a head before they are joined: a piece can have three octets. */
const MOST_PIECES = 64;

/** Gives each caller a turn of the event loop that no other caller has. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  next(): Promise<unknown> {
    return (this.#last = this.#last.then(() => turn()));
  }
}

/** A mail while it arrives. Its head is kept; what follows is passed on in pieces, or skipped. */
export class ArrivingMail {
  readonly #chunks: AsyncIterator<Buffer>;
  #head = Buffer.alloc(0);
  /** Octets that have arrived. */
  #size = 0;

  /** @param turns shared by all mails, so that each chunk of a mail has a turn of its own */
  constructor(
    stream: Readable,
    private readonly turns: Turns,
  ) {
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /**
   * Reads the first octets, once.
   * @param mayKeep is asked before octets are kept
   * @returns at least `most` octets, or the whole mail; `undefined` where they were not kept
   */
  async head(most: number, mayKeep: (octets: number) => boolean): Promise<Buffer | undefined> {
    let pieces: Buffer[] = [];
    while (this.#size < most) {
      const chunk = await this.#chunk();
      if (!chunk) break;
      if (!mayKeep(chunk.length)) return undefined;
      pieces.push(chunk);
      if (pieces.length === MOST_PIECES) pieces = [Buffer.concat(pieces)];
    }
    // Parsing takes this turn.
    await this.turns.next();
    return (this.#head = Buffer.concat(pieces));
  }

  /** The mail from its first octet on, after its head was read; it ends behind `most` octets. */
  async *octets(most: number): AsyncGenerator<Buffer, void, undefined> {
    let chunk: Buffer | undefined = this.#head;
    this.#head = Buffer.alloc(0);
    while (chunk) {
      for (let from = 0, end = 0; from < chunk.length; from = end) {
        end = endOfLines(chunk, { from, octets: PIECE, lines: PIECE_LINES });
        await this.turns.next();
        yield chunk.subarray(from, end);
      }
      chunk = this.#size > most ? undefined : await this.#chunk();
    }
  }

  /** Skips what has not been read. @returns the octets of the whole mail */
  async end(): Promise<number> {
    while (await this.#chunk());
    return this.#size;
  }

  async #chunk(): Promise<Buffer | undefined> {
    const { done, value } = await this.#chunks.next();
    if (done) return undefined;
    this.#size += value.length;
    await this.turns.next();
    return value;
  }
}

interface Bounds {
  /** @default 0 */
  readonly from?: number;
  readonly octets: number;
  readonly lines: number;
}

/** The end of so many lines, or of so many octets if that is less. */
export function endOfLines(buffer: Buffer, { from = 0, octets, lines }: Bounds): number {
  const most = Math.min(buffer.length, from + octets);
  let end = from;
  for (let count = 0; count < lines; count++) {
    end = buffer.indexOf(10, end) + 1;
    if (end === 0 || end > most) return most;
  }
  return end;
}
