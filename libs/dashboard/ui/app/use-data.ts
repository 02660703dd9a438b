import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ListAnswer } from '../../src/api.js';
import { ApiError, call, type CallOptions } from './api-client.js';
import { lastChange, onChange } from './live.js';
import { mount } from './router.js';

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  /** True until the first answer. */
  readonly loading: boolean;
  readonly reload: () => Promise<void>;
  /** Reads again without a person's action, so that it does not extend the session. */
  readonly refresh: () => Promise<void>;
}

/** Last answers by path, so that Back shows a page at once while it is read again. */
const seen = new Map<string, unknown>();

/** Forgets every answer: another account is chosen, or the person signed out. */
export function forgetData(): void {
  seen.clear();
}

type Read<T> = (path: string, options: CallOptions) => Promise<T>;

const readOnce = <T>(path: string, options: CallOptions): Promise<T> =>
  call<T>('GET', path, undefined, options);

/**
 * Reads a path of the API and again after `reload()`.
 *
 * @param path `undefined` reads nothing
 * @param live reads again after each change that the server tells of
 */
export function useData<T>(
  path: string | undefined,
  live = false,
  readOf: Read<T> = readOnce,
): Loaded<T> {
  const [state, setState] = useState<{ path: string | undefined; data?: T; error?: ApiError }>({
    path: undefined,
  });
  const running = useRef<AbortController | undefined>(undefined);
  const changedMeanwhile = useRef(false);

  const read = useCallback(
    async (background = false) => {
      if (path === undefined) return;
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      try {
        const data = await readOf(path, {
          signal: controller.signal,
          background,
          after: background ? lastChange() : '',
        });
        if (controller.signal.aborted) return;
        seen.set(path, data);
        setState({ path, data });
      } catch (error) {
        if (controller.signal.aborted || !(error instanceof ApiError)) return;
        // Without a connection a page keeps what it has, and the frame says so.
        const kept = seen.get(path) as T | undefined;
        setState(error.status === 0 && kept !== undefined ? { path, data: kept } : { path, error });
      } finally {
        if (running.current === controller) {
          running.current = undefined;
          if (changedMeanwhile.current) {
            changedMeanwhile.current = false;
            void read(true);
          }
        }
      }
    },
    [path, readOf],
  );

  useEffect(() => {
    void read();
    return () => running.current?.abort();
  }, [read]);

  useEffect(() => {
    if (!live) return undefined;
    // A running read is not aborted: under steady changes no read would ever end.
    return onChange(() => {
      if (running.current) changedMeanwhile.current = true;
      else void read(true);
    });
  }, [live, read]);

  const current = state.path === path ? state : undefined;
  const data =
    current?.data ?? (current?.error || path === undefined ? undefined : (seen.get(path) as T));
  return {
    data,
    error: current?.error,
    loading: path !== undefined && data === undefined && current?.error === undefined,
    reload: useCallback(() => read(), [read]),
    refresh: useCallback(() => read(true), [read]),
  };
}

/** Pages of a search with few matches that are read together, and rows that are enough. */
const MOST_PAGES = 5;
const ENOUGH = 20;

/** As {@link useData}, of a list whose pages may have fewer rows than match. */
export function useList<T>(path: string | undefined, live = false): Loaded<ListAnswer<T>> {
  return useData<ListAnswer<T>>(path, live, readPages);
}

async function readPages<T>(path: string, options: CallOptions): Promise<ListAnswer<T>> {
  const rows: T[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const url: URL = new URL(path, mount);
    if (cursor) url.searchParams.set('cursor', cursor);
    const page: ListAnswer<T> = await readOnce<ListAnswer<T>>(url.href, options);
    rows.push(...page.data);
    cursor = page.nextCursor;
    if (!cursor || rows.length >= ENOUGH) break;
  }
  return { data: rows, nextCursor: cursor };
}

export interface Action<A extends unknown[]> {
  /** Resolves to true when the action succeeded. */
  readonly run: (...args: A) => Promise<boolean>;
  readonly busy: boolean;
  readonly error: ApiError | undefined;
}

/** A change that a person asks for: busy while it runs, and its refusal to show beside it. */
export function useAction<A extends unknown[]>(
  action: (...args: A) => Promise<unknown>,
): Action<A> {
  const [state, setState] = useState<{ busy: boolean; error?: ApiError }>({ busy: false });
  const busy = useRef(false);
  const run = async (...args: A): Promise<boolean> => {
    if (busy.current) return false;
    busy.current = true;
    setState({ busy: true });
    try {
      await action(...args);
      setState({ busy: false });
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setState({ busy: false, error });
      return false;
    } finally {
      busy.current = false;
    }
  };
  return { run, busy: state.busy, error: state.error };
}
