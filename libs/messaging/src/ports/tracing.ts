import type { Channel } from '../message/message.js';
import type { Token } from './token.js';

/** A W3C trace context, under the names of the HTTP headers that carry it. */
export interface TraceContext {
  /** `00-{trace id}-{span id}-{flags}`. */
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** One step in the processing of a message. It must contain no phone number, text or secret. */
export interface TracedStep {
  /** Operation of the step: `messaging.operation.name`. */
  readonly operation: string;
  /** OpenTelemetry's `messaging.operation.type`. */
  readonly type: 'send' | 'process';
  readonly kind: 'producer' | 'client' | 'consumer';
  readonly channel: Channel;
  /** Id of the batch, the submission or the message. */
  readonly id: string;
  /** Number of messages in the step. @default 1 */
  readonly messages?: number;
  readonly attributes?: Readonly<Record<string, string | number>>;
  /** Reason of a failure without a thrown error; recorded only where it is a plain word. */
  readonly error?: string | null;
  /** Step that this one follows, possibly in another process. @default the active step */
  readonly parent?: TraceContext;
  /** The step passes its context on: instrumented clients record nothing. @default false */
  readonly quiet?: boolean;
}

/** Records the steps that messages take in a tracing system. */
export interface MessagingTracing {
  /**
   * Runs `work` as a step and returns its result. `work` receives the step's context; `undefined`
   * where nothing records the step.
   */
  step<T>(step: TracedStep, work: (context: TraceContext | undefined) => Promise<T>): Promise<T>;
}

/** Injection token of the {@link MessagingTracing}; its value is `undefined` without tracing. */
export const MESSAGING_TRACING = Symbol('MESSAGING_TRACING') as Token<MessagingTracing | undefined>;
