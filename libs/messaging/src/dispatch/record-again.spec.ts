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
    const recorded = recordAgain(record, new Error('first'), { aborted: false }, (error) =>
      failures.push((error as Error).message),
    );
    await jest.advanceTimersByTimeAsync(100 + 200 + 400);
    expect(await recorded).toBeUndefined();
    expect(failures).toEqual(['first', 'second', 'third']);
  });

  it('gives up with the last error where the process stops', async () => {
    let tries = 0;
    const record = async () => {
      throw new Error(`try ${++tries}`);
    };
    const recorded = recordAgain(record, new Error('first'), { aborted: true }, () => undefined);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await recorded).toMatchObject({ message: 'try 4' });
  });

  it('gives up at once where the database was given up', async () => {
    const failure = new DatabaseShutdownTimeoutError();
    const record = () => Promise.reject(new Error('not to be called'));
    expect(await recordAgain(record, failure, { aborted: true }, () => undefined)).toBe(failure);
  });
});
