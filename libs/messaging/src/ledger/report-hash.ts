import { hash } from 'node:crypto';

/** A 128-bit digest in UUID form (version 8), so that each server stores it compactly and uniquely. */
export function digestId(...fields: readonly (string | number | null)[]): string {
  const hex = hash('sha256', JSON.stringify(fields), 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
