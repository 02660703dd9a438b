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
  it('are added by carrier and country to the last digit, each currency apart', () => {
    const rows = [
      row({}),
      row({ accountId: 'acc_b', price: '0.000001', cost: '5.000002' }),
      row({ costCurrency: 'USD', cost: '0.01' }),
      row({ costCurrency: null, cost: '0.00', price: '900.00' }),
      row({ currency: 'GHS', costCurrency: 'GHS', price: '0.00' }),
    ];
    const groups = marginGroups(rows, ({ carrier, country }) => `${carrier} ${country}`);
    expect(
      groups.map((group) => [
        group.first.currency,
        group.first.costCurrency,
        group.messages,
        marginOf(group),
        marginShare(group),
      ]),
    ).toEqual([
      ['GHS', 'GHS', 1, -3_000_000n, '–'],
      ['NGN', null, 1, undefined, '–'],
      ['NGN', 'NGN', 2, -3_500_001n, '-77.8%'],
      ['NGN', 'USD', 1, undefined, '–'],
    ]);
  });
});
