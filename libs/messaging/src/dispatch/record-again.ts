import { DatabaseShutdownTimeoutError } from '../message/errors.js';
import type { LaneStop } from './signals.js';

/** Longest wait between two tries, in milliseconds. */
const LONGEST_WAIT = 1_000;

/** Longest wait between two tries during a stop, in milliseconds. */
const LONGEST_WAIT_OF_A_STOP = 200;

/**
 * Repeats the write of an outcome until the database takes it, because a request cannot be undone.
 *
 * @param failure the error of the first try
 * @returns the last error, where a stop ended the tries; `undefined` once the write succeeded
 * @param onFailure called with each error that another try follows
 */
export async function recordAgain(
  record: () => Promise<void>,
  failure: unknown,
  stopping: Pick<LaneStop, 'aborted' | 'over'>,
  onFailure: (error: unknown) => void,
): Promise<unknown> {
  for (let error = failure, tries = 0; ; tries++) {
    if (stopping.over || error instanceof DatabaseShutdownTimeoutError) return error;
    onFailure(error);
    const most = stopping.aborted ? LONGEST_WAIT_OF_A_STOP : LONGEST_WAIT;
    await new Promise((resolve) => setTimeout(resolve, Math.min(most, 100 * 2 ** tries)));
    try {
      await record();
      return undefined;
    } catch (again) {
      error = again ?? new Error('not recorded');
    }
  }
}
