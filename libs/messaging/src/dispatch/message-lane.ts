import { Logger } from '@nestjs/common';
import type { DispatchOptions } from '../ports/messaging-options.js';
import { rateOf } from '../ports/rate-limit.js';
import { FailurePolicy } from './failure-policy.js';
import type { LaneTask, LeasedLane, OpenTask } from './lane-drain.js';
import { LaneRequests } from './lane-requests.js';
import type { LaneDrainContext, LaneMemory, LaneRun } from './lane-run.js';
import { Prefetch } from './prefetch.js';
import { RateLimiter } from './rate-limiter.js';
import type { Ready } from './slice.js';

/** Pauses shorter than this are waited for with the lane in hand, in milliseconds. */
const LINGER = 1_000;

/** A turn for a connection is kept for a rate that is so near, in milliseconds. */
const MOMENT = 5;

/** Lanes whose rate and failures are remembered between runs. */
const REMEMBERED = 10_000;

/** Opens the lanes of messages, and remembers the limiter and the failures of each between its runs. */
export class MessageLanes {
  readonly #memories = new Map<string, LaneMemory>();

  constructor(
    private readonly context: LaneDrainContext,
    private readonly options: {
      readonly rateLimit?: DispatchOptions['rateLimit'];
      /** Milliseconds. */
      readonly backoff: number;
    },
  ) {}

  /** @throws MessagingConfigError where the `rateLimit` option gives no limit for the lane */
  lane(lane: string): OpenTask {
    const memory = this.#memoryOf(lane);
    return (leased) => new MessageLane(this.context, leased, memory);
  }

  #memoryOf(lane: string): LaneMemory {
    const known = this.#memories.get(lane);
    if (known) {
      this.#memories.delete(lane);
      this.#memories.set(lane, known);
      return known;
    }
    const { rateLimit } = this.options;
    const limit = typeof rateLimit === 'function' ? rateLimit(lane) : rateLimit;
    const rate = limit && rateOf(`dispatch.rateLimit of lane ${lane}`, limit);
    const memory: LaneMemory = {
      gate: new FailurePolicy(this.options.backoff),
      limiter: rate && new RateLimiter(rate.max, rate.per),
      per: rate?.per ?? 0,
      fence: -1,
    };
    this.#memories.set(lane, memory);
    // A lane that is forgotten only waits longer once: its rate state is in the store, too.
    for (const oldest of this.#memories.keys()) {
      if (this.#memories.size <= REMEMBERED) break;
      this.#memories.delete(oldest);
    }
    return memory;
  }
}

/**
 * The messages of one lane, under one lease:
 *
 * ```
 * recover what a former holder left open ─▶ ┌ plan ─▶ intent (committed) ─▶ start in order ┐
 *                                           └──────────── outcomes, many to a commit ◀─────┘
 *         ─▶ nothing due, or pause, or stop ─▶ withdraw what did not start
 * ```
 */
class MessageLane implements LaneTask {
  readonly #run: LaneRun;
  readonly #stock: Prefetch;
  readonly #requests: LaneRequests;

  constructor(
    private readonly context: LaneDrainContext,
    leased: LeasedLane,
    memory: LaneMemory,
  ) {
    this.#run = Object.assign(leased, { context, memory, recovered: leased.lease.clean });
    this.#stock = new Prefetch(this.#run);
    this.#requests = new LaneRequests(this.#run, this.#stock);
  }

  nudge(): void {
    this.#stock.nudge();
  }

  get underWay(): string {
    const { inFlight, recording } = this.#requests;
    return `${inFlight} requests without an answer, ${recording} outcomes not recorded`;
  }

