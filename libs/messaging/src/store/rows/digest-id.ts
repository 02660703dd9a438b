import { hash } from 'node:crypto';

type Field = string | number | null;

/** A 128-bit digest as a UUID (version 8), which every server stores compactly and uniquely. */
export function digestId(...fields: readonly Field[]): string {
  const hex = digestOf(fields);
  return uuidOf(hex, hex);
}

/**
 * Starts with a time, as version 7 UUIDs do, so that rows of one time share few index pages; 74
 * bits of the digest remain. `time`: epoch milliseconds; `null`: unknown.
 */
export function timedDigestId(time: number | null, ...fields: readonly Field[]): string {
  return uuidOf((time ?? 0).toString(16).padStart(12, '0'), digestOf(fields));
}

function digestOf(fields: readonly Field[]): string {
  return hash('sha256', JSON.stringify(fields), 'hex');
}

function uuidOf(begin: string, hex: string): string {
  return `${begin.slice(0, 8)}-${begin.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
