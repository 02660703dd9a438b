import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DatabaseShutdownTimeoutError } from '../../message/errors.js';
import { ShutdownDeadline } from './shutdown-deadline.js';

const never = () => new Promise<void>(() => undefined);
let deadline: ShutdownDeadline;

beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  deadline = new ShutdownDeadline();
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
  expect(jest.getTimerCount()).toBe(0);
});

it('after a stall of the process the database gets its last second again, once', async () => {
  deadline.set(0);
  const told = jest.fn();
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
  expect(calls).toEqual([0, 1]);
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
  await jest.advanceTimersByTimeAsync(400);
  expect(deadline.over.aborted).toBe(false);
  expect(jest.getTimerCount()).toBe(0);
});

it('a statement that waits after the close still ends at its deadline', async () => {
  deadline.set(0);
  const told = jest.fn();
  void deadline.wait(never).catch(told);
  deadline.close();
  await jest.advanceTimersByTimeAsync(1_500);
  expect(told).toHaveBeenCalled();
  expect(jest.getTimerCount()).toBe(0);
});
