import { expect, it } from '@jest/globals';
import type { AcceptedBatch } from './charge.store.js';
import { RecentBatches } from './recent-batches.js';

function batch(n: number): AcceptedBatch {
  return {
    batch: `b-${n}`,
    accountId: 'a',
    channel: 'sms',
    chargeAt: 'sent',
    units: 1,
    currency: 'NGN',
    messages: 1,
    rates: '*:4500000',
    reserved: 4_500_000n,
    spender: null,
    acceptedAt: n,
  };
}

it('the last ten thousand batches are remembered, and at most twice as many', () => {
  const recent = new RecentBatches();
  for (let n = 0; n < 45_000; n++) recent.add(batch(n));
  const known = Array.from({ length: 45_000 }, (_, n) => recent.get(`b-${n}`)?.acceptedAt === n);
  expect(known.slice(-10_000)).not.toContain(false);
  expect(known.filter(Boolean).length).toBeLessThanOrEqual(20_000);
});

it('a forgotten batch is not remembered, in whichever half it is; another addition is', () => {
  const recent = new RecentBatches();
  for (let n = 0; n < 15_000; n++) recent.add(batch(n));
  for (const n of [1, 14_000]) {
    expect(recent.get(`b-${n}`)).toBeDefined();
    recent.forget(`b-${n}`);
    expect(recent.get(`b-${n}`)).toBeUndefined();
  }
  recent.add({ ...batch(1), chargeAt: 'delivered' });
  expect(recent.get('b-1')?.chargeAt).toBe('delivered');
});

it('batches that were accepted together share what they keep, others do not', () => {
  const recent = new RecentBatches();
  recent.add(batch(1));
  recent.add({ ...batch(1), batch: 'b-2' });
  recent.add({ ...batch(1), batch: 'b-3', units: 2 });
  recent.add({ ...batch(1), batch: 'b-4', accountId: 'other', rates: '*:1' });
  recent.add({ ...batch(1), batch: 'b-5', units: 2 });
  expect(recent.get('b-2')).toBe(recent.get('b-1'));
  expect(recent.get('b-5')).toBe(recent.get('b-3'));
  expect(recent.get('b-3')).toEqual({ ...recent.get('b-1'), units: 2 });
  expect(recent.get('b-4')?.accountId).toBe('other');
});
