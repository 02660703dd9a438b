import { describe, expect, it } from '@jest/globals';
import { boundsOf, monthOf, MonthTotals } from './month-totals.js';

const of = (country: string, spender: string | null = 'api_token') => {
  return { accountId: 'a', channel: 'sms', country, spender };
};

describe('the totals of a month', () => {
  it('are summed by country and credential, and what is given back in full is left out', () => {
    const totals = new MonthTotals();
    totals.add(of('NG'), { messages: 1, parts: 2, amount: 9n });
    totals.add(of('NG'), { messages: 1, parts: 1, amount: 4n });
    totals.add(of('NG', null), { messages: 1, parts: 1, amount: 4n });
    totals.add(of('GB'), { messages: 1, parts: 1, amount: 12n });
    totals.add(of('GB'), { messages: -1, parts: -1, amount: -12n });
    expect(totals.all).toEqual([
      { ...of('NG'), messages: 2, parts: 3, amount: 13n },
      { ...of('NG', null), messages: 1, parts: 1, amount: 4n },
    ]);
  });

  it('a month is one of UTC, from its first moment to that of the next', () => {
    const [start, end] = boundsOf('2026-12') ?? [];
    expect([start, end]).toEqual([Date.UTC(2026, 11, 1), Date.UTC(2027, 0, 1)]);
    expect([monthOf(Number(start)), monthOf(Number(end) - 1)]).toEqual(['2026-12', '2026-12']);
    expect(['2026-13', '2026-1', '26-01', ''].map((one) => boundsOf(one))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
