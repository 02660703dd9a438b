/** A field that reads beyond the end of its PDU. The decoder adds the header to the error. */
export class OverrunError extends Error {
  constructor(
    readonly field: string,
    readonly reason: string,
  ) {
    super(`${field}: ${reason}`);
  }
}

/** Reads the fields of one PDU, and nothing beyond its end. */
export class ByteReader {
  #buffer: Buffer;
  #offset = 0;
  readonly end: number;

  constructor(buffer: Buffer, offset: number, end: number) {
    this.#buffer = buffer;
    this.#offset = offset;
    this.end = end;
  }

  get remaining(): number {
    return this.end - this.#offset;
  }

  uint8(field: string): number {
    if (this.#offset >= this.end) throw new OverrunError(field, 'missing');
    return this.#buffer[this.#offset++] as number;
  }

  uint16(field: string): number {
    const at = this.#offset;
    if (at + 2 > this.end) throw new OverrunError(field, 'missing');
    this.#offset = at + 2;
    return ((this.#buffer[at] as number) << 8) | (this.#buffer[at + 1] as number);
  }

  uint32(field: string): number {
    const at = this.#offset;
    if (at + 4 > this.end) throw new OverrunError(field, 'missing');
    this.#offset = at + 4;
    return this.#buffer.readUInt32BE(at);
  }

  cString(field: string): string {
    const buffer = this.#buffer;
    const from = this.#offset;
    let at = from;
    while (at < this.end && buffer[at] !== 0) at++;
    if (at >= this.end) throw new OverrunError(field, 'no terminating NUL');
    this.#offset = at + 1;
    return text(buffer, from, at);
  }

  bytes(count: number, field: string): Buffer {
    const from = this.#offset;
    if (from + count > this.end) throw new OverrunError(field, 'longer than the PDU');
    this.#offset = from + count;
    return this.#buffer.subarray(from, this.#offset);
  }
}

/** Latin-1; a loop is faster than `toString()` for the few characters of a number. */
export function text(buffer: Buffer, from: number, to: number): string {
  if (to - from > 16) return buffer.toString('latin1', from, to);
  let value = '';
  for (let at = from; at < to; at++) value += String.fromCharCode(buffer[at] as number);
  return value;
}
