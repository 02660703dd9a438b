import { keepNewest } from '../message/keep-newest.js';
import { Logger } from '@nestjs/common';
import type { LaneTask, PrepareLane } from './dispatcher.js';
import { type DispatchContext, LeasedWork, LaneMemory } from './leased-work.js';
import { LaneRequests } from './lane-requests.js';
import { Prefetch } from './prefetch.js';
import type { RequestSlots } from './provider-state.js';
import { Resends } from './resends.js';
import { missingAttachments, type PreparedSubmission } from './submissions.js';

/** Longest pause or backoff during which the lane keeps its lease, in milliseconds. */
const LONGEST_SLEEP = 1_000;

/** Longest wait for the rate during which the lane keeps its turn for a connection, in ms. */
const MAX_WAIT_WITH_TURN = 5;

const MAX_MEMORIES = 10_000;

/** Opens the lanes, and remembers the limiter and the failures of each between its runs. */
export function messageLanes(context: DispatchContext): PrepareLane {
  const memories = new Map<string, LaneMemory>();
  return (lane) => {
    if (!context.places.isLeased || context.holds.of(lane)) return undefined;
    const memory = memories.get(lane) ?? new LaneMemory(lane, context);
    memories.delete(lane);
    memories.set(lane, memory);
    // An evicted lane only waits longer once, because its rate state is also in the store.
    keepNewest(memories, MAX_MEMORIES);
    return (leased) => new MessageLane(new LeasedWork(leased, context, memory));
  };
}

/**
 * The messages of one lane, under one lease:
 *
 * ```
 * recover unanswered submissions of former holders
 *    ▼
 * ┌ refill: plan ─▶ intent (committed) ─▶ prepared ◀── resends, when due
 * │                                          │ waits for: its provider's pause, an answer, the lease, the rates,
 * │                                          ▼            a policy decision, a connection
 * └◀── outcomes, many to a commit ◀─────── start in order
 *    ▼ nothing due, or a pause of more than a second, or a hold, or a stop
 * withdraw what did not start ─▶ settle ─▶ release
 * ```
 */
class MessageLane implements LaneTask {
  readonly #resends: Resends;
  readonly #prefetch: Prefetch;
  readonly #requests: LaneRequests;
  /** Connections at which the lane has or awaits its turn, with the step that last needed it. */
  readonly #turns = new Map<RequestSlots, number>();
  #steps = 0;
  /** Whether the unanswered submissions of former holders are queued as resends. */
  #recovered: boolean;

  constructor(private readonly work: LeasedWork) {
    this.#recovered = work.leased.lease.clean;
    this.#resends = new Resends(work);
    this.#prefetch = new Prefetch(work, this.#resends);
    this.#requests = new LaneRequests(work, this.#prefetch, this.#resends);
  }

  nudge(): void {
    this.work.nudge();
  }

  get underWay(): string {
    return `${this.#requests.inFlight} requests without an answer, ${this.work.recording} outcomes not recorded`;
  }

