import { type DatabaseKind } from '../support/databases.js';

const full = process.env['CHAOS'] === 'full';

const KINDS: readonly DatabaseKind[] = ['sqlite', 'postgres', 'mariadb'];

/** In the short form each database takes every third case, so that all databases together take all. */
export function shareOf<T>(cases: readonly T[], kind: DatabaseKind): readonly T[] {
  return full ? cases : cases.filter((_, index) => index % KINDS.length === KINDS.indexOf(kind));
}
