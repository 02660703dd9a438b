import { Logger } from '@nestjs/common';
import type { RateLimit } from '../ports/rate-limit.js';
import { rateOf } from '../ports/rate-limit.js';
import { type DispatchContext, HeldLane, LaneMemory } from './held-lane.js';
import type { LaneTask, OpenTask } from './lane-drain.js';
import { LaneRequests } from './lane-requests.js';
import { Prefetch } from './prefetch.js';
import type { PreparedSubmission } from './submissions.js';

/** Longest rest during which the lane keeps its lease, in milliseconds. */
const MAX_REST_UNDER_LEASE = 1_000;

/** Longest wait for the rate during which the lane keeps its turn for a connection, in milliseconds. */
const MAX_WAIT_WITH_TURN = 5;

/** Most lanes whose rate and failures are remembered between runs. */
const MAX_MEMORIES = 10_000;

/** Opens the lanes of messages, and remembers the limiter and the failures of each between its runs. */
export class MessageLanes {
  readonly #memories = new Map<string, LaneMemory>();

  constructor(
    private readonly context: DispatchContext,
    private readonly options: {
      readonly rateLimit?: RateLimit | ((lane: string) => RateLimit | undefined) | undefined;
      /** First wait after a failure, in milliseconds. */
      readonly backoff: number;
    },
  ) {}

  /** @throws MessagingConfigError where the `rateLimit` option gives no valid limit for the lane */
  lane(lane: string): OpenTask {
    const memory = this.#memoryOf(lane);
    return (leased) => new MessageLane(new HeldLane(leased, this.context, memory));
  }

  #memoryOf(lane: string): LaneMemory {
    const known = this.#memories.get(lane);
    if (known) {
      this.#memories.delete(lane);
      this.#memories.set(lane, known);
      return known;
    }
    const { rateLimit, backoff } = this.options;
    const memory = new LaneMemory(() => {
      const limit = typeof rateLimit === 'function' ? rateLimit(lane) : rateLimit;
      return limit && rateOf(`dispatch.rateLimit of lane ${lane}`, limit);
    }, backoff);
    this.#memories.set(lane, memory);
    // An evicted lane only waits longer once, because its rate state is also in the store.
    for (const oldest of this.#memories.keys()) {
      if (this.#memories.size <= MAX_MEMORIES) break;
      this.#memories.delete(oldest);
    }
    return memory;
  }
}

/**
 * The messages of one lane, under one lease:
 *
 * ```
 * resend open submissions of old holders ─▶ ┌ plan ─▶ intent (committed) ─▶ start in order ┐
 *                                           └──────────── outcomes, many to a commit ◀─────┘
 *         ─▶ nothing due, or rest, or stop ─▶ withdraw unstarted submissions
 * ```
 */
class MessageLane implements LaneTask {
  readonly #prefetch: Prefetch;
  readonly #requests: LaneRequests;
  /** True once the open submissions of former holders are queued as resends. */
  #recovered: boolean;

  constructor(private readonly held: HeldLane) {
    this.#recovered = held.lease.clean;
    this.#prefetch = new Prefetch(held);
    this.#requests = new LaneRequests(held, this.#prefetch);
  }

  nudge(): void {
    this.#prefetch.nudge();
  }

  get underWay(): string {
    const { inFlight, recording } = this.#requests;
    return `${inFlight} requests without an answer, ${recording} outcomes not recorded`;
  }

