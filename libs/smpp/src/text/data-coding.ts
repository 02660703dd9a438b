import { SmppValueError } from '../errors.js';
import { decodeGsm7, encodeGsm7, isGsm7 } from './gsm7.js';

/** Values of `data_coding` (section 5.2.19) that carry text or bytes this package reads. */
export const DATA_CODING = {
  /** The SMSC's default alphabet, mostly GSM 03.38. */
  default: 0x00,
  ascii: 0x01,
  latin1: 0x03,
  binary: 0x04,
  ucs2: 0x08,
} as const;

/** How an SMSC reads `data_coding` 0. */
export type DefaultAlphabet = 'gsm7' | 'latin1' | 'ascii';

/** What a peer means by the two values of `data_coding` that clients use for several alphabets. */
export interface Alphabets {
  /** @default 'gsm7' */
  readonly dataCoding0?: DefaultAlphabet;
  /**
   * `auto`: GSM 03.38 where a byte below 0x20 other than LF and CR shows it, else ASCII. Several
   * clients write GSM 03.38 under this value.
   * @default 'auto'
   */
  readonly dataCoding1?: DefaultAlphabet | 'auto';
}

/** The meaning of a value of `data_coding`. */
export type Encoding = 'gsm7' | 'ascii' | 'latin1' | 'ucs2' | 'binary';

/**
 * The encoding of a `data_coding`; `binary` for bytes and for encodings that this package does not read
 * (Cyrillic, Hebrew, JIS, Kanji, KS C 5601).
 * @param defaultAlphabet of the SMSC @default 'gsm7'
 */
export function encodingOf(
  dataCoding: number,
  defaultAlphabet: DefaultAlphabet = 'gsm7',
): Encoding {
  switch (dataCoding) {
    case DATA_CODING.default:
      return defaultAlphabet;
    case DATA_CODING.ascii:
      return 'ascii';
    case DATA_CODING.latin1:
      return 'latin1';
    case DATA_CODING.ucs2:
      return 'ucs2';
  }
  // GSM 03.38: message waiting (0xc0 to 0xef) and message class (0xf0 to 0xff).
  if (dataCoding >= 0xf0) return (dataCoding & 0x04) === 0 ? 'gsm7' : 'binary';
  if (dataCoding >= 0xe0) return 'ucs2';
  if (dataCoding >= 0xc0) return 'gsm7';
  return 'binary';
}

/** The encoding of these bytes: as `encodingOf()`, where the peer's alphabets and the bytes decide. */
export function encodingOfBytes(
  bytes: Uint8Array,
  dataCoding: number,
  { dataCoding0, dataCoding1 = 'auto' }: Alphabets = {},
): Encoding {
  if (dataCoding !== DATA_CODING.ascii) return encodingOf(dataCoding, dataCoding0);
  if (dataCoding1 !== 'auto') return dataCoding1;
  return bytes.some(isControlByte) ? 'gsm7' : 'ascii';
}

const LF = 0x0a;
const CR = 0x0d;

function isControlByte(byte: number): boolean {
  return byte < 0x20 && byte !== LF && byte !== CR;
}

/** UTF-16 with the high byte first; a character outside the BMP is a surrogate pair. */
export function encodeUcs2(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

/** A last single byte is dropped. */
export function decodeUcs2(bytes: Uint8Array): string {
  const copy = Buffer.from(bytes.subarray(0, bytes.length & ~1));
  return copy.swap16().toString('utf16le');
}

/** @throws SmppValueError for a text with another character */
export function encodeLatin1(text: string): Buffer {
  for (let index = 0; index < text.length; index++)
    if (text.charCodeAt(index) > 0xff)
      throw new SmppValueError('text', 'use Latin-1 characters, or encodeUcs2()');
  return Buffer.from(text, 'latin1');
}

export interface EncodedText {
  readonly dataCoding: number;
  readonly bytes: Buffer;
}

/**
 * The shortest encoding of a text: GSM 03.38 where it has every character, else UCS-2.
 * @example
 * const { dataCoding, bytes } = encodeText('Grüße für 5 €'); // dataCoding 0
 */
export function encodeText(text: string): EncodedText {
  return isGsm7(text)
    ? { dataCoding: DATA_CODING.default, bytes: encodeGsm7(text) }
    : { dataCoding: DATA_CODING.ucs2, bytes: encodeUcs2(text) };
}

/** The text of a message without its header; `undefined` for bytes that are no text. */
export function decodeText(
  bytes: Uint8Array,
  dataCoding: number,
  alphabets?: Alphabets,
): string | undefined {
  switch (encodingOfBytes(bytes, dataCoding, alphabets)) {
    case 'gsm7':
      return decodeGsm7(bytes);
    case 'ascii':
    case 'latin1':
      return Buffer.from(bytes).toString('latin1');
    case 'ucs2':
      return decodeUcs2(bytes);
    case 'binary':
      return undefined;
  }
}
