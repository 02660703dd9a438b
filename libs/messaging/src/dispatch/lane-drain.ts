import { Logger } from '@nestjs/common';
import { LaneLostError } from '../store/intent.recorder.js';
import { LaneRequests } from './lane-requests.js';
import type { LaneDrainContext, LaneMemory, LaneRun } from './lane-run.js';
import { Prefetch } from './prefetch.js';
import { LeaseKeeper } from './lease-keeper.js';
import type { Ready } from './slice.js';
import type { StopSignal } from './stop-signal.js';
import { WakeSignal } from './wake-signal.js';

/** Rests shorter than this are waited for with the lane in hand, in milliseconds. */
const LINGER = 1_000;

/** A turn for a connection is kept for a rate that is so near, in milliseconds. */
const MOMENT = 5;

/**
 * Drains one lane, from lease to release:
 *
 * ```
 * acquire ─▶ recover what a former holder left open ─▶ ┌ plan ─▶ intent (committed) ─▶ start in order ┐
 *                                                      └──────────── outcomes, many to a commit ◀─────┘
 *         ─▶ nothing due, or rest, or stop ─▶ withdraw what did not start ─▶ release
 * ```
 */
export class LaneDrain {
  #stock: Prefetch | undefined;
  #requests: LaneRequests | undefined;
  /** Whatever is due by now will be found. */
  #looks = false;

  constructor(
    private readonly context: LaneDrainContext,
    private readonly lane: string,
    private readonly memory: LaneMemory,
    private readonly stopping: StopSignal,
  ) {}

  /** New work may be due. False: it may have looked for the last time, or may not get the lane. */
  nudge(): boolean {
    if (!this.#looks || this.stopping.aborted) return false;
    this.#stock?.nudge();
    return true;
  }

  /** For people. */
  get underWay(): string {
    const { inFlight = 0, recording = 0 } = this.#requests ?? {};
    return `${inFlight} requests without an answer, ${recording} outcomes not recorded`;
  }

  /** @returns when to come again, epoch milliseconds, where that is known */
  async run(): Promise<number | undefined> {
    const { context, lane, memory, stopping } = this;
    const moment = LeaseKeeper.moment(context.clock);
    const lease = await context.lanes.acquire(lane);
    if (!lease) return undefined;
    const keeper = new LeaseKeeper(context.lanes, context.clock, lease, context.leaseTime, moment);
    const changed = new WakeSignal();
    const run: LaneRun = {
      context,
      lane,
      lease,
      keeper,
      memory,
      stopping,
      changed,
      recovered: lease.clean,
      failure: undefined,
    };
    const stock = new Prefetch(run);
    const requests = new LaneRequests(run, stock);
    this.#stock = stock;
    this.#requests = requests;
    this.#looks = true;
    const wake = () => changed.wake();
    stopping.add(wake);
    try {
      takeOverRate(run);
      if (requests.pause.restFor <= 0) {
        if (!run.recovered) requests.lose(await stock.recover());
        run.recovered = true;
        await pump(run, stock, requests);
      }
    } catch (error) {
      if (error instanceof LaneLostError) keeper.lose();
      else run.failure = error;
    } finally {
      stopping.remove(wake);
      context.slots.leave(changed);
    }
    return this.#finish(run, stock, requests);
  }

  /** Lets requests in flight end, within the bound, records them, gives the lane back and looks once more. */
  async #finish(
    run: LaneRun,
    stock: Prefetch,
    requests: LaneRequests,
  ): Promise<number | undefined> {
    const { context, lane } = this;
    await settle(run, stock, requests);
    if (requests.unrecorded > 0)
      new Logger('Lane').error(
        `${lane}: stopped with ${requests.unrecorded} outcomes not recorded; the lane's next holder sends these submissions again under their keys, or records them as unknown`,
      );
    await giveBack(run, stock, requests);
    this.#looks = false;
    if (run.failure !== undefined) throw asError(run.failure);
    if (run.stopping.aborted) return undefined;
    const dueIn = (await context.work.nextDue(lane)) ?? Infinity;
    const wait = Math.max(requests.pause.restFor, Math.min(stock.resendIn, dueIn), 0);
    return Number.isFinite(wait) ? context.clock.now() + wait : undefined;
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

async function settle(run: LaneRun, stock: Prefetch, requests: LaneRequests): Promise<void> {
  const bound = boundOf(run, requests);
  while (stock.filling) await run.changed.sleep();
  requests.withdraw(stock.withdraw());
  while (!requests.settled) await run.changed.sleep();
  bound.lift();
  await requests.pause.written();
  run.keeper.stop();
}

async function giveBack(run: LaneRun, stock: Prefetch, requests: LaneRequests): Promise<void> {
  const { context, lane, lease, keeper, memory } = run;
  if (keeper.lost) return;
  const { restFor, recorded } = requests.pause;
  if (restFor > 0 && !recorded) await context.lanes.pause(lane, lease.fence, restFor, null);
  const open = !run.recovered || stock.resendIn < Infinity || run.failure !== undefined;
  const rate = memory.limiter?.save(context.clock.monotonic()) ?? null;
  await context.lanes.release(lane, lease.fence, rate, open);
}

/** A stopping process waits for its requests so long and no longer; a resting lane waits for them all. */
function boundOf({ stopping, context }: LaneRun, requests: LaneRequests): { lift(): void } {
  let timer: NodeJS.Timeout | undefined;
  const arm = () => {
    timer = setTimeout(() => requests.abort(), context.shutdownTimeout);
  };
  if (stopping.aborted) arm();
  else stopping.add(arm);
  return {
    lift: () => {
      stopping.remove(arm);
      clearTimeout(timer);
    },
  };
}

function asError(failure: unknown): Error {
  return failure instanceof Error ? failure : new Error(String(failure));
}