  async pump(): Promise<void> {
    const { held } = this;
    takeOverRate(held);
    try {
      if (held.pause.restFor(undefined) > 0) return;
      if (!this.#recovered) this.#requests.lose(await this.#prefetch.recover());
      this.#recovered = true;
      await pump(held, this.#prefetch, this.#requests);
    } finally {
      leaveSlots(held);
    }
  }

  async settle(): Promise<void> {
    const { changed, lane, pause } = this.held;
    while (this.#prefetch.filling) await changed.sleep();
    this.#requests.withdraw(this.#prefetch.withdraw());
    while (!this.#requests.settled) await changed.sleep();
    await pause.written();
    const { unrecorded } = this.#requests;
    if (unrecorded > 0)
      new Logger('Lane').error(
        `${lane}: stopped with ${unrecorded} outcomes not recorded; the lane's next holder resends these submissions under their keys, or records them as unknown`,
      );
  }

  abort(): void {
    this.#requests.abort();
  }

  async leave() {
    const { context, lane, lease, memory, pause, failure } = this.held;
    const provider = this.#prefetch.nextProvider;
    const restFor = pause.restFor(provider);
    if (restFor > 0 && !pause.isRecorded(provider))
      await context.lanes.pause(lane, lease.fence, restFor, null);
    return {
      rateState: memory.limiter?.save(context.clock.monotonic()) ?? null,
      open: !this.#recovered || this.#prefetch.resendIn < Infinity || failure !== undefined,
    };
  }

  async nextDueIn(): Promise<number> {
    const { context, lane, pause } = this.held;
    const dueIn = (await context.work.nextDue(lane)) ?? Infinity;
    const restFor = pause.restFor(this.#prefetch.nextProvider);
    return Math.max(restFor, Math.min(this.#prefetch.resendIn, dueIn));
  }
}

/**
 * Starts prepared submissions in order, within the limits of rate, concurrency, lease and the provider's connections.
 * Returns when no due work is left.
 */
async function pump(held: HeldLane, prefetch: Prefetch, requests: LaneRequests): Promise<void> {
  const { context, memory, keeper, changed, pause } = held;
  // A lane that waits longer than a moment for anything but a connection gives up its turn for a connection.
  const sleep = (ms?: number) => {
    leaveSlots(held);
    return changed.sleep(ms);
  };
  while (!held.stopping.aborted && !keeper.lost && held.failure === undefined) {
    const restFor = pause.restFor(prefetch.nextProvider);
    if (restFor > 0 && (prefetch.next || prefetch.resendIn > 0)) {
      // A due resend to another provider does not wait for this provider.
      const wait = prefetch.next ? restFor : Math.min(restFor, prefetch.resendIn);
      if (wait > MAX_REST_UNDER_LEASE) return;
      await sleep(wait);
      continue;
    }
    if (prefetch.overtaken) requests.withdraw(prefetch.withdraw());
    prefetch.refill(requests);
    const { next, resendIn } = prefetch;
    if (!next) {
      if (prefetch.dry && requests.settled && resendIn > MAX_REST_UNDER_LEASE) return;
      // A nudge during a fill would prevent the lane from running dry. The fill wakes the lane when it ends.
      if (prefetch.filling) await sleep(MAX_REST_UNDER_LEASE);
      // A due resend that may not start yet waits for outcomes, which wake the lane.
      else if (
        await sleep(resendIn > 0 ? Math.min(MAX_REST_UNDER_LEASE, resendIn) : MAX_REST_UNDER_LEASE)
      )
        prefetch.nudge();
      continue;
    }
    if (!next.resent && prefetch.resendsFirst) {
      await sleep(MAX_REST_UNDER_LEASE);
      continue;
    }
    const provider = held.provider(next.provider);
    const { probing } = memory.failuresOf(next.provider);
    if (requests.inFlight >= (probing ? 1 : context.concurrency)) {
      // Every request has a time limit, so the end of one wakes the lane.
      await sleep();
    } else if (!keeper.valid) {
      await sleep(Math.min(50, context.leaseTime / 10));
    } else {
      const wait = next.skipOutcome ? 0 : rateDelay(held, next);
      if (wait > 0) await (wait > MAX_WAIT_WITH_TURN ? sleep(wait) : changed.sleep(wait));
      else if (prefetch.stale) requests.withdraw(await decideAgain(held, prefetch));
      else if (!next.skipOutcome && !provider.slots.free(changed))
        await changed.sleep(MAX_REST_UNDER_LEASE);
      else {
        prefetch.take();
        requests.start(next);
      }
    }
  }
}

function leaveSlots({ context, changed }: HeldLane): void {
  for (const { slots } of context.providers.values()) slots.leave(changed);
}

/** Keeps the lane's turn for a connection while policies decide. A policy that hangs loses the turn. */
async function decideAgain(held: HeldLane, prefetch: Prefetch): Promise<PreparedSubmission[]> {
  const timer = setTimeout(() => leaveSlots(held), MAX_REST_UNDER_LEASE);
  try {
    return await prefetch.decideAgain();
  } finally {
    clearTimeout(timer);
  }
}

/** Milliseconds until the rates of the lane and of the provider let `next` start. */
function rateDelay(held: HeldLane, { positions, provider }: PreparedSubmission): number {
  const now = held.context.clock.monotonic();
  held.memory.refresh(now);
  // The cap lets a raised limit take effect soon.
  const own = Math.min(
    MAX_REST_UNDER_LEASE,
    held.memory.limiter?.delay(positions.length, now) ?? 0,
  );
  return own > 0 ? own : (held.provider(provider).rate?.delay(positions.length, now) ?? 0);
}

/** Restores the rate state, because another holder of the lane may have used its window. */
function takeOverRate({ context, lease, memory }: HeldLane): void {
  memory.refresh(context.clock.monotonic());
  const { limiter, per } = memory;
  const { fence, clean, rateState, idleFor, ours } = lease;
  const known = ours && memory.fence === fence - 1;
  memory.fence = fence;
  if (!limiter || known) return;
  const now = context.clock.monotonic();
  if (rateState) limiter.restore(rateState, now);
  else if (!clean) limiter.holdUntil(now + per - idleFor);
}
