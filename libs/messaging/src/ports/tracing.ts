import type { Channel } from '../message/message.js';

/** A W3C trace context, under the names of the HTTP headers that carry it. */
export interface TraceContext {
  /** `00-{trace id}-{span id}-{flags}`. */
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** One step of a message's way. Nothing in it may tell a number, a text or a secret. */
export interface TracedStep {
  /** What is done: `messaging.operation.name`. */
  readonly operation: string;
  /** OpenTelemetry's `messaging.operation.type`. */
  readonly type: 'send' | 'process';
  readonly kind: 'producer' | 'client' | 'consumer';
  readonly channel: Channel;
  /** Id of the batch, the submission or the message. */
  readonly id: string;
  /** Messages it is about. @default 1 */
  readonly messages?: number;
  readonly attributes?: Readonly<Record<string, string | number>>;
  /** Why it failed, where no error is thrown; told only where it is a plain word. */
  readonly error?: string | null;
  /** The step it follows from, maybe in another process. @default what is active */
  readonly parent?: TraceContext;
  /** The step passes its context on by itself: instrumented clients below it stay silent. @default false */
  readonly quiet?: boolean;
}

/** Tells somebody's tracing of the steps messages take. */
export interface MessagingTracing {
  /**
   * Runs `work` as a step.
   * @returns what `work` returns; it is given the step's own context, `undefined` where nobody records it
   */
  step<T>(step: TracedStep, work: (context: TraceContext | undefined) => Promise<T>): Promise<T>;
}

/** `undefined` where nobody traces. */
export const MESSAGING_TRACING = Symbol('MESSAGING_TRACING');
