import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { HoldIndex } from '../store/rows/hold.js';
import { HoldWatch } from './hold-watch.js';

function indexOf(...lanes: string[]): HoldIndex {
  const hold = { reason: 'x', since: new Date(0), until: null, note: null };
  return new HoldIndex(lanes.map((one) => ({ lanes: one, ...hold })));
}

describe('HoldWatch', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('the hold watch holds every lane until its first successful read, and keeps the holds after a failed read', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const noticeRestore = jest.fn(() => Promise.resolve(false));
    const index = jest.fn(() => Promise.resolve(indexOf('a:*')));
    const watch = new HoldWatch({ noticeRestore, index });
    expect(watch.of('b:sms')).toMatchObject({ lanes: '*' });
    noticeRestore.mockRejectedValueOnce(new Error('down'));
    await watch.refresh();
    expect(watch.of('b:sms')).toMatchObject({ lanes: '*' });
    expect(index).not.toHaveBeenCalled();
    await watch.refresh();
    expect(watch.of('b:sms')).toBeUndefined();
    index.mockRejectedValue(new Error('down'));
    await watch.refresh();
    await watch.refresh();
    expect(watch.of('a:sms')).toMatchObject({ lanes: 'a:*' });
    expect(warn.mock.calls).toEqual([['holds not read: Error'], ['holds not read: Error']]);
    expect(noticeRestore).toHaveBeenCalledTimes(2);
  });

  it('a change of this process counts, though a read that began before it ends later', async () => {
    const noticeRestore = jest.fn(() => Promise.resolve(false));
    let end = (): void => undefined;
    const before = new Promise<void>((resolve) => (end = resolve));
    const index = jest
      .fn<() => Promise<HoldIndex>>()
      .mockResolvedValue(indexOf('a:*'))
      .mockImplementationOnce(() => before.then(() => indexOf()));
    const watch = new HoldWatch({ noticeRestore, index });
    const periodic = watch.refresh();
    const own = watch.follow();
    end();
    await Promise.all([periodic, own]);
    expect(watch.of('a:sms')).toMatchObject({ lanes: 'a:*' });
  });

  it('a process that sends nothing reads no holds', async () => {
    const index = jest.fn(() => Promise.resolve(indexOf('a:*')));
    await new HoldWatch({ noticeRestore: () => Promise.resolve(false), index }).follow();
    expect(index).not.toHaveBeenCalled();
  });
});

describe('HoldIndex', () => {
  const LANES = ['a:sms', 'a:vas', 'b:vas', 'a:b:vas', 'aa:sms', 'bulk'];

  it.each([
    ['*', LANES],
    ['a:*', ['a:sms', 'a:vas']],
    ['*:vas', ['a:vas', 'b:vas', 'a:b:vas']],
    ['a:sms', ['a:sms']],
    ['bulk', ['bulk']],
  ])('%s holds exactly its lanes', (lanes, held) => {
    const index = indexOf(lanes);
    expect(LANES.filter((lane) => index.of(lane))).toEqual(held);
  });
});
