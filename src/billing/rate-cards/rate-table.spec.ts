import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { amountText, readAmount } from '../money.js';
import { OTHERS, type Rate, RateTable } from './rate-table.js';

function rate(channel: string, prefix: string, price: string, more: Partial<Rate> = {}): Rate {
  const amount = readAmount(price) ?? -1n;
  return { channel, prefix, category: null, price, amount, billing: null, ...more };
}

const prefixes = fc.oneof(
  fc.constant(OTHERS),
  fc.stringMatching(/^[1-3]{1,5}$/),
  fc.stringMatching(/^234[0-9]{0,4}$/),
);
const numbers = fc.oneof(
  fc.stringMatching(/^[1-3]{1,9}$/),
  fc.stringMatching(/^234[0-9]{4,10}$/),
  fc.constantFrom('platform:23', 'a@b.example', ''),
);
const cards = fc.uniqueArray(prefixes, { maxLength: 40 }).chain((list) =>
  fc.tuple(
    ...list.map((prefix) =>
      fc.bigInt({ min: 0n, max: 10n ** 9n }).map((amount) => ({
        ...rate('sms', prefix, amountText(amount)),
        amount,
      })),
    ),
  ),
);

/** The rule in words: of all prefixes that a number starts with the longest, else `*`. */
function longest(rates: readonly Rate[], number: string): Rate | undefined {
  const fitting = rates.filter(({ prefix }) => prefix === OTHERS || number.startsWith(prefix));
  const lengthOf = ({ prefix }: Rate) => (prefix === OTHERS ? 0 : prefix.length);
  return fitting.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0];
}

describe('RateTable', () => {
  it('the longest prefix of a number is found among any rates', () => {
    fc.assert(
      fc.property(cards, fc.array(numbers), (rates, list) => {
        const table = new RateTable(rates);
        for (const number of list)
          expect(table.find('sms', null, number)).toBe(longest(rates, number));
      }),
    );
  });

  it('the groups of a batch have each of its recipients with its price', () => {
    fc.assert(
      fc.property(cards, fc.array(numbers), (rates, recipients) => {
        const table = new RateTable(rates);
        const found = table.price('sms', null, recipients);
        // A batch leaves nothing behind for the next one.
        expect(table.price('sms', null, recipients)).toEqual(found);
        const each = recipients.map((number) => longest(rates, number));
        expect(found.unpriced).toBe(each.indexOf(undefined));
        expect(found.amount).toBe(each.reduce((sum, one) => sum + (one?.amount ?? 0n), 0n));
        const counted = new Map<Rate, number>();
        for (const one of each) if (one) counted.set(one, (counted.get(one) ?? 0) + 1);
        expect(new Map(found.groups.map(({ rate: one, recipients: n }) => [one, n]))).toEqual(
          counted,
        );
        expect(found.groups.map(({ rate: one }) => one)).toEqual([...counted.keys()]);
      }),
    );
  });

  it('channels and categories have prices of their own', () => {
    const utility = rate('whatsapp', '234', '6.7', { category: 'utility' });
    const marketing = rate('whatsapp', '234', '51.6', { category: 'marketing' });
    const call = rate('voice', OTHERS, '15', { billing: '6/6' });
    const table = new RateTable([utility, marketing, call]);
    expect(table.find('whatsapp', 'utility', '2348012345678')).toBe(utility);
    expect(table.find('whatsapp', 'marketing', '2348012345678')).toBe(marketing);
    expect(table.find('whatsapp', 'service', '2348012345678')).toBeUndefined();
    expect(table.find('whatsapp', 'utility', null)).toBeUndefined();
    expect(table.find('voice', null, null)).toBe(call);
    expect(table.find('sms', null, '2348012345678')).toBeUndefined();
    expect(['whatsapp', 'voice', 'sms'].map((name) => table.hasRatesOf(name))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('a batch on a channel without prices has its first recipient without one', () => {
    const none = { groups: [], amount: 0n };
    const table = new RateTable([]);
    expect(table.price('sms', null, ['2348012345678'])).toEqual({ ...none, unpriced: 0 });
    expect(table.price('sms', null, [])).toEqual({ ...none, unpriced: -1 });
  });
});
