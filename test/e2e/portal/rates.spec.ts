import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import type {
  FoundRateRow,
  ImportedRates,
  Listed,
  NewRates,
  RateComparison,
  RatePreview,
  RateVersionRow,
} from '../../../src/portal/portal-api.js';
import { RateEntity } from '../../../src/billing/rate-cards/rate-cards.tables.js';
import { AuditEntity } from '../../../src/portal/portal.tables.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type PortalClient, signedIn } from './portal-client.js';

const HEADER = 'channel,prefix,category,price,billing\n';

describeEachDatabase('the rate cards of the portal', (database) => {
  let gateway: TestGateway;
  let operator: PortalClient;

  beforeAll(async () => {
    gateway = new TestGateway({ DATABASE_URL: database.url, SMS_PRICES: 'NGN *=9.5 234=4.5' });
    await gateway.start();
    operator = await signedIn(gateway, 'operator');
  });
  afterAll(() => gateway.destroy());

  const file = (rows: string, more: Partial<NewRates> = {}): NewRates => ({
    csv: HEADER + rows,
    card: 'default',
    currency: 'NGN',
    ...more,
  });
  const preview = (rates: NewRates) => operator.ok<RatePreview>('POST', 'rates/preview', rates);
  const stored = (rates: NewRates) => operator.ok<ImportedRates>('POST', 'rates', rates);
  const source = () => gateway.running.app.get<DataSource>(getDataSourceToken(), { strict: false });
  const rows = () => source().getRepository(RateEntity).count();

  it('a preview names what changes and stores nothing; the import that follows it is audited', async () => {
    const before = await rows();
    const asked = file('sms,*,,9.50,\nsms,234,,4.250001,\nsms,44,,12,\nvoice,234,,15,60/60\n');
    const shown = await preview(asked);
    expect(shown).toMatchObject({ follows: 'variables', rates: 4, same: 1, until: null });
    expect(shown.changed).toEqual({
      count: 1,
      rows: [
        {
          channel: 'sms',
          category: null,
          prefix: '234',
          price: '4.250001',
          billing: null,
          formerPrice: '4.5',
          formerBilling: null,
        },
      ],
    });
    expect(shown.added.rows.map(({ channel, prefix }) => [channel, prefix])).toEqual([
      ['sms', '44'],
      ['voice', '234'],
    ]);
    expect(shown.removed).toEqual({ count: 0, rows: [] });
    expect(await rows()).toBe(before);

    const { version } = await stored({ ...asked, follows: shown.follows });
    expect(await rows()).toBe(before + 4);
    const { data } = await operator.ok<Listed<RateVersionRow>>('GET', 'rates');
    expect(data.filter(({ card }) => card === 'default')).toMatchObject([
      { id: 'variables', state: 'former', startsAt: null, rates: 2 },
      { id: version, state: 'in force', currency: 'NGN', rates: 4 },
    ]);
    const entries = await source().getRepository(AuditEntity).findBy({ action: 'rates.imported' });
    expect(entries).toMatchObject([{ target: 'default', accountId: null }]);
    expect(entries[0]?.userId).not.toBeNull();
  });

  it('an import after a preview is refused once another version was imported', async () => {
    const asked = file('sms,*,,8,\n');
    const { follows } = await preview(asked);
    await stored(file('sms,*,,7,\n'));
    const before = await rows();
    expect(await operator.call('POST', 'rates', { body: { ...asked, follows } })).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'follows' }] } },
    });
    expect(await rows()).toBe(before);
    const again = await preview(asked);
    await stored({ ...asked, follows: again.follows });
  });

  it('each wrong line is named with its number and remedy, and changes nothing', async () => {
    const before = await rows();
    const wrong = file('sms,234,,free,\nsms,233,,1,\nfax,234,,1,\nsms,0234,,1,\n');
    for (const path of ['rates/preview', 'rates']) {
      const { status, body } = await operator.call('POST', path, { body: wrong });
      expect([status, body]).toMatchObject([
        422,
        {
          error: {
            code: 'invalid_field',
            fields: [
              { path: 'line 2', message: expect.stringContaining('such as 4.5') },
              { path: 'line 4', message: expect.stringContaining('channel must be') },
              { path: 'line 5', message: expect.stringContaining('prefix must be') },
            ],
          },
        },
      ]);
    }
    for (const [field, given] of [
      ['card', { card: 'Not a card' }],
      ['currency', { currency: 'ngn' }],
      ['currency', { currency: 'USD' }],
      ['from', { from: 'tomorrow' }],
      ['from', { from: '2020-01-01' }],
    ] as const)
      expect(
        await operator.call('POST', 'rates/preview', { body: file('sms,*,,1,\n', given) }),
      ).toMatchObject({ status: 422, body: { error: { fields: [{ path: field }] } } });
    expect(await rows()).toBe(before);
  });

  it('a number is found in the version in force and in later ones, on each channel', async () => {
    const card = 'partner';
    await stored(
      file(
        'sms,*,,20,\nsms,234,,4,\nsms,234803,,3,\nwhatsapp,*,utility,6,\nwhatsapp,*,service,0,\n',
        {
          card,
        },
      ),
    );
    const later = file('sms,*,,21,\nemail,*,,1,\n', { card, from: '2150-01-01' });
    const { until } = await preview(file('sms,*,,1,\n', { card }));
    expect(until).toBeNull();
    await stored(later);
    expect(await preview(file('sms,*,,1,\n', { card }))).toMatchObject({
      until: '2150-01-01T00:00:00.000Z',
    });
    await eventually(async () => {
      const { data } = await operator.ok<Listed<FoundRateRow>>(
        'GET',
        `rates/find?card=${card}&number=2348031234567`,
      );
      expect(
        data.map(({ channel, category, prefix, price, startsAt }) => {
          return [channel, category, prefix, price, startsAt?.slice(0, 4) === '2150'];
        }),
      ).toEqual([
        ['sms', null, '234803', '3.00', false],
        ['whatsapp', 'utility', '*', '6.00', false],
        ['whatsapp', 'service', '*', '0.00', false],
        ['sms', null, '*', '21.00', true],
      ]);
    });
    for (const [query, status] of [
      [`card=${card}&number=0803`, 422],
      ['card=nobody&number=2348031234567', 404],
    ] as const)
      expect(await operator.call('GET', `rates/find?${query}`)).toMatchObject({ status });
  });

  it('any two versions are compared, and an unknown one is answered 404', async () => {
    const { data } = await operator.ok<Listed<RateVersionRow>>('GET', 'rates');
    const [first, second] = data.filter(({ card }) => card === 'partner');
    const found = await operator.ok<RateComparison>(
      'GET',
      `rates/compare?before=${first?.id}&after=${second?.id}`,
    );
    expect(found).toMatchObject({
      currency: 'NGN',
      formerCurrency: 'NGN',
      same: 0,
      added: { count: 1, rows: [{ channel: 'email' }] },
      removed: { count: 4 },
      changed: { count: 1, rows: [{ price: '21.00', formerPrice: '20.00' }] },
    });
    const former = data.find(({ card, state }) => card === 'default' && state === 'former');
    expect(
      await operator.ok('GET', `rates/compare?before=variables&after=${former?.id}`),
    ).toMatchObject({ same: expect.any(Number) });
    expect(
      await operator.call('GET', `rates/compare?before=variables&after=nothing`),
    ).toMatchObject({ status: 404 });
  });
});