  async pump(): Promise<void> {
    const run = this.#run;
    takeOverRate(run);
    try {
      if (this.#requests.pause.restFor > 0) return;
      if (!run.recovered) this.#requests.lose(await this.#stock.recover());
      run.recovered = true;
      await pump(run, this.#stock, this.#requests);
    } finally {
      this.context.slots.leave(run.changed);
    }
  }

  async settle(): Promise<void> {
    const { changed, lane } = this.#run;
    while (this.#stock.filling) await changed.sleep();
    this.#requests.withdraw(this.#stock.withdraw());
    while (!this.#requests.settled) await changed.sleep();
    await this.#requests.pause.written();
    const { unrecorded } = this.#requests;
    if (unrecorded > 0)
      new Logger('Lane').error(
        `${lane}: stopped with ${unrecorded} outcomes not recorded; the lane's next holder sends these submissions again under their keys, or records them as unknown`,
      );
  }

  abort(): void {
    this.#requests.abort();
  }

  async leave() {
    const { context, lane, lease, memory, recovered, failure } = this.#run;
    const { restFor, recorded } = this.#requests.pause;
    if (restFor > 0 && !recorded) await context.lanes.pause(lane, lease.fence, restFor, null);
    return {
      rateState: memory.limiter?.save(context.clock.monotonic()) ?? null,
      open: !recovered || this.#stock.resendIn < Infinity || failure !== undefined,
    };
  }

  async nextDueIn(): Promise<number> {
    const dueIn = (await this.context.work.nextDue(this.#run.lane)) ?? Infinity;
    return Math.max(this.#requests.pause.restFor, Math.min(this.#stock.resendIn, dueIn));
  }
}

/** Starts what is ready, in order, as rate, concurrency, lease and the transport's connections allow; ends when there is nothing to wait for. */
async function pump(run: LaneRun, stock: Prefetch, requests: LaneRequests): Promise<void> {
  const { context, memory, keeper, changed } = run;
  // Whoever waits for something else for longer than a moment leaves its turn for a connection to the next.
  const sleep = (ms?: number) => {
    context.slots.leave(changed);
    return changed.sleep(ms);
  };
  while (!run.stopping.aborted && !keeper.lost && run.failure === undefined) {
    const { restFor } = requests.pause;
    if (restFor > LINGER) return;
    if (restFor > 0) {
      await sleep(restFor);
      continue;
    }
    if (stock.overtaken) requests.withdraw(stock.withdraw());
    stock.refill(requests);
    const { next, resendIn } = stock;
    if (next && !next.resent && stock.resendsFirst) await sleep(LINGER);
    else if (!next) {
      if (stock.dry && requests.settled && resendIn > LINGER) return;
      // What is being looked for is told when it ends: to ask for more meanwhile would never let the lane be dry.
      if (stock.filling) await sleep(LINGER);
      // One that is due and may not go yet waits for outcomes, which tell.
      else if (await sleep(resendIn > 0 ? Math.min(LINGER, resendIn) : LINGER)) stock.nudge();
    } else if (requests.inFlight >= (memory.gate.probing ? 1 : context.concurrency)) {
      // Each has a time limit: one of them ends.
      await sleep();
    } else if (!keeper.valid) {
      await sleep(Math.min(50, context.leaseTime / 10));
    } else {
      const wait = next.instead ? 0 : rateDelay(run, next.positions.length);
      if (wait > 0) await (wait > MOMENT ? sleep(wait) : changed.sleep(wait));
      else if (stock.stale) requests.withdraw(await judgedAgain(run, stock));
      else if (!next.instead && !context.slots.free(changed)) await changed.sleep(LINGER);
      else {
        stock.take();
        requests.start(next);
      }
    }
  }
}

/** A turn for a connection is kept meanwhile, but not for a policy that hangs. */
async function judgedAgain({ context, changed }: LaneRun, stock: Prefetch): Promise<Ready[]> {
  const timer = setTimeout(() => context.slots.leave(changed), LINGER);
  try {
    return await stock.judgeAgain();
  } finally {
    clearTimeout(timer);
  }
}

/** Milliseconds until the lane's and the transport's rate let `n` start. */
function rateDelay({ context, memory }: LaneRun, n: number): number {
  const now = context.clock.monotonic();
  const own = memory.limiter?.delay(n, now) ?? 0;
  return own > 0 ? own : (context.transportRate?.delay(n, now) ?? 0);
}

/** A lane that somebody else held may have used up its window. */
function takeOverRate({ context, lease, memory }: LaneRun): void {
  const { limiter, per } = memory;
  const { fence, clean, rateState, idleFor, ours } = lease;
  const known = ours && memory.fence === fence - 1;
  memory.fence = fence;
  if (!limiter || known) return;
  const now = context.clock.monotonic();
  if (rateState) limiter.restore(rateState, now);
  else if (!clean) limiter.holdUntil(now + per - idleFor);
}
