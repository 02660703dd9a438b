import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ErrorNotice, Skeleton } from './basics.js';
import { ApiError } from '../app/api-client.js';

/**
 * A part of a page whose script is loaded once it is shown, so that the first load stays small.
 *
 * @param placeholder until then
 *
 * @example
 * const EmailView = lazily(async () => (await import('./email-view.js')).EmailView);
 */
export function lazily<P extends object>(
  load: () => Promise<ComponentType<P>>,
  placeholder: () => JSX.Element | null = () => <Skeleton />,
): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P): JSX.Element {
    const [View, setView] = useState(() => loaded);
    const [failed, setFailed] = useState(false);
    const read = async (): Promise<void> => {
      setFailed(false);
      try {
        loaded = await load();
        setView(() => loaded);
      } catch {
        setFailed(true);
      }
    };
    const waited = useRef(!loaded);
    useEffect(() => {
      if (!loaded) void read();
    }, []);
    useEffect(() => {
      if (View && waited.current) focusTitle();
    }, [View]);
    if (failed) return <ErrorNotice error={NOT_LOADED} retry={read} />;
    return View ? <View {...props} /> : <>{placeholder()}</>;
  };
}

/** The frame gave the focus to the title of a page that was not there yet. */
function focusTitle(): void {
  if (document.activeElement === document.body)
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
}

const NOT_LOADED = new ApiError(
  0,
  'not_loaded',
  'This part of the page was not loaded. Load the page again: the server may be newer than it.',
);
