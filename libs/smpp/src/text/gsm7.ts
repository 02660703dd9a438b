import { SmppValueError } from '../errors.js';

/** The default alphabet of GSM 03.38 (3GPP TS 23.038, 6.2.1), by code. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const ESCAPE = 0x1b;
/** The extension table: the characters behind the escape. */
const EXTENSION: Readonly<Record<string, number>> = {
  '\f': 0x0a,
  '^': 0x14,
  '{': 0x28,
  '}': 0x29,
  '\\': 0x2f,
  '[': 0x3c,
  '~': 0x3d,
  ']': 0x3e,
  '|': 0x40,
  '€': 0x65,
};
/** A code of the extension table has this bit; its low byte follows the escape. */
const EXTENDED = 0x100;

const CODES = new Map<string, number>([
  ...Array.from(BASIC).map((character, code) => [character, code] as const),
  ...Object.entries(EXTENSION).map(([character, code]) => [character, EXTENDED | code] as const),
]);
CODES.delete('\u001b');
const EXTENSION_CHARACTERS = new Map(
  Object.entries(EXTENSION).map(([character, code]) => [code, character]),
);

/** Whether the default alphabet with its extension table has every character. */
export function isGsm7(text: string): boolean {
  for (const character of text) if (!CODES.has(character)) return false;
  return true;
}

/**
 * One byte per septet, as SMPP carries the default alphabet; a character of the extension table, such
 * as `€`, takes two.
 * @throws SmppValueError for a text with another character
 */
export function encodeGsm7(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length * 2);
  let length = 0;
  for (const character of text) {
    const code = CODES.get(character);
    if (code === undefined)
      throw new SmppValueError('text', 'use characters of GSM 03.38, or encodeUcs2()');
    if (code & EXTENDED) bytes[length++] = ESCAPE;
    bytes[length++] = code & 0x7f;
  }
  return bytes.subarray(0, length);
}

/**
 * The text of unpacked septets. An escape before a code that the extension table lacks is dropped, as
 * the standard has it; the eighth bit of a byte is ignored.
 */
export function decodeGsm7(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < bytes.length; index++) {
    const code = (bytes[index] as number) & 0x7f;
    if (code !== ESCAPE) {
      text += BASIC[code];
      continue;
    }
    const extended = EXTENSION_CHARACTERS.get((bytes[index + 1] ?? -1) & 0x7f);
    if (extended === undefined) continue;
    text += extended;
    index++;
  }
  return text;
}
