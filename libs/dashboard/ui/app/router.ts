import { useEffect, useState } from 'preact/hooks';

/** Address at which the pages are mounted, with a slash at the end; the server writes `<base href>` by depth. */
export const mount = new URL('.', document.baseURI);

/** One address: `{mount}/{page}/{id}/{tab}?{query}`. */
export interface Route {
  readonly page: string;
  readonly id: string | undefined;
  readonly tab: string | undefined;
  readonly query: URLSearchParams;
}

const CHANGED = 'dundun:route';

function currentRoute(): Route {
  const { pathname, search } = window.location;
  const inside = pathname.startsWith(mount.pathname) ? pathname.slice(mount.pathname.length) : '';
  const [page = '', id, tab] = inside.split('/').filter(Boolean).map(decodeURIComponent);
  return { page, id, tab, query: new URLSearchParams(search) };
}

/** @param to address below the mount, such as `messages/{id}` or `messages?status=failed` */
export function navigate(to: string, how: 'push' | 'replace' = 'push'): void {
  const url = new URL(to, mount);
  if (how === 'replace') window.history.replaceState(null, '', url);
  else if (url.href !== window.location.href) window.history.pushState(null, '', url);
  window.dispatchEvent(new Event(CHANGED));
}

/** The address of the page with other values in its query; an empty value removes the name. */
export function withQuery(changes: Readonly<Record<string, string | undefined>>): string {
  const { query } = currentRoute();
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const path = window.location.pathname.slice(mount.pathname.length);
  const text = query.toString();
  return text ? `${path}?${text}` : path || './';
}

/** Changes the filter in the address; the page of a list starts again. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  navigate(withQuery({ cursor: undefined, ...changes }));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const read = (): void => setRoute(currentRoute());
    window.addEventListener('popstate', read);
    window.addEventListener(CHANGED, read);
    return () => {
      window.removeEventListener('popstate', read);
      window.removeEventListener(CHANGED, read);
    };
  }, []);
  return route;
}

/** Plain links below the mount change the page without a reload; all others stay the browser's. */
export function followLinks(): () => void {
  const follow = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link?.hasAttribute('href') || link.target || link.hasAttribute('download')) return;
    const url = new URL(link.href);
    if (url.origin !== mount.origin || !url.pathname.startsWith(mount.pathname)) return;
    if (url.hash && url.pathname === window.location.pathname) return;
    event.preventDefault();
    navigate(url.pathname.slice(mount.pathname.length) + url.search || './');
  };
  document.addEventListener('click', follow);
  return () => document.removeEventListener('click', follow);
}
