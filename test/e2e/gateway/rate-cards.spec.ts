import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import {
  type NewVersion,
  RateImports,
} from '../../../src/billing/rate-cards/rate-imports.service.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

const HOUR = 3_600_000;
const HEADER = 'channel,prefix,category,price,billing\n';
const nothing = () => Promise.resolve();

describeEachDatabase('rate cards of the gateway', (db) => {
  let gateway: TestGateway;
  let other: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    const settings = { DATABASE_URL: db.url, SMS_PRICES: 'NGN *=9.5', VOICE_PRICE: 'NGN 15 6/6' };
    gateway = await new TestGateway(settings).start();
    other = await new TestGateway(settings).start();
    account = await gateway.account();
  });
  afterAll(async () => {
    await other.destroy();
    await gateway.destroy();
  });

  const importing = (rows: string, version: NewVersion, of = gateway) =>
    of.running.app.get(RateImports, { strict: false }).import(HEADER + rows, version, nothing);
  const cardsOf = (of = gateway) => of.running.app.get(RateCards, { strict: false });
  const priceOf = (card: string, number: string, of = gateway) =>
    cardsOf(of).inForce(card)?.rates.find('sms', null, number)?.price;
  const estimated = async (of = gateway) =>
    (
      await of.call('POST', '/ng/v1/sms/estimate', {
        token: account.apiToken,
        body: { body: 'x'.repeat(161) },
      })
    ).body;

  it('until a version of the default card is imported, the variables give its prices', async () => {
    const cards = await cardsOf().list();
    // The demo account pays by a card of its own.
    expect(cards.filter(({ card }) => card !== 'demo')).toEqual([
      { id: null, card: 'default', currency: 'NGN', startsAt: null, rates: 2, state: 'in force' },
    ]);
    expect(await estimated()).toMatchObject({ parts: 2, cost: 19, currency: 'NGN' });
    const call = await gateway.call('POST', '/ng/v1/voice/calls/estimate', {
      token: account.apiToken,
      body: { code: '4821' },
    });
    expect(call.body).toMatchObject({ currency: 'NGN', billed_seconds: expect.any(Number) });
  });

  it('an imported version is in force in every process within seconds, and only whole', async () => {
    const made = await importing('sms,*,,4.5,\nsms,234,,4.25,\nsms,234803,,4.000001,', {
      card: 'default',
      currency: 'NGN',
    });
    expect(made).toMatchObject({ card: 'default', rates: 3 });
    for (const one of [gateway, other])
      await eventually(async () => {
        expect(cardsOf(one).inForce('default')).toMatchObject({ id: made.id, size: 3 });
      });
    const prices = ['2348031234567', '2348012345678', '447700900123'].map((number) =>
      priceOf('default', number, other),
    );
    expect(prices).toEqual(['4.000001', '4.25', '4.50']);
    expect(await estimated(other)).toMatchObject({ cost: 9, currency: 'NGN' });
    const [ofVariables, imported] = await cardsOf().list();
    expect([ofVariables?.state, imported?.state]).toEqual(['former', 'in force']);
  });

  it('a file with a wrong line changes nothing', async () => {
    const before = await cardsOf().list();
    const import_ = importing('sms,233,,1,\nfax,233,,1,\nsms,0,,1,', {
      card: 'wrong',
      currency: 'NGN',
    });
    await expect(import_).rejects.toMatchObject({
      code: 'invalid_field',
      details: [{ path: 'line 3' }, { path: 'line 4' }],
    });
    expect(await cardsOf().list()).toEqual(before);
    expect(cardsOf().currencyOf('wrong')).toBeUndefined();
  });

  it('a later version waits for its start, and of two with one start the last one counts', async () => {
    const from = new Date(Date.now() + HOUR);
    const [first, second] = [
      await importing('sms,*,,7,', { card: 'later', currency: 'USD', from }),
      await importing('sms,*,,8,', { card: 'later', currency: 'USD', from }),
    ];
    await eventually(async () => {
      expect(cardsOf(other).currencyOf('later')).toBe('USD');
    });
    expect(cardsOf(other).inForce('later')).toBeUndefined();
    const now = await importing('sms,*,,6,', { card: 'later', currency: 'USD' });
    await eventually(async () => {
      expect(cardsOf(other).inForce('later')?.id).toBe(now.id);
    });
    const listed = (await cardsOf().list()).filter(({ card }) => card === 'later');
    expect(listed.map(({ id, state }) => [id, state])).toEqual([
      [now.id, 'in force'],
      [first.id, 'later'],
      [second.id, 'later'],
    ]);
  });

  it('an import with a wrong card, currency or start is refused by name', async () => {
    const given = (version: Partial<NewVersion>) =>
      importing('sms,*,,7,', { card: 'default', currency: 'NGN', ...version });
    const wrong = (...paths: string[]) => ({
      code: 'invalid_field',
      details: paths.map((path) => expect.objectContaining({ path })),
    });
    await expect(given({ currency: 'USD' })).rejects.toMatchObject(wrong('currency'));
    await expect(given({ currency: 'naira' })).rejects.toMatchObject(wrong('currency'));
    await expect(given({ card: 'Default card' })).rejects.toMatchObject(wrong('card'));
    const past = { from: new Date(Date.now() - HOUR), card: '' };
    await expect(given(past)).rejects.toMatchObject(wrong('card', 'from'));
  });

  it('a card of many pages is read whole', async () => {
    const rows = Array.from({ length: 12_001 }, (_, n) => `sms,${100_000 + n},,${n}.5,`);
    const made = await importing(rows.join('\n'), { card: 'large', currency: 'NGN' });
    expect(made.rates).toBe(12_001);
    await eventually(async () => {
      expect(cardsOf(other).inForce('large')?.size).toBe(12_001);
    });
    for (const n of [0, 4_999, 5_000, 12_000])
      expect(priceOf('large', `${100_000 + n}1234`, other)).toBe(`${n}.50`);
    expect(priceOf('large', '991234567', other)).toBeUndefined();
  });
});
