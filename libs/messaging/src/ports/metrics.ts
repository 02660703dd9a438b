import type { MessageStatusChanged } from '../message/events.js';
import type { Channel } from '../message/message.js';
import type { Token } from './token.js';

/** One request to a provider that has ended. */
export interface SubmitMeasurement {
  readonly channel: Channel;
  /** Name of the provider, such as `main`. */
  readonly provider: string;
  /** Number of messages in the request. */
  readonly messages: number;
  readonly seconds: number;
  /** The error of a request that failed. */
  readonly error?: unknown;
}

/**
 * Why a message starts after a later one of its lane and provider:
 *
 * | reason | the message |
 * |---|---|
 * | `in_flight` | was refused for now, while the later ones were in flight |
 * | `parked` | backs off after three failures, or its batch after two failing messages |
 * | `deferred` | was deferred by its provider or a policy, is dialled again, or waits for its providers |
 * | `uncertain` | may have been accepted, and is sent again |
 * | `class` | has a lower priority |
 * | `late` | was committed after the later ones had been planned |
 * | `unnamed` | has none of these reasons: a fault of the library |
 */
export type PassReason =
  | 'in_flight'
  | 'parked'
  | 'deferred'
  | 'uncertain'
  | 'class'
  | 'late'
  | 'unnamed';

/** Messages of this process, since its start, that later ones of their lane and provider have passed. */
export interface PassedMessages {
  readonly provider: string;
  readonly reason: PassReason;
  readonly messages: number;
}

/** Counts of the database at the time of a reading. */
export interface QueueReading {
  /** Seconds that the oldest due message of a priority has waited, without held lanes. */
  readonly ages: ReadonlyMap<string, number>;
  /** Lanes that are held or paused, by the reason, or have due work. */
  readonly lanes: readonly LaneReading[];
  /** Number of reports that name no message, by provider. */
  readonly unmatched: ReadonlyMap<string, number>;
  readonly passed: readonly PassedMessages[];
}

export interface LaneReading {
  readonly state: 'held' | 'paused' | 'working' | 'waiting';
  /** Reason of the hold or pause, or ''. */
  readonly reason: string;
}

/**
 * Receives the measurements of the library. Its methods must not throw, and run within sends,
 * requests and reports. Measurements contain no address, text or secret.
 */
export interface MessagingMetrics {
  /** A send was accepted and is committed; a replay of an idempotency key is not. */
  accepted(channel: Channel, messages: number): void;
  submitted(measurement: SubmitMeasurement): void;
  /** After the commit of a change of status, or of an event of the channel. */
  changed(change: MessageStatusChanged): void;
  /** Reads the queues whenever metrics are collected, until the returned function is called. */
  observe(read: () => Promise<QueueReading>): () => void;
}

/** Injection token of the {@link MessagingMetrics}; its value is `undefined` without metrics. */
export const MESSAGING_METRICS = Symbol('MESSAGING_METRICS') as Token<MessagingMetrics | undefined>;
