import { v7 } from 'uuid';
import type { Token } from './token.js';

/** Time and ids. Tests replace it, so that they need no real waits. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Monotonic time in milliseconds; only differences have a meaning. */
  monotonic(): number;
  /** A UUIDv7, greater than every earlier one of this process (RFC 9562, 6.2). */
  id(): string;
}

export const MESSAGING_CLOCK = Symbol('MESSAGING_CLOCK') as Token<Clock>;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  id: () => v7(),
};
