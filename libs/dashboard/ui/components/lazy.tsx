import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Notice, Skeleton } from './basics.js';

/**
 * A part of the pages in a file of its own, which the browser loads when the part is first drawn.
 * @example const Palette = lazy(() => import('./palette.js').then(({ Palette }) => Palette));
 * @param waiting drawn until then @default lines in place of a text
 */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  waiting: JSX.Element | null = <Skeleton lines={3} />,
): (props: P) => JSX.Element | null {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P): JSX.Element | null {
    const [View, setView] = useState(() => loaded);
    const [isMissing, setMissing] = useState(false);
    useEffect(() => {
      if (loaded) return;
      load().then(
        (view) => {
          loaded = view;
          setView(() => view);
        },
        () => setMissing(true),
      );
    }, []);
    if (View) return <View {...props} />;
    if (!isMissing) return waiting;
    return (
      <Notice tone="warning" title="This part of the page could not be loaded">
        Reload the page; the service may have been updated meanwhile.
      </Notice>
    );
  };
}
