import { type DatabaseKind } from '../support/databases.js';

const full = process.env['CHAOS'] === 'full';

const KINDS: readonly DatabaseKind[] = ['sqlite', 'postgres', 'mariadb'];

/**
 * In the short form each database takes every third case, so that all databases together take all. One
 * for which none is left takes the first.
 */
export function shareOf<T>(cases: readonly T[], kind: DatabaseKind): readonly T[] {
  if (full) return cases;
  const share = cases.filter((_, index) => index % KINDS.length === KINDS.indexOf(kind));
  return share.length > 0 ? share : cases.slice(0, 1);
}
