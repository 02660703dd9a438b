import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DatabaseShutdownTimeoutError } from '../message/errors.js';
import { recordAgain } from './record-again.js';

describe('recordAgain', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('tries until the outcome is recorded', async () => {
    const failures: unknown[] = [];
    const errors = [new Error('second'), new Error('third')];
    const record = async () => {
      const error = errors.shift();
      if (error) throw error;
    };
    const recorded = recordAgain(
      record,
      new Error('first'),
      { aborted: false, over: false },
      (error) => failures.push((error as Error).message),
    );
    await jest.advanceTimersByTimeAsync(100 + 200 + 400);
    expect(await recorded).toBeUndefined();
    expect(failures).toEqual(['first', 'second', 'third']);
  });

  it('tries during the whole stop, and gives up with the last error when the stop is over', async () => {
    const stopping = { aborted: true, over: false };
    const failures: unknown[] = [];
    const record = () => Promise.reject(new Error(`at ${Date.now() - begun}`));
    const begun = Date.now();
    setTimeout(() => (stopping.over = true), 10_000);
    const recorded = recordAgain(record, new Error('first'), stopping, (error) =>
      failures.push(error),
    );
    await jest.advanceTimersByTimeAsync(60_000);
    expect(failures.length).toBeGreaterThan(40);
    expect(await recorded).toMatchObject({ message: expect.stringMatching(/^at 10\d{3}$/) });
  });

  it('gives up at once where the database was given up', async () => {
    const failure = new DatabaseShutdownTimeoutError();
    const record = () => Promise.reject(new Error('not to be called'));
    expect(
      await recordAgain(record, failure, { aborted: true, over: false }, () => undefined),
    ).toBe(failure);
  });
});
