import { describe, expect, it } from '@jest/globals';
import {
  BatchRates,
  chargeOf,
  reportedChargeOf,
  reservationOf,
  writeRates,
} from './batch-rates.js';
import { chargeStateOf } from './charge-state.js';
import { reportedAfter, reportedBy } from './reported-price.js';

const rate = (prefix: string, amount: bigint, billing: string | null = null) => ({
  rate: { channel: 'sms', prefix, category: null, price: '', amount, billing },
  recipients: 1,
});

describe('the rates of a batch', () => {
  const written = writeRates([rate('234', 4_500_000n), rate('*', 9_500_000n), rate('23480', 4n)]);

  it('are written as text and read again', () => {
    expect(written).toBe('234:4500000;*:9500000;23480:4');
    expect(new BatchRates('').of('2348012345678')).toBeUndefined();
    expect(new BatchRates(writeRates([rate('*', 15_000_000n, '60/6')])).of('1')).toEqual({
      prefix: '*',
      amount: 15_000_000n,
      billing: '60/6',
    });
  });

  it('those of other categories count where the platform reports one', () => {
    const marketing = rate('234', 9n).rate;
    const text = writeRates([rate('234', 5n)], new Map([['marketing', marketing]]));
    expect(text).toBe('234:5;234:9::marketing');
    const rates = new BatchRates(text);
    const own = rates.of('2348012345678')!;
    const of = (reported: string) => reportedChargeOf(rates, own, reported, 1);
    expect([own.amount, of('marketing'), of('utility'), of('free')]).toEqual([5n, 9n, 5n, 0n]);
  });

  it('a report that a message is billed counts, before or after one that it is free', () => {
    const [billed, free, silent] = [
      reportedBy({ billable: 1, category: 'marketing' }),
      reportedBy({ billable: 0, category: 'service' }),
      reportedBy({ category: 'utility' }),
    ];
    expect([billed, free, silent]).toEqual(['marketing', 'free', null]);
    for (const order of [
      [billed, free, silent],
      [silent, free, billed],
      [free, billed, free],
    ])
      expect(order.reduce<string | null>(reportedAfter, null)).toBe('marketing');
    expect(reportedAfter(free, silent)).toBe('free');
  });

  it.each([
    ['2348012345678', '23480'],
    ['2347012345678', '234'],
    ['447700900123', '*'],
    ['ada@example.com', '*'],
  ])('%s has the rate of %s', (recipient, prefix) => {
    expect(new BatchRates(written).of(recipient)?.prefix).toBe(prefix);
  });

  it('an erased recipient has a rate where the batch has one alone', () => {
    expect(new BatchRates(written).of('')).toBeUndefined();
    expect(new BatchRates('234:5').of('')?.amount).toBe(5n);
  });

  it('a call reserves its first block and is charged by started blocks', () => {
    const call = new BatchRates('*:15000000:60/6').of('1')!;
    expect(reservationOf(call, 1)).toBe(15_000_000n);
    expect(chargeOf(call, 1, 61)).toBe(16_500_000n);
    expect(chargeOf(call, 1, 0)).toBe(0n);
    expect(chargeOf(call, 1, undefined)).toBe(15_000_000n);
    expect(chargeOf(new BatchRates('*:1:1/1').of('1')!, 1, 20)).toBe(0n);
  });
});

describe('the charge of a message', () => {
  const of = (status: string, channel = 'sms', statuses = 2) => ({ status, channel, statuses });

  it.each([
    ['queued', 'open', 'open'],
    ['unknown', 'open', 'open'],
    ['sent', 'charged', 'open'],
    ['delivered', 'charged', 'charged'],
    ['read', 'charged', 'charged'],
    ['undelivered', 'charged', 'released'],
    ['bounced', 'charged', 'released'],
    ['expired', 'charged', 'released'],
    ['rejected', 'released', 'released'],
    ['failed', 'released', 'released'],
    ['cancelled', 'released', 'released'],
  ] as const)(
    'that is %s is %s where it is charged when sent, else %s',
    (status, sent, delivered) => {
      expect(chargeStateOf(of(status), 'sent')).toBe(sent);
      expect(chargeStateOf(of(status), 'delivered')).toBe(delivered);
    },
  );

  it('that expired before a carrier had it is released', () => {
    expect(chargeStateOf(of('expired', 'sms', 1), 'sent')).toBe('released');
  });

  it.each([
    ['voice', 'initiated', 'open'],
    ['voice', 'answered', 'open'],
    ['voice', 'completed', 'charged'],
    ['voice', 'busy', 'released'],
    ['vas', 'processing', 'open'],
    ['vas', 'delivered', 'charged'],
    ['vas', 'reversed', 'released'],
  ] as const)('on %s that is %s is %s', (channel, status, state) => {
    expect(chargeStateOf(of(status, channel), 'sent')).toBe(state);
  });
});
