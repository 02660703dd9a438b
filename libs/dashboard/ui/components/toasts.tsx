import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { dismissToast, type Toast, watchToasts } from '../app/toasts.js';
import { Button } from './basics.js';
import { Icon } from './icon.js';

/** Stands in the frame and in each dialog, because a modal dialog covers the frame. */
export function Toasts(): JSX.Element {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  useEffect(() => watchToasts(setToasts), []);
  return (
    <div class="toasts" aria-live="polite" role="status">
      {toasts.map(({ id, text, tone }) => (
        <div class={`toast ${tone}`} key={id}>
          <Icon name={tone === 'danger' ? 'alert' : 'check'} />
          <span>{text}</span>
          <Button kind="quiet" icon="close" iconOnly onClick={() => dismissToast(id)}>
            Dismiss
          </Button>
        </div>
      ))}
    </div>
  );
}
