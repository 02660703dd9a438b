import { describe, expect, it } from '@jest/globals';
import type { MarginRow } from '../portal-api.js';
import { marginGroups, marginOf, marginShare } from './margins.js';

const row = (more: Partial<MarginRow>): MarginRow => ({
  accountId: 'acc_a',
  accountName: 'Acme',
  channel: 'sms',
  carrier: 'near',
  country: 'NG',
  messages: 1,
  parts: 1,
  currency: 'NGN',
  price: '4.50',
  costCurrency: 'NGN',
  cost: '3.00',
  ...more,
});

describe('margins', () => {
  it('are added by carrier and country to the last digit, each currency of a price apart', () => {
    const rows = [
      row({}),
      row({ accountId: 'acc_b', price: '0.000001', cost: '5.000002' }),
      row({ costCurrency: 'USD', cost: '0.01' }),
      row({ costCurrency: null, cost: '0.00', price: '900.00', messages: 7 }),
      row({ currency: 'GHS', costCurrency: 'GHS', price: '0.00' }),
    ];
    const groups = marginGroups(rows, ({ carrier, country }) => `${carrier} ${country}`);
    expect(
      groups.map((group) => {
        const { first, messages, price, costs, unknown } = group;
        const margin = [group.compared.messages, marginOf(group), marginShare(group)];
        return [first.currency, messages, price, [...costs], unknown, margin];
      }),
    ).toEqual([
      ['GHS', 1, 0n, [['GHS', 3_000_000n]], 0, [1, -3_000_000n, '–']],
      [
        'NGN',
        10,
        909_000_001n,
        [
          ['NGN', 8_000_002n],
          ['USD', 10_000n],
        ],
        7,
        [2, -3_500_001n, '-77.8%'],
      ],
    ]);
    const [unknown] = marginGroups([row({ costCurrency: null })], () => '');
    expect([marginOf(unknown!), marginShare(unknown!)]).toEqual([undefined, '–']);
  });
});
