import { keepNewest } from '../message/keep-newest.js';
import { messageIdOf } from '../message/ids.js';
import type { PassReason } from '../ports/metrics.js';
import type { Intent } from '../store/rows/intent.js';
import type { PreparedSubmission } from './submissions.js';

/** Waiting messages of a lane whose reason is remembered. */
const MOST = 10_000;

type Placed = Pick<PreparedSubmission, 'priority' | 'place' | 'batch' | 'firstPosition'>;
type Waiting = Pick<PreparedSubmission, 'batch'> & { readonly firstPosition?: number };

/** The order in which a plan has messages of one lane. */
export function inLaneOrder(a: Placed, b: Placed): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.place !== b.place) return a.place - b.place;
  if (a.batch !== b.batch) return a.batch < b.batch ? -1 : 1;
  return a.firstPosition - b.firstPosition;
}

/**
 * Which starts of a lane come after a later message of their provider, and why, as far as this process
 * knows. A refused message may be passed by those in flight at the refusal, and by no others.
 */
export class LaneOrder {
  /** The last message in order that has started, by provider and priority. */
  readonly #latest = new Map<string, (Placed | undefined)[]>();
  readonly #waiting = new Map<string, { readonly reason: PassReason; readonly latest?: Placed }>();

  /** @param isRedialled whether messages of the channel are sent again after a report */
  constructor(private readonly isRedialled: (channel: string) => boolean) {}

  /** The first reason counts until the start. Without a position: all messages of the batch. */
  waits(item: Waiting, reason: PassReason): void {
    const key = keyOf(item);
    const known = this.#waiting.get(key);
    if (known && known.reason !== 'unnamed') return;
    this.#waiting.set(key, { reason });
    keepNewest(this.#waiting, MOST);
  }

  planned({ deferred, batches }: Pick<Intent, 'deferred' | 'batches'>): void {
    for (const { batch, position } of deferred)
      this.waits({ batch, firstPosition: position }, 'deferred');
    for (const { id, deferUntil } of batches)
      if (deferUntil !== null) this.waits({ batch: id }, 'deferred');
  }

  /** @param backsOff its batch does, while another one is the probe */
  withdrawn(item: PreparedSubmission, backsOff: boolean): void {
    this.waits(item, backsOff ? 'parked' : 'unnamed');
    if (backsOff) this.waits({ batch: item.batch }, 'parked');
  }

  refused(item: PreparedSubmission): void {
    const latest = this.#latest.get(item.provider)?.[item.priority];
    this.#waiting.set(keyOf(item), { reason: 'in_flight', ...(latest && { latest }) });
    keepNewest(this.#waiting, MOST);
  }

  /** @returns why a later message of the provider has passed it; `undefined`: none has */
  started(item: PreparedSubmission): PassReason | undefined {
    const { provider, priority } = item;
    const waiting = this.#waiting.size > 0 ? this.#take(item) : undefined;
    const latest = this.#latest.get(provider) ?? [];
    const own = latest[priority];
    if (own === undefined) this.#latest.set(provider, latest);
    if (own === undefined || inLaneOrder(item, own) >= 0) {
      latest[priority] = item;
      return latest.some((other, of) => other && of < priority && other.place > item.place)
        ? 'class'
        : undefined;
    }
    if (waiting?.reason === 'in_flight') {
      const isLater = waiting.latest !== undefined && inLaneOrder(own, waiting.latest) > 0;
      return isLater ? 'unnamed' : 'in_flight';
    }
    if (waiting) return waiting.reason;
    if (item.resendAt !== undefined) return 'uncertain';
    // It was refused under a former holder, or committed after later ones were planned.
    if (item.submission.attempt === 1) return 'late';
    return this.isRedialled(item.submission.channel) ? 'deferred' : 'in_flight';
  }

  #take(item: PreparedSubmission) {
    const key = keyOf(item);
    const own = this.#waiting.get(key);
    this.#waiting.delete(key);
    return own ?? this.#waiting.get(item.batch);
  }
}

function keyOf({ batch, firstPosition }: Waiting): string {
  return firstPosition === undefined ? batch : messageIdOf(batch, firstPosition);
}
