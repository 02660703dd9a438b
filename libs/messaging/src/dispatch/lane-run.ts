import type { IntentRecorder } from '../store/intent.recorder.js';
import type { LaneWork } from '../store/lane-work.js';
import type { OutcomeRecorder } from '../store/outcome.recorder.js';
import type { PolicyPipeline } from '../policy/policy-pipeline.js';
import type { MessageTransport } from '../ports/message-transport.js';
import type { FailurePolicy } from './failure-policy.js';
import type { LeaseContext, LeasedLane } from './lane-drain.js';
import type { RateLimiter } from './rate-limiter.js';
import type { RequestSlots } from './request-slots.js';
import type { PrefetchBudget } from './prefetch-budget.js';
import type { TransportRate } from './transport-rate.js';

/** What the drain of every lane of messages uses. Durations in milliseconds. */
export interface LaneDrainContext extends LeaseContext {
  readonly work: LaneWork;
  readonly intents: IntentRecorder;
  readonly outcomes: OutcomeRecorder;
  readonly policy: PolicyPipeline;
  readonly transport: MessageTransport;
  /** The limit over all lanes, where there is one. */
  readonly transportRate: TransportRate | undefined;
  /** What all lanes have ready to start. */
  readonly stock: PrefetchBudget;
  /** What all lanes have in flight. */
  readonly slots: RequestSlots;
  /** When the transport last served anybody, whatever the lane; monotonic milliseconds. */
  readonly served: { at: number };
  /** How long what fails alone is tried without counting. */
  readonly retryFor: number;
  readonly concurrency: number;
  readonly maxAttempts: number;
  readonly timeout: number;
}

/** What outlives one run of a lane in this process. */
export interface LaneMemory {
  readonly gate: FailurePolicy;
  readonly limiter: RateLimiter | undefined;
  /** Milliseconds of the rate limit's window. */
  readonly per: number;
  /** The fence the limiter has seen everything up to. */
  fence: number;
}

/** One run of one lane, under one lease: what its stock and its requests share. */
export interface LaneRun extends LeasedLane {
  readonly context: LaneDrainContext;
  readonly memory: LaneMemory;
  /** What former holders left open is in the stock, or there was nothing. */
  recovered: boolean;
}
