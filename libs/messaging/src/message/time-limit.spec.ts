import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { timeLimit, untilAborted } from './time-limit.js';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

describe('timeLimit()', () => {
  it('ends after its time, also where garbage is collected meanwhile', async () => {
    const stop = new AbortController();
    const waiting = () => once(timeLimit(300, stop.signal), 'abort').then(() => 'ended');
    const ended = waiting();
    for (let times = 0; times < 5; times++) {
      collect();
      await wait(20);
    }
    await expect(Promise.race([ended, wait(10_000, 'never', { ref: false })])).resolves.toBe(
      'ended',
    );
  });

  it('has the reason of a TimeoutError after its time', async () => {
    const limit = timeLimit(1);
    await once(limit, 'abort');
    expect(limit.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('ends with a given signal and its reason, also with one that has ended', () => {
    const stop = new AbortController();
    const limit = timeLimit(60_000, new AbortController().signal, stop.signal);
    expect(limit.aborted).toBe(false);
    stop.abort(new Error('stopped'));
    expect(limit.reason).toEqual(new Error('stopped'));
    expect(timeLimit(60_000, stop.signal).reason).toEqual(new Error('stopped'));
  });
});

describe('untilAborted()', () => {
  it('has the result of the work, or its error', async () => {
    const { signal } = new AbortController();
    await expect(untilAborted(signal, Promise.resolve('done'))).resolves.toBe('done');
    await expect(untilAborted(signal, Promise.reject(new Error('failed')))).rejects.toThrow(
      'failed',
    );
  });

  it('rejects with the reason of a signal that ends before the work, or has ended', async () => {
    const stop = new AbortController();
    const never = new Promise(() => undefined);
    const waiting = untilAborted(stop.signal, never);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    await expect(untilAborted(stop.signal, never)).rejects.toThrow('stopped');
  });
});
