import { crc32 } from 'node:zlib';

/** Characters of the checksum before the content, in base 36. */
const CHECKSUM = 7;

/** Makes a cursor opaque: clients cannot build one, and a changed one is recognised. */
export function sealCursor(cursor: string): string {
  return Buffer.from(checksum(cursor) + cursor).toString('base64url');
}

/** `undefined` for a text that {@link sealCursor} did not return. */
export function openCursor(sealed: unknown): string | undefined {
  if (typeof sealed !== 'string') return undefined;
  const cursor = Buffer.from(sealed, 'base64url').toString().slice(CHECKSUM);
  return sealCursor(cursor) === sealed ? cursor : undefined;
}

function checksum(text: string): string {
  return crc32(text).toString(36).padStart(CHECKSUM, '0');
}
