import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DelayedSink } from './delayed-sink.js';

beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe('DelayedSink', () => {
  it('reports are passed on when due and in order', async () => {
    const calls: (readonly string[])[] = [];
    const sink = new DelayedSink<string>(async (reports) => void calls.push(reports));
    sink.later(['late'], 100);
    sink.later(['early', 'also early'], 10);
    sink.later(['middle'], 50);
    await jest.advanceTimersByTimeAsync(9);
    expect(calls).toEqual([]);
    await jest.advanceTimersByTimeAsync(3);
    expect(calls).toEqual([['early', 'also early']]);
    await jest.advanceTimersByTimeAsync(100);
    expect(calls).toEqual([['early', 'also early'], ['middle'], ['late']]);
    // Jobs of this turn count as timers, too.
    await jest.advanceTimersByTimeAsync(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejected reports are repeated until taken', async () => {
    jest.useRealTimers();
    const calls: (readonly string[])[] = [];
    const sink = new DelayedSink<string>(async (reports) => {
      calls.push(reports);
      if (calls.length < 3) throw new Error('the database is away');
    });
    await sink.now(['a']);
    expect(calls).toEqual([['a'], ['a'], ['a']]);
  });

  it('stop() waits for the running call and drops the rest', async () => {
    const calls: (() => void)[] = [];
    const sink = new DelayedSink<string>(() => new Promise((resolve) => calls.push(resolve)));
    sink.later(['a'], 1);
    sink.later(['b'], 1_000);
    await jest.advanceTimersByTimeAsync(10);
    let stopped = false;
    const stop = sink.stop().then(() => (stopped = true));
    await jest.advanceTimersByTimeAsync(0);
    expect(stopped).toBe(false);
    calls[0]?.();
    await stop;
    sink.later(['c'], 1);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(calls).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('stop() ends while the sink fails', async () => {
    const sink = new DelayedSink<string>(() => Promise.reject(new Error('away')));
    const taken = sink.now(['a']);
    await jest.advanceTimersByTimeAsync(10);
    await sink.stop();
    await taken;
    expect(jest.getTimerCount()).toBe(0);
  });
});
