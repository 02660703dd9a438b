import { doubledWait } from '../message/doubled-wait.js';
import { DatabaseShutdownTimeoutError } from '../message/errors.js';
import type { Stopping } from './leased-lane.js';

/** Longest waits between two tries to record an outcome, before and during a stop, in ms. */
const LONGEST_RECORD_WAIT = 1_000;
const LONGEST_WAIT_OF_A_STOP = 200;

/** Longest wait between two tries of a message, in milliseconds. */
const CEILING = 600_000;

/** Exponential backoff with jitter: 10 to 100 % of `base · 2^(tries-1)`, at most ten minutes. */
export function backoff(base: number, tries: number, random: () => number = Math.random): number {
  return doubledWait(base, tries - 1, CEILING, [0.1, 1], random);
}

/**
 * Wait before the next try, in milliseconds: the scheduled wait plus up to a tenth of it, so that
 * tries that failed together are not repeated together; `undefined` once the schedule is used up.
 * @param schedule milliseconds before the second try, the third, …
 * @param tries number of tries made so far, at least 1
 * @param retryAfter wait that the receiver asked for, in milliseconds: the result is not shorter
 */
export function scheduledWait(
  schedule: readonly number[],
  tries: number,
  retryAfter = 0,
  random: () => number = Math.random,
): number | undefined {
  const wait = schedule[tries - 1];
  return wait === undefined ? undefined : Math.max(wait * (1 + random() / 10), retryAfter);
}

/**
 * Repeats the write of an outcome until the database takes it, because a request cannot be undone.
 * Returns the last error where a stop ended the tries.
 * @param failure the error of the first try
 * @param onFailure called with each error that another try follows
 */
export async function recordAgain(
  record: () => Promise<void>,
  failure: unknown,
  stopping: Stopping,
  onFailure: (error: unknown) => void,
): Promise<unknown> {
  for (let error = failure, tries = 0; ; tries++) {
    if (stopping.over || error instanceof DatabaseShutdownTimeoutError) return error;
    onFailure(error);
    const most = stopping.aborted ? LONGEST_WAIT_OF_A_STOP : LONGEST_RECORD_WAIT;
    await new Promise((resolve) => setTimeout(resolve, doubledWait(100, tries, most)));
    try {
      await record();
      return undefined;
    } catch (again) {
      error = again ?? new Error('not recorded');
    }
  }
}
