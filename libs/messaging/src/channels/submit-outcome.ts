import type { BatchScope } from '../store/cursor.js';
import type { MessageStore } from '../store/message-store.js';
import type { MessageStatus } from '../message/status.js';
import type { SubmittedMessage } from '../message/views.js';
import type { Clock } from '../ports/clock.js';

/** Milliseconds between looks into the store, for what another process moves. */
const FIRST_LOOK = 100;
const LAST_LOOK = 1_000;

const OPEN: readonly MessageStatus[] = ['queued', 'sending'];

/**
 * The message once its submit's outcome is known, or as it stands after `timeout` milliseconds. This
 * process tells at once what it commits itself; what others do is seen at the next look.
 *
 * @throws MessageNotFoundError where its transaction has not been committed
 */
export async function submitOutcome(
  { notices, reads }: MessageStore,
  clock: Clock,
  batch: string,
  scope: BatchScope,
  timeout: number,
): Promise<SubmittedMessage> {
  const deadline = clock.monotonic() + timeout;
  const watch = notices.watch(batch);
  try {
    for (let look = FIRST_LOOK; ; look = Math.min(LAST_LOOK, look * 2)) {
      const message = await reads.message(`${batch}-0`, scope);
      const left = deadline - clock.monotonic();
      if (!OPEN.includes(message.status) || left <= 0) return message;
      await watch.moved(Math.min(look, left));
    }
  } finally {
    watch.end();
  }
}
