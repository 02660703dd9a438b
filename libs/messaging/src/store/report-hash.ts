import { hash } from 'node:crypto';

type Field = string | number | null;

/** A 128-bit digest in UUID form (version 8), so that each server stores it compactly and uniquely. */
export function digestId(...fields: readonly Field[]): string {
  const hex = digestOf(fields);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * The same, beginning with a time as UUIDs of version 7 do: what comes together lies together in an
 * index, which so keeps few pages in use whatever its size. 74 bits are left of the digest.
 * @param time epoch milliseconds; `null`: none is known, and all of these lie together
 */
export function timedDigestId(time: number | null, ...fields: readonly Field[]): string {
  const hex = digestOf(fields);
  const begin = (time ?? 0).toString(16).padStart(12, '0');
  return `${begin.slice(0, 8)}-${begin.slice(8)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function digestOf(fields: readonly Field[]): string {
  return hash('sha256', JSON.stringify(fields), 'hex');
}
