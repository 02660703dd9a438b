import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 a byte can hold: bytes above it would favour the first digits. */
const FAIR = 248;

/** `length` characters, each of the 62 equally likely (5.954 bits each). */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length)
    for (const byte of randomBytes(length - text.length + 8)) {
      if (byte >= FAIR || text.length === length) continue;
      text += ALPHABET[byte % 62];
    }
  return text;
}

/** A whole number in exactly `width` base62 digits. */
export function base62(value: number, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest = Math.floor(rest / 62))
    text = ALPHABET[rest % 62] + text;
  return text;
}
