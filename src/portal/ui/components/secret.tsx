import { Copy, Notice } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';

/** A secret that the server shows only once. */
export function Secret(props: { label: string; value: string }): JSX.Element {
  return (
    <>
      <Notice tone="warning" title="Copy it now">
        It is not shown again.
      </Notice>
      <p class="secret">
        <Copy value={props.value} label={props.label} />
      </p>
    </>
  );
}
