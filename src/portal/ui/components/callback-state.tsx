import { Badge, Time, type Tone } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { WebhookAttempt } from '../../portal-api.js';

/** Milliseconds: a callback is no message, so no change of messages tells of it. */
const REFRESH = 1000;

/** Reads callbacks again, every second while the page is seen and `mayChange`. */
export function useCallbackChanges(refresh: () => Promise<void>, mayChange = true): void {
  useEffect(() => {
    if (!mayChange) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void refresh();
    }, REFRESH);
    return () => clearInterval(timer);
  }, [refresh, mayChange]);
}

const WORDS: Readonly<Record<WebhookAttempt['state'], readonly [word: string, tone: Tone]>> = {
  delivered: ['delivered', 'success'],
  due: ['retrying', 'warning'],
  exhausted: ['given up', 'danger'],
};

/** What became of a callback so far, and when it is sent next. */
export function CallbackState(
  props: Pick<WebhookAttempt, 'state' | 'nextAttemptAt'> & {
    /** No attempt was made yet. */
    isNew?: boolean;
  },
): JSX.Element {
  const { state, nextAttemptAt, isNew } = props;
  const [word, tone] = isNew && state === 'due' ? (['due', 'info'] as const) : WORDS[state];
  return (
    <>
      <Badge tone={tone}>{word}</Badge>{' '}
      {nextAttemptAt && (
        <span class="muted">
          next <Time at={nextAttemptAt} />
        </span>
      )}
    </>
  );
}
