import type { Page } from '@dundun/messaging';
import { sealCursor } from '../http/cursor.js';
import type { Listed } from './portal-api.js';

/** The answer of a list; `PortalQuery` reads its cursor. */
export function listedOf<T, A>({ data, nextCursor }: Page<T>, answer: (item: T) => A): Listed<A> {
  return {
    data: data.map(answer),
    nextCursor: nextCursor === null ? null : sealCursor(nextCursor),
  };
}
