import { describe, expect, it } from '@jest/globals';
import { chargeOf, rateOf, readRates, reservationOf, writeRates } from './batch-rates.js';
import { chargeStateOf } from './charge-state.js';

const rate = (prefix: string, amount: bigint, billing: string | null = null) => ({
  rate: { channel: 'sms', prefix, category: null, price: '', amount, billing },
  recipients: 1,
});

describe('the rates of a batch', () => {
  const written = writeRates([rate('234', 4_500_000n), rate('*', 9_500_000n), rate('23480', 4n)]);

  it('are written as text and read again', () => {
    expect(written).toBe('234:4500000;*:9500000;23480:4');
    expect(readRates(written).map(({ prefix }) => prefix)).toEqual(['234', '*', '23480']);
    expect(readRates('')).toEqual([]);
    expect(readRates(writeRates([rate('*', 15_000_000n, '60/6')]))).toEqual([
      { prefix: '*', amount: 15_000_000n, billing: '60/6' },
    ]);
  });

  it.each([
    ['2348012345678', '23480'],
    ['2347012345678', '234'],
    ['447700900123', '*'],
    ['ada@example.com', '*'],
  ])('%s has the rate of %s', (recipient, prefix) => {
    expect(rateOf(readRates(written), recipient)?.prefix).toBe(prefix);
  });

  it('an erased recipient has a rate where the batch has one alone', () => {
    expect(rateOf(readRates(written), '')).toBeUndefined();
    expect(rateOf(readRates('234:5'), '')?.amount).toBe(5n);
  });

  it('a call reserves its first block and is charged by started blocks', () => {
    const [call] = readRates('*:15000000:60/6');
    expect(reservationOf(call!, 1)).toBe(15_000_000n);
    expect(chargeOf(call!, 1, 61)).toBe(16_500_000n);
    expect(chargeOf(call!, 1, 0)).toBe(0n);
    expect(chargeOf(call!, 1, undefined)).toBe(15_000_000n);
    expect(chargeOf(readRates('*:1:1/1')[0]!, 1, 20)).toBe(0n);
  });
});

describe('the charge of a message', () => {
  const of = (status: string, channel = 'sms', sequence = 2) => ({ status, channel, sequence });

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
