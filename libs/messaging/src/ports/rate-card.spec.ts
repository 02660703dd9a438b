import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MessagingConfigError } from '../message/errors.js';
import { registryOf } from '../channels/built-in-channels.js';
import { type PriceList, rateCardOf, times } from './rate-card.js';

const item = { tenant: '', channel: 'whatsapp', category: 'marketing', recipient: null } as const;

describe('a rate card', () => {
  it('a rate card gives known prices only', async () => {
    const card = rateCardOf('rateCard', {
      currency: 'NGN',
      sms: '4',
      whatsapp: { marketing: '51.60' },
    });
    expect(await card.price(item)).toEqual({ amount: '51.60', currency: 'NGN' });
    expect(await card.price({ ...item, category: 'utility' })).toBeUndefined();
    expect(await card.price({ ...item, channel: 'sms', category: null })).toEqual({
      amount: '4',
      currency: 'NGN',
    });
    expect(await rateCardOf('rateCard', undefined).price(item)).toBeUndefined();
  });

  it.each<[object, string]>([
    [{ currency: 'naira' }, 'rateCard.currency'],
    [{ currency: 'NGN', sms: '4,5' }, 'rateCard.sms'],
    [{ currency: 'NGN', whatsapp: { marketing: '-1' } }, 'rateCard.whatsapp.marketing'],
    [{ currency: 'NGN', whatsapp: { spam: '1' } }, 'rateCard.whatsapp.spam'],
  ])('the rate card %j is refused at boot', (list, field) => {
    const read = () => rateCardOf('rateCard', list as PriceList, registryOf());
    expect(read).toThrow(MessagingConfigError);
    expect(read).toThrow(field);
  });

  it('prices are multiplied exactly', () => {
    const digits = fc.nat({ max: 999_999 });
    fc.assert(
      fc.property(digits, digits, fc.nat({ max: 9 }), fc.nat({ max: 10 }), (a, b, zeros, count) => {
        const fraction = `${'0'.repeat(zeros)}${b}`.slice(0, 12);
        const { amount } = times({ amount: `${a}.${fraction}`, currency: 'NGN' }, count);
        const [whole = '', rest = ''] = amount.split('.');
        expect(rest).toHaveLength(fraction.length);
        expect(BigInt(whole + rest)).toBe(BigInt(`${a}${fraction}`) * BigInt(count));
      }),
    );
    expect(times({ amount: '4', currency: 'NGN' }, 3)).toEqual({ amount: '12', currency: 'NGN' });
  });
});
