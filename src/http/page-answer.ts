import type { Page } from '@dundun/messaging';

/** A page of a list on the wire. */
export interface PageAnswer<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

export function pageAnswer<T, A>(page: Page<T>, answer: (item: T) => A): PageAnswer<A> {
  return { data: page.data.map(answer), next_cursor: page.nextCursor };
}
