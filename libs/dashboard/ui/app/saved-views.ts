import { useEffect, useRef, useState } from 'preact/hooks';
import type { ListAnswer } from '../../src/api.js';
import { ApiError, call, queryOf } from './api-client.js';
import { useProduct } from './product.js';
import { mount } from './router.js';
import { toast } from './toasts.js';
import { useData } from './use-data.js';

/** A filter of a list under a name. */
export interface SavedView {
  readonly name: string;
  /** Query of the address, without `view`. */
  readonly query: string;
  /** Of a view that the server keeps. */
  readonly id?: string;
  /** Every member of the account sees it. @default false */
  readonly shared?: boolean;
}

/** Where the views of a list are kept. */
export interface KeptViews {
  readonly views: readonly SavedView[];
  /** The server keeps them, for the person. */
  readonly isOfPerson: boolean;
  /** May share views, and delete shared ones. */
  readonly mayShare: boolean;
  /** In place of one with its name. @throws ApiError */
  readonly save: (view: SavedView) => Promise<void>;
  /** @throws ApiError */
  readonly forget: (view: SavedView) => Promise<void>;
}

/** The name that the address has, and by which people choose the view. */
export const titleOf = ({ name, shared }: SavedView): string =>
  shared ? `${name} (shared)` : name;

/** The views of a list: those of the product's server, else of this browser. */
export function useSavedViews(page: string): KeptViews {
  const { views: server } = useProduct();
  const path = server?.path;
  const loaded = useData<ListAnswer<SavedView>>(path && `${path}${queryOf({ page })}`);
  const { reload } = loaded;
  const [inBrowser, setInBrowser] = useState(() => readViews(page));
  const isMoving = useRef(false);
  useEffect(() => {
    // Former versions kept the views of every product in the browser.
    if (path === undefined || inBrowser.length === 0 || isMoving.current) return;
    isMoving.current = true;
    const moved = call('POST', `${path}/import`, { page, views: inBrowser });
    moved.then(
      () => {
        writeViews(page, []);
        setInBrowser([]);
        void reload();
      },
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        toast(`The views of this browser are not moved: ${error.message}`, 'danger');
      },
    );
  }, [path, page, inBrowser, reload]);
  const write = (views: readonly SavedView[]): void => {
    if (!writeViews(page, views))
      throw new ApiError(0, 'not_kept', 'This browser keeps no views: copy the address instead.');
    setInBrowser(views);
  };
  if (path === undefined) {
    const without = (name: string): SavedView[] => inBrowser.filter((one) => one.name !== name);
    return {
      views: inBrowser,
      isOfPerson: false,
      mayShare: false,
      save: async ({ name, query }) => write([...without(name), { name, query }].slice(-MOST)),
      forget: async ({ name }) => write(without(name)),
    };
  }
  return {
    views: loaded.data?.data ?? [],
    isOfPerson: true,
    mayShare: server?.mayShare ?? false,
    save: async ({ name, query, shared = false }) => {
      await call('PUT', path, { page, name, query, shared });
      await reload();
    },
    forget: async ({ id = '' }) => {
      await call('DELETE', `${path}/${id}`);
      await reload();
    },
  };
}

/** Beyond these the oldest of the browser goes. */
const MOST = 30;

/** Of one account: the path of the pages names it. */
const keyOf = (page: string): string => `dundun.views.${mount.pathname}${page}`;

function readViews(page: string): readonly SavedView[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(page)) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isView) : [];
  } catch {
    return [];
  }
}

function writeViews(page: string, views: readonly SavedView[]): boolean {
  try {
    if (views.length > 0) localStorage.setItem(keyOf(page), JSON.stringify(views));
    else localStorage.removeItem(keyOf(page));
    return true;
  } catch {
    return false;
  }
}

function isView(one: unknown): one is SavedView {
  const { name, query } = (one ?? {}) as Partial<Record<keyof SavedView, unknown>>;
  return typeof name === 'string' && typeof query === 'string';
}
