import { useEffect, useState } from 'preact/hooks';

/** Rows of a list that a person has chosen. */
export interface Selection<T> {
  /** Of the rows that the list shows. */
  readonly chosen: readonly T[];
  readonly has: (row: T) => boolean;
  readonly toggle: (row: T) => void;
  /** Chooses all rows, or none where all are chosen. */
  readonly toggleAll: () => void;
  readonly clear: () => void;
}

/** @param page a new one forgets the choice */
export function useSelection<T>(
  rows: readonly T[],
  id: (row: T) => string,
  page: string,
): Selection<T> {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const clear = (): void => setIds(new Set());
  useEffect(clear, [page]);
  const chosen = rows.filter((row) => ids.has(id(row)));
  return {
    chosen,
    clear,
    has: (row) => ids.has(id(row)),
    toggle: (row) =>
      setIds((before) => {
        const after = new Set(before);
        if (!after.delete(id(row))) after.add(id(row));
        return after;
      }),
    toggleAll: () => setIds(new Set(chosen.length === rows.length ? [] : rows.map(id))),
  };
}
