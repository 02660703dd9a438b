import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { ContactsService, MessageValidationError, PolicyService } from '@dundun/messaging';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { bootApp } from './policy-app.js';

describeEachDatabase('contacts as CSV', (database) => {
  let app: TestingModule;
  let contacts: ContactsService;

  beforeAll(async () => {
    app = await bootApp(database.options());
    contacts = app.get(ContactsService);
  });
  afterAll(() => app.close());

  it('an exported CSV imports again and contains no formula', async () => {
    const at = new Date('2026-01-02T03:04:05.678Z');
    await contacts.upsert(
      [
        { phone: '2348012345678', platform: 'NG.1', name: '=HYPERLINK("http://evil","x")' },
        { phone: '2348012345679', name: 'Ọlá, "the\nfirst"' },
        { platform: '@NG.3', name: '+1' },
      ],
      { tenant: 'from' },
    );
    await contacts.optIn('2348012345678', {
      channel: 'whatsapp',
      source: '-2+3',
      at,
      tenant: 'from',
    });
    await contacts.optOut('2348012345679', {
      channel: 'sms',
      source: 'keyword',
      at,
      tenant: 'from',
    });
    const csv = await text(contacts.exportCsv({ tenant: 'from' }));
    for (const cell of csv.split(/[,\n]/)) expect(cell).not.toMatch(/^"?[=+@\t\r-]/);

    const source = Readable.from(Buffer.from(csv));
    expect(await contacts.importCsv(source, { tenant: 'to' })).toEqual({
      imported: 3,
      failed: 0,
      errors: [],
    });
    const [from, to] = await Promise.all(
      ['from', 'to'].map(async (tenant) =>
        (await contacts.list({ tenant })).data.map(({ phone, platform, name, consents }) => ({
          phone,
          platform,
          name,
          consents,
        })),
      ),
    );
    expect(to).toEqual(from);
    expect(to).toHaveLength(3);
  });

  it('a bad CSV row is reported with its line, and other rows are imported', async () => {
    const tenant = 'rows';
    await contacts.upsert([{ phone: '2348012345001' }, { platform: 'NG.taken' }], { tenant });
    const csv = [
      '\uFEFFPhone,bsuid,whatsapp,whatsapp_at',
      '2348012345670,,opted_in,2026-01-01T00:00:00Z',
      'nobody,,,',
      ',,,',
      '2348012345671,,maybe,',
      '2348012345672,,opted_in,yesterday',
      '2348012345001,a b,,',
      '2348012345673,,,,one,too,many',
      '+234 801 234 5674,NG.4,,',
    ].join('\r\n');
    const result = await contacts.importCsv([csv], { tenant });
    expect(result).toMatchObject({ imported: 2, failed: 6 });
    expect(result.errors.map(({ line, path }) => [line, path])).toEqual(
      expect.arrayContaining([
        [3, 'phone'],
        [4, 'row'],
        [5, 'whatsapp'],
        [6, 'whatsapp_at'],
        [7, 'platform'],
        [8, 'row'],
      ]),
    );
    expect(await contacts.find('2348012345670', { tenant })).toMatchObject({
      consents: { whatsapp: { state: 'opted_in', source: 'import' } },
    });
    expect(await contacts.find('2348012345674', { tenant })).toMatchObject({ platform: 'NG.4' });
    expect(await contacts.find('2348012345670')).toBeUndefined();
  });

  it('a repeated import of a file undoes neither a STOP nor an erasure', async () => {
    const tenant = 'again';
    const [stopped, erased, silent] = ['2348012345680', '2348012345690', '2348012345700'];
    const csv = ['phone,sms', ...[stopped, erased, silent].map((phone) => `${phone},opted_in`)];
    const said = { channel: 'sms', source: 'keyword', tenant } as const;
    const refusing = async () => {
      const content = { kind: 'text', text: 'Hello' } as const;
      const to = [stopped, erased, silent];
      const explained = await app
        .get(PolicyService)
        .explain({ channel: 'sms', tenant, from: 'ACME', to, content });
      return explained
        .filter(({ decisions }) => decisions.some(({ decision }) => decision === 'deny'))
        .map(({ recipient }) => recipient.value);
    };
    await contacts.importCsv([csv.join('\n')], { tenant });
    expect(await refusing()).toEqual([]);
    await contacts.optOut([stopped, erased], said);
    await contacts.erase(erased, { tenant });
    const before = Date.now();
    await eventually(async () => expect(Date.now()).toBeGreaterThan(before));
    expect(await contacts.importCsv([csv.join('\n')], { tenant })).toMatchObject({ imported: 3 });
    expect(await refusing()).toEqual([stopped, erased]);
    // An opt-in with a time is a new one.
    const now = new Date().toISOString();
    await contacts.importCsv([`phone,sms,sms_at\n${stopped},opted_in,${now}`], { tenant });
    expect(await refusing()).toEqual([erased]);
  });

  it('an opt-in without a time does not overrule a refusal of the same person', async () => {
    const [first, second] = ['2348012345710', '2348012345720'];
    const rows = [
      `${first},opted_out,2026-01-02T03:04:05Z`,
      `${first},opted_in,`,
      `${second},opted_in,`,
      `${second},opted_out,2026-01-02T03:04:05Z`,
    ];
    await contacts.importCsv([['phone,sms,sms_at', ...rows].join('\n')], { tenant: 'two' });
    const { data } = await contacts.list({ tenant: 'two' });
    expect(data.map(({ consents }) => consents.sms?.state)).toEqual(['opted_out', 'opted_out']);
  });

  it("consent given during an import is newer than the file's", async () => {
    const [tenant, phone] = ['meanwhile', '2348012345730'];
    async function* file() {
      yield 'phone,sms,sms_at\n';
      const began = Date.now();
      await eventually(async () => expect(Date.now()).toBeGreaterThan(began));
      await contacts.optIn(phone, { channel: 'sms', source: 'web form', tenant });
      yield `${phone},opted_out,2026-01-02T03:04:05Z\n`;
    }
    await contacts.importCsv(file(), { tenant });
    expect((await contacts.find(phone, { tenant }))?.consents.sms?.state).toBe('opted_in');
  });

  it.each([
    ['', 'header'],
    ['name\nAde\n', 'must name phone, email or platform'],
    ['phone,credit_card\n1,2\n', 'credit_card'],
    ['phone,phone\n1,2\n', 'twice'],
    [`phone,name\n2348012345675,"${'x'.repeat(100_000)}"\n`, 'longer than 65536'],
    ['phone,name\n2348012345675,"x"y\n', 'line 2'],
  ])('%#: an unreadable CSV file is refused and stores nothing', async (csv, told) => {
    const wrong = contacts.importCsv(Readable.from([csv]), { tenant: 'none' });
    await expect(wrong).rejects.toBeInstanceOf(MessageValidationError);
    await expect(wrong).rejects.toThrow(told);
    expect((await contacts.list({ tenant: 'none' })).data).toEqual([]);
  });

  it('a large CSV is imported in pieces and a source error is reported', async () => {
    const tenant = 'many';
    async function* rows(count: number, end?: Error) {
      yield 'phone\n';
      for (let n = 0; n < count; n++) yield `${2_348_020_000_000 + n}\n`;
      if (end) throw end;
    }
    expect(await contacts.importCsv(rows(2_345), { tenant })).toMatchObject({ imported: 2_345 });
    const csv = await text(contacts.exportCsv({ tenant }));
    expect(csv.trimEnd().split('\n')).toHaveLength(2_346);
    await expect(
      contacts.importCsv(rows(10, new Error('the upload broke')), { tenant }),
    ).rejects.toThrow('the upload broke');
  });
});
