import { SmppValueError } from '../errors.js';

/** Writes the fields of a PDU into a buffer that grows, and copies the PDU out. */
export class ByteWriter {
  #buffer = Buffer.allocUnsafeSlow(1_024);
  #length = 0;

  start(): void {
    this.#length = 0;
  }

  /** The bytes since `start()`. */
  finish(): Buffer {
    const copy = Buffer.allocUnsafe(this.#length);
    this.#buffer.copy(copy, 0, 0, this.#length);
    return copy;
  }

  get length(): number {
    return this.#length;
  }

  uint8(value: number, field: string): void {
    if (!(value >= 0 && value <= 0xff) || !Number.isInteger(value)) throw outOf(field, 0xff);
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  uint16(value: number, field: string): void {
    if (!(value >= 0 && value <= 0xffff) || !Number.isInteger(value)) throw outOf(field, 0xffff);
    this.#reserve(2);
    const buffer = this.#buffer;
    buffer[this.#length++] = value >>> 8;
    buffer[this.#length++] = value;
  }

  uint32(value: number, field: string): void {
    if (!(value >= 0 && value <= 0xffff_ffff) || !Number.isInteger(value))
      throw outOf(field, 0xffff_ffff);
    this.#reserve(4);
    this.#put32(this.#length, value);
    this.#length += 4;
  }

  /** Overwrites four bytes that were written before. */
  uint32At(offset: number, value: number): void {
    this.#put32(offset, value);
  }

  /** @param size with the terminating NUL, as the specification counts */
  cString(value: string, size: number, field: string): void {
    const count = value.length;
    if (count >= size) throw new SmppValueError(field, `use at most ${size - 1} characters`);
    this.#reserve(count + 1);
    const buffer = this.#buffer;
    let at = this.#length;
    // Faster than Buffer.latin1Write() for the few characters of a number.
    for (let index = 0; index < count; index++) {
      const code = value.charCodeAt(index);
      if (code === 0 || code > 0xff)
        throw new SmppValueError(field, 'use Latin-1 characters other than NUL');
      buffer[at++] = code;
    }
    buffer[at++] = 0;
    this.#length = at;
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  #put32(offset: number, value: number): void {
    const buffer = this.#buffer;
    buffer[offset] = value >>> 24;
    buffer[offset + 1] = value >>> 16;
    buffer[offset + 2] = value >>> 8;
    buffer[offset + 3] = value;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

function outOf(field: string, max: number): SmppValueError {
  return new SmppValueError(field, `use an integer from 0 to ${max}`);
}
