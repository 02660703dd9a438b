import { mount } from './router.js';

/** A filter of a list under a name. */
export interface SavedView {
  readonly name: string;
  /** Query of the address, without `view`. */
  readonly query: string;
}

const MOST = 30;

/** Of one account: the path of the pages names it. */
const keyOf = (page: string): string => `dundun.views.${mount.pathname}${page}`;

/** The views that this browser keeps of a page, by name. */
export function savedViews(page: string): readonly SavedView[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(page)) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isView) : [];
  } catch {
    return [];
  }
}

/** Keeps a view in place of one with its name; beyond 30 the oldest goes. @returns whether it is kept */
export function saveView(page: string, view: SavedView): boolean {
  const others = savedViews(page).filter(({ name }) => name !== view.name);
  return keep(page, [...others, view].slice(-MOST));
}

export function forgetView(page: string, name: string): void {
  keep(
    page,
    savedViews(page).filter((view) => view.name !== name),
  );
}

function keep(page: string, views: readonly SavedView[]): boolean {
  try {
    localStorage.setItem(keyOf(page), JSON.stringify(views));
    return true;
  } catch {
    return false;
  }
}

function isView(one: unknown): one is SavedView {
  const { name, query } = (one ?? {}) as Partial<Record<keyof SavedView, unknown>>;
  return typeof name === 'string' && typeof query === 'string';
}
