import { DatabaseShutdownTimeoutError } from '../message/errors.js';
import type { StopSignal } from './signals.js';

/** Longest wait between two tries, in milliseconds. */
const LONGEST_WAIT = 5_000;

/** Tries after which a stopping process gives up. */
const TRIES_OF_A_STOP = 3;

/**
 * Repeats the write of an outcome until the database takes it, because a request cannot be undone.
 *
 * @param failure the error of the first try
 * @returns the error of a stop that gave up; `undefined` once the write succeeded
 * @param onFailure called with each error that another try follows
 */
export async function recordAgain(
  record: () => Promise<void>,
  failure: unknown,
  stopping: Pick<StopSignal, 'aborted'>,
  onFailure: (error: unknown) => void,
): Promise<unknown> {
  for (let error = failure, tries = 0; ; tries++) {
    const isOver = stopping.aborted && tries > TRIES_OF_A_STOP;
    if (isOver || error instanceof DatabaseShutdownTimeoutError) return error;
    onFailure(error);
    await new Promise((resolve) => setTimeout(resolve, Math.min(LONGEST_WAIT, 100 * 2 ** tries)));
    try {
      await record();
      return undefined;
    } catch (again) {
      error = again ?? new Error('not recorded');
    }
  }
}