  async pump(): Promise<void> {
    const { memory, pause, leased } = this.work;
    memory.takeOver(leased.lease);
    if (pause.pausedFor() > 0 || this.work.onHold) return;
    if (!this.#recovered) await this.#resends.recover();
    this.#recovered = true;
    try {
      while (this.#mayGoOn) {
        const step = this.#step();
        if (step === 'done') return;
        if (step) await step;
      }
    } finally {
      this.#leaveTurns();
    }
  }

  async settle(): Promise<void> {
    const { work } = this;
    const { changed, lane } = work.leased;
    this.#resends.stop();
    while (this.#prefetch.filling) await changed.sleep();
    this.#prefetch.withdraw();
    while (!this.#requests.settled) await changed.sleep();
    if (work.unrecorded > 0)
      new Logger('Lane').error(
        `${lane}: stopped with ${work.unrecorded} outcomes not recorded; the lane's next holder resends these submissions under their keys, or records them as unknown`,
      );
  }

  abort(): void {
    this.#requests.abort();
  }

  async leave() {
    const { leased, memory, pause } = this.work;
    await pause.leave(this.#prefetch.nextProvider);
    return {
      rateState: memory.limiter?.save(this.work.now) ?? null,
      unanswered:
        !this.#recovered || this.#resends.dueIn < Infinity || leased.failure !== undefined,
    };
  }

  async nextDueIn(): Promise<number> {
    const { context, leased, pause } = this.work;
    // The wake job finds the lane after its release.
    if (this.work.onHold) return Infinity;
    const dueIn = (await context.work.nextDue(leased.lane)) ?? Infinity;
    const pausedFor = pause.pausedFor(this.#prefetch.nextProvider);
    return Math.max(pausedFor, Math.min(this.#resends.dueIn, dueIn));
  }

  get #mayGoOn(): boolean {
    const { stopping, lost, failure } = this.work.leased;
    return !stopping.aborted && !lost && failure === undefined && !this.work.onHold;
  }

  #step(): Promise<unknown> | 'done' | undefined {
    this.#resends.ask();
    this.#steps++;
    const next = this.#prefetch.next(this.#waitOf);
    if (this.#prefetch.isShared) this.#leaveTurns(this.#steps);
    const { dueIn } = this.#resends;
    const pausedFor = this.work.pause.pausedFor(next?.provider ?? this.#prefetch.nextProvider);
    if (pausedFor > 0 && next && this.#prefetch.isShared) {
      // The next plan gives the messages to others, or defers them.
      this.#prefetch.withdraw();
      return undefined;
    }
    if (pausedFor > 0 && (next || dueIn > 0)) {
      // A due resend to another provider does not wait for this provider.
      const wait = next ? pausedFor : Math.min(pausedFor, dueIn);
      return wait > LONGEST_SLEEP ? 'done' : this.#sleep(wait);
    }
    this.#prefetch.refill(this.#requests.inFlight);
    return next ? this.#advance(next) : this.#idle();
  }

  #idle(): Promise<unknown> | 'done' {
    const { filling, dry } = this.#prefetch;
    const { dueIn } = this.#resends;
    // The fill wakes the lane when it ends.
    if (filling) return this.#sleep();
    if (dry && this.#requests.settled && dueIn > LONGEST_SLEEP) return 'done';
    // Waits for outcomes, which wake the lane, where a due resend may not start yet.
    const wait = dueIn > 0 ? Math.min(LONGEST_SLEEP, dueIn) : LONGEST_SLEEP;
    return this.#sleep(wait).then((timedOut) => timedOut && this.nudge());
  }

  #advance(next: PreparedSubmission): Promise<unknown> | undefined {
    const { context, leased, memory } = this.work;
    const { slots } = this.work.provider(next.provider);
    const prefetch = this.#prefetch;
    if (next.resendAt === undefined && prefetch.resendsFirst) return this.#sleep(LONGEST_SLEEP);
    const { probing } = memory.failuresOf(next.provider);
    // Every request has a time limit, so the end of one wakes the lane.
    if (this.#requests.inFlight >= context.concurrency) return this.#sleep();
    const probeLasts = probing ? this.#requests.probeLasts(next.provider) : 0;
    const isProbed = this.work.provider(next.provider).breaker.isProbedBy(leased.lane);
    if (isProbed && (this.work.inFlight.get(next.provider) ?? 0) > 0)
      return this.#sleep(LONGEST_SLEEP);
    if (probeLasts > 0) return this.#sleep(Number.isFinite(probeLasts) ? probeLasts : undefined);
    if (!leased.valid) return this.#sleep(Math.min(50, context.leaseTime / 10));
    if (!next.skipOutcome) {
      if (prefetch.isOversized(next)) {
        prefetch.withdraw();
        return undefined;
      }
      if (missingAttachments(next).length > 0) return this.#attach(next);
      const wait = this.#rateDelay(next);
      if (wait > MAX_WAIT_WITH_TURN) return this.#sleep(wait);
      if (wait > 0) return leased.changed.sleep(wait);
      if (prefetch.isStale(next)) return this.#decideAgain();
      if (!this.#hasTurn(slots)) return leased.changed.sleep(LONGEST_SLEEP);
    }
    this.#requests.start(prefetch.take(next));
    return undefined;
  }

  #sleep(ms?: number): Promise<boolean> {
    this.#leaveTurns();
    return this.work.leased.changed.sleep(ms);
  }

  /** @param but step whose turns the lane keeps */
  #leaveTurns(but?: number): void {
    for (const [slots, step] of this.#turns) {
      if (step === but) continue;
      slots.leave(this.work.leased.changed);
      this.#turns.delete(slots);
    }
  }

  /** Milliseconds until the provider takes the submission; `Infinity`: the lane is woken on its turn. */
  readonly #waitOf = ({ skipOutcome, positions, provider }: PreparedSubmission): number => {
    if (skipOutcome) return 0;
    const { slots, rate } = this.work.provider(provider);
    const wait = rate?.delay(positions.length, this.work.now) ?? 0;
    return wait > 0 || this.#hasTurn(slots) ? wait : Infinity;
  };

  #hasTurn(slots: RequestSlots): boolean {
    this.#turns.set(slots, this.#steps);
    return slots.free(this.work.leased.changed);
  }

  /** Just before the start, so that prefetched submissions keep no attachments in memory. */
  async #attach(item: PreparedSubmission): Promise<void> {
    const { context, leased } = this.work;
    const infos = missingAttachments(item);
    try {
      const attachments = await context.data.attachments(item.batch, infos);
      if (attachments) item.submission = { ...item.submission, attachments };
      // A policy has substituted content with attachments that the batch does not have.
      else item.skipOutcome = { result: resultWithout(item), errorCode: 'attachment_missing' };
    } catch (error) {
      leased.fail(error);
    }
  }

  /** The lane keeps its turn for a connection while policies decide, unless a policy hangs. */
  async #decideAgain(): Promise<void> {
    const timer = setTimeout(() => this.#leaveTurns(), LONGEST_SLEEP);
    await this.#prefetch.decideAgain().finally(() => clearTimeout(timer));
  }

  /** Milliseconds until the rates of the lane and of the provider let `next` start. */
  #rateDelay({ positions, provider }: PreparedSubmission): number {
    const { memory, now } = this.work;
    memory.refresh();
    const own = memory.limiter?.delay(positions.length, now) ?? 0;
    // The cap lets a raised limit take effect soon.
    if (own > 0) return Math.min(LONGEST_SLEEP, own);
    return this.work.provider(provider).rate?.delay(positions.length, now) ?? 0;
  }
}

/** The provider may already have a resend. */
function resultWithout({ resendAt }: PreparedSubmission): 'rejected' | 'unknown' {
  return resendAt === undefined ? 'rejected' : 'unknown';
}
