import { SmppValueError } from '../errors.js';

/** `esm_class`: the message begins with a user data header. */
export const UDHI = 0x40;

/** Information element ids of concatenation (3GPP TS 23.040, 9.2.3.24.1 and .8). */
const CONCATENATION_8 = 0x00;
const CONCATENATION_16 = 0x08;

/** Which part of a long message this is. */
export interface Concatenation {
  readonly reference: number;
  /** 1 to 255. */
  readonly total: number;
  /** From 1. */
  readonly part: number;
}

export interface HeaderElement {
  readonly id: number;
  readonly data: Buffer;
}

export interface UserDataHeader {
  readonly elements: readonly HeaderElement[];
  readonly concatenation?: Concatenation & { readonly bits: 8 | 16 };
  /** Bytes of the header with its length: where the message begins. */
  readonly length: number;
}

/**
 * Reads the header in front of a message whose `esm_class` has `UDHI`; `undefined` where it is longer
 * than the message or its elements do not fit.
 */
export function readUserDataHeader(message: Buffer): UserDataHeader | undefined {
  const length = 1 + (message[0] ?? 0);
  if (message.length === 0 || length > message.length) return undefined;
  const elements: HeaderElement[] = [];
  for (let at = 1; at < length;) {
    const from = at + 2;
    const end = from + (message[at + 1] ?? 0);
    if (from > length || end > length) return undefined;
    elements.push({ id: message[at] as number, data: message.subarray(from, end) });
    at = end;
  }
  const concatenation = elements.map(concatenationOf).find((each) => each !== undefined);
  return { elements, length, ...(concatenation && { concatenation }) };
}

function concatenationOf({ id, data }: HeaderElement): UserDataHeader['concatenation'] {
  const bits = id === CONCATENATION_8 ? 8 : 16;
  if (id !== CONCATENATION_8 && id !== CONCATENATION_16) return undefined;
  if (data.length !== 2 + bits / 8) return undefined;
  const [reference, rest] = bits === 8 ? [data[0], 1] : [data.readUInt16BE(0), 2];
  const total = data[rest] as number;
  const part = data[rest + 1] as number;
  // The standard has the element ignored.
  if (total === 0 || part === 0 || part > total) return undefined;
  return { reference: reference as number, total, part, bits };
}

/** The header, with its length, for the elements. */
export function writeUserDataHeader(elements: readonly HeaderElement[]): Buffer {
  const body = Buffer.concat(
    elements.flatMap(({ id, data }) => [Buffer.from([id, data.length]), data]),
  );
  if (body.length > 139) throw new SmppValueError('elements', 'use at most 139 bytes');
  return Buffer.concat([Buffer.from([body.length]), body]);
}

/** The header of one part: six bytes with a reference of 8 bits, seven with 16. */
export function writeConcatenation(
  { reference, total, part }: Concatenation,
  bits: 8 | 16,
): Buffer {
  return bits === 8
    ? writeUserDataHeader([
        { id: CONCATENATION_8, data: Buffer.from([reference & 0xff, total, part]) },
      ])
    : writeUserDataHeader([
        {
          id: CONCATENATION_16,
          data: Buffer.from([(reference >>> 8) & 0xff, reference & 0xff, total, part]),
        },
      ]);
}
