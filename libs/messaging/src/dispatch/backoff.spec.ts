import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DatabaseShutdownTimeoutError } from '../message/errors.js';
import { backoff, recordAgain, scheduledWait } from './backoff.js';

const zero = () => 0;

describe('backoff', () => {
  it('a backoff doubles its upper bound with each try, up to ten minutes', () => {
    expect([1, 2, 3, 40].map((tries) => backoff(1_000, tries, () => 1))).toEqual([
      1_000, 2_000, 4_000, 600_000,
    ]);
  });

  it('a backoff is never less than a tenth of its upper bound', () => {
    expect(backoff(1_000, 1, zero)).toBe(100);
  });
});

describe('scheduledWait', () => {
  const schedule = [5_000, 300_000];

  it('a schedule gives its waits, then none', () => {
    expect([1, 2, 3].map((tries) => scheduledWait(schedule, tries, 0, zero))).toEqual([
      5_000,
      300_000,
      undefined,
    ]);
  });

  it('a scheduled wait is up to a tenth longer than the schedule, and never shorter', () => {
    expect(scheduledWait(schedule, 1, 0, () => 0.999)).toBeCloseTo(5_499.5);
    for (let n = 0; n < 100; n++) {
      const wait = scheduledWait(schedule, 2);
      expect(wait).toBeGreaterThanOrEqual(300_000);
      expect(wait).toBeLessThanOrEqual(330_000);
    }
  });

  it('a scheduled wait is longer where the receiver asks for it, but there is none after the last try', () => {
    expect(scheduledWait(schedule, 1, 60_000, zero)).toBe(60_000);
    expect(scheduledWait(schedule, 1, 1_000, zero)).toBe(5_000);
    expect(scheduledWait(schedule, 3, 60_000, zero)).toBeUndefined();
  });
});

describe('recordAgain', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('recordAgain() tries until the outcome is recorded', async () => {
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

  it('recordAgain() tries during the whole stop, and throws the last error at its end', async () => {
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

  it('recordAgain() gives up at once after the shutdown deadline of the database', async () => {
    const failure = new DatabaseShutdownTimeoutError();
    const record = () => Promise.reject(new Error('not to be called'));
    expect(
      await recordAgain(record, failure, { aborted: true, over: false }, () => undefined),
    ).toBe(failure);
  });
});
