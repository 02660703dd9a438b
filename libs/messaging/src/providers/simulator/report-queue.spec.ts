import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { DeliveryReport } from '../../message/delivery-report.js';
import { systemClock } from '../../ports/clock.js';
import { ReportQueue } from './report-queue.js';

function report(recipient: string): DeliveryReport {
  return {
    reference: 'r',
    messageId: null,
    recipient,
    status: 'delivered',
    rawStatus: 'DELIVRD',
    errorCode: null,
    providerTime: null,
  };
}

const numbers = (reports: readonly DeliveryReport[]) => reports.map(({ recipient }) => recipient);

beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe('ReportQueue', () => {
  it('reports are handed over when due and in order', async () => {
    const calls: (string | null)[][] = [];
    const queue = new ReportQueue<DeliveryReport>(
      async (reports) => void calls.push(numbers(reports)),
      systemClock,
      1,
    );
    queue.add(report('late'), 100);
    queue.add(report('early'), 10);
    queue.add(report('middle'), 50);
    await jest.advanceTimersByTimeAsync(9);
    expect(calls).toEqual([]);
    await jest.advanceTimersByTimeAsync(3);
    expect(calls).toEqual([['early']]);
    await jest.advanceTimersByTimeAsync(100);
    expect(calls).toEqual([['early'], ['middle'], ['late']]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('the reports of one slot share a timer', async () => {
    let taken = 0;
    const queue = new ReportQueue<DeliveryReport>(
      async (reports) => void (taken += reports.length),
      systemClock,
      3,
    );
    for (let index = 0; index < 20_000; index++) queue.add(report(`${index}`), 50 + (index % 100));
    expect(jest.getTimerCount()).toBeLessThanOrEqual(35);
    await jest.advanceTimersByTimeAsync(200);
    expect(taken).toBe(20_000);
  });

  it('the sink is called once at a time with all due reports', async () => {
    const calls: { reports: number; done: () => void }[] = [];
    const queue = new ReportQueue<DeliveryReport>(
      (reports) => new Promise((resolve) => calls.push({ reports: reports.length, done: resolve })),
      systemClock,
      1,
    );
    for (let index = 0; index < 10; index++) queue.add(report(`${index}`), index * 10);
    await jest.advanceTimersByTimeAsync(200);
    expect(calls.map(({ reports }) => reports)).toEqual([1]);
    calls[0]?.done();
    await jest.advanceTimersByTimeAsync(0);
    expect(calls.map(({ reports }) => reports)).toEqual([1, 9]);
  });

  it('rejected reports are repeated until taken', async () => {
    const calls: (string | null)[][] = [];
    const queue = new ReportQueue<DeliveryReport>(
      async (reports) => {
        calls.push(numbers(reports));
        if (calls.length < 4) throw new Error('the database is away');
      },
      systemClock,
      1,
    );
    queue.add(report('a'), 1);
    await jest.advanceTimersByTimeAsync(10);
    expect(calls).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(calls).toEqual([['a'], ['a'], ['a'], ['a']]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('an immediate report waits for one call only', async () => {
    const pending: (() => void)[] = [];
    const calls: (string | null)[][] = [];
    const queue = new ReportQueue<DeliveryReport>(
      (reports) => {
        calls.push(numbers(reports));
        return new Promise((resolve) => pending.push(resolve));
      },
      systemClock,
      1,
    );
    queue.add(report('queued'), 1);
    await jest.advanceTimersByTimeAsync(5);
    const handed = queue.handOver([report('urgent')]);
    queue.add(report('later'), 1);
    await jest.advanceTimersByTimeAsync(5);
    pending[0]?.();
    await jest.advanceTimersByTimeAsync(0);
    pending[1]?.();
    await handed;
    expect(calls[0]).toEqual(['queued']);
    expect(calls[1]?.[0]).toBe('urgent');
  });

  it('stop() waits for the running call and drops the rest', async () => {
    const calls: (() => void)[] = [];
    const queue = new ReportQueue<DeliveryReport>(
      () => new Promise((resolve) => calls.push(resolve)),
      systemClock,
      1,
    );
    queue.add(report('a'), 1);
    queue.add(report('b'), 1_000);
    await jest.advanceTimersByTimeAsync(10);
    let stopped = false;
    const stop = queue.stop().then(() => (stopped = true));
    await jest.advanceTimersByTimeAsync(0);
    expect(stopped).toBe(false);
    calls[0]?.();
    await stop;
    queue.add(report('c'), 1);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(calls).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('stop() ends while the sink fails', async () => {
    const queue = new ReportQueue<DeliveryReport>(
      () => Promise.reject(new Error('away')),
      systemClock,
      1,
    );
    queue.add(report('a'), 1);
    await jest.advanceTimersByTimeAsync(10);
    await queue.stop();
    expect(jest.getTimerCount()).toBe(0);
  });
});
