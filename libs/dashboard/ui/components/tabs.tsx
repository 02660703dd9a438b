import type { JSX } from 'preact';

/** Parts of a page with an address each. */
export function Tabs(props: {
  label: string;
  tabs: readonly (readonly [address: string, title: string])[];
  current: string;
}): JSX.Element {
  return (
    <nav class="tabs" aria-label={props.label}>
      {props.tabs.map(([address, title]) => (
        <a
          key={address}
          href={address}
          aria-current={address === props.current ? 'page' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
