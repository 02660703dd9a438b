import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DatabaseShutdownTimeoutError } from '../../message/errors.js';
import { ShutdownDeadline } from './shutdown-deadline.js';

const never = () => new Promise<void>(() => undefined);
let cuts: number;
let deadline: ShutdownDeadline;

beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  cuts = 0;
  deadline = new ShutdownDeadline(() => ++cuts > 0, 1_000);
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

it('a statement waits without a limit before a stop', async () => {
  const told = jest.fn();
  void deadline.wait(never).catch(told);
  await jest.advanceTimersByTimeAsync(3_600_000);
  expect(told).not.toHaveBeenCalled();
  expect(jest.getTimerCount()).toBe(0);
});

it('after the deadline the first overdue answer fails all waiting statements', async () => {
  deadline.set(10_000);
  const told = jest.fn();
  void deadline.wait(never).catch(told);
  await jest.advanceTimersByTimeAsync(10_900);
  const late = deadline.wait(never).catch(told);
  expect(told).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(600);
  await late;
  expect(told.mock.calls.flat()).toEqual([
    expect.any(DatabaseShutdownTimeoutError),
    expect.any(DatabaseShutdownTimeoutError),
  ]);
  await expect(deadline.wait(never)).rejects.toThrow(DatabaseShutdownTimeoutError);
});

describe('while the process stood still itself', () => {
  /** Looked at after each of two stops, with less than the last word of its own time before it. */
  async function toldAfterEach(told: jest.Mock): Promise<number[]> {
    deadline.set(0);
    void deadline.wait(never).catch(told);
    const now = performance.now.bind(performance);
    let stood = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now() + stood);
    const calls: number[] = [];
    for (let stop = 0; stop < 2; stop++) {
      await jest.advanceTimersByTimeAsync(600);
      stood += 3_000;
      await jest.advanceTimersByTimeAsync(300);
      calls.push(told.mock.calls.length);
    }
    return calls;
  }

  it('a stalled process gives the database its last second again, once', async () => {
    expect(await toldAfterEach(jest.fn())).toEqual([0, 1]);
  });

  it('SQLite gets no second chance after a stall', async () => {
    deadline = new ShutdownDeadline(
      () => true,
      1_000,
      () => false,
    );
    expect(await toldAfterEach(jest.fn())).toEqual([1, 1]);
  });
});

it('answers in time do not trigger the deadline', async () => {
  deadline.set(0);
  for (let n = 0; n < 20; n++) {
    const answer = new Promise<number>((resolve) => setTimeout(resolve, 400, n));
    const waited = deadline.wait(() => answer);
    await jest.advanceTimersByTimeAsync(400);
    expect(await waited).toBe(n);
  }
  deadline.close();
  expect(deadline.over.aborted).toBe(false);
  expect(jest.getTimerCount()).toBe(0);
});

it('the deadline leaves a shared data source alone after the close', async () => {
  deadline.set(0);
  void deadline.wait(never).catch(() => undefined);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(cuts).toBeGreaterThan(1);
  deadline.close();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(jest.getTimerCount()).toBe(0);
});
