import { COMMAND_STATUS } from '../command-status.js';
import { SmppDecodeError } from '../errors.js';
import { HEADER_LENGTH } from './decode.js';

/**
 * The longest PDU that is taken by default, in bytes: a `message_payload` of 64 KiB beside 254
 * recipients fits.
 */
export const DEFAULT_MAX_PDU_LENGTH = 73_728;

/**
 * Cuts a stream of bytes into PDUs. It holds at most one unfinished PDU of `maxLength` bytes.
 *
 * @example
 * const frames = new FrameDecoder();
 * socket.on('data', (chunk) => { for (const bytes of frames.push(chunk)) handle(decodePdu(bytes)); });
 */
export class FrameDecoder {
  readonly #header = Buffer.alloc(4);
  #headerLength = 0;
  /** The PDU that has begun, and how much of it is there. */
  #frame: Buffer | undefined;
  #filled = 0;

  /** @param maxLength bytes; a PDU that announces more ends the stream @default 73728 */
  constructor(readonly maxLength = DEFAULT_MAX_PDU_LENGTH) {}

  /** Bytes of a PDU that has begun. */
  get pending(): number {
    return this.#frame ? this.#filled : this.#headerLength;
  }

  /**
   * The PDUs that `chunk` completes, in order; those within it are views of it.
   * @throws SmppDecodeError for a length below 16 or above `maxLength`, after the PDUs before it; the
   * stream cannot go on
   */
  *push(chunk: Buffer): Generator<Buffer, void, undefined> {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.#frame) {
        const copied = chunk.copy(this.#frame, this.#filled, offset);
        offset += copied;
        this.#filled += copied;
      } else if (this.#headerLength === 0 && chunk.length - offset >= 4) {
        const length = this.#checked(chunk.readUInt32BE(offset));
        const end = offset + length;
        if (end <= chunk.length) {
          yield chunk.subarray(offset, end);
          offset = end;
        } else this.#begin(length);
      } else {
        this.#header[this.#headerLength++] = chunk[offset++] as number;
        if (this.#headerLength < 4) continue;
        this.#begin(this.#checked(this.#header.readUInt32BE(0)));
        this.#filled = this.#header.copy(this.#frame as unknown as Buffer);
      }
      if (this.#frame && this.#filled === this.#frame.length) {
        const frame = this.#frame;
        this.#frame = undefined;
        yield frame;
      }
    }
  }

  #begin(length: number): void {
    this.#headerLength = 0;
    this.#frame = Buffer.allocUnsafeSlow(length);
    this.#filled = 0;
  }

  #checked(length: number): number {
    if (length >= HEADER_LENGTH && length <= this.maxLength) return length;
    throw new SmppDecodeError(
      `command_length is ${length}, from ${HEADER_LENGTH} to ${this.maxLength} is taken`,
      COMMAND_STATUS.ESME_RINVCMDLEN,
    );
  }
}
