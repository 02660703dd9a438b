import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  ContactsService,
  MessageValidationError,
  MessagingModule,
  NotificationService,
  PolicyService,
  simulator,
  SmsService,
  VasService,
  VerificationService,
  VoiceService,
  WhatsAppService,
} from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { describeOneDatabase } from '../../support/databases.js';

const OURS = '2348000000001';

/** Numbers as people write them, and as they are dialled from abroad. */
const WRITTEN = [
  ['+44 (0)20 7946 0958', '442079460958'],
  ['+234 0801 234 5678', '2348012345678'],
  ['4402079460958', '442079460958'],
] as const;

/** No country code, an address of another kind, an extension, and a mark of the direction of text. */
const REFUSED = [
  '0044 20 7946 0958',
  'tel:+442079460958',
  '+44 20 7946 0958 ext. 5',
  '\u200e+442079460958',
];

type Entry = readonly [what: string, enter: (number: string) => Promise<unknown>];

describeOneDatabase('numbers as people write them', (database) => {
  let app: TestingModule;
  let contacts: ContactsService;
  let tenant: string;
  let next = 0;

  beforeAll(async () => {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator(),
          dispatch: { enabled: false },
          whatsapp: { templates: 'open', from: OURS },
          verification: { countries: ['GB', 'NG'] },
          erasure: { keys: [Buffer.alloc(32, 7).toString('base64')] },
          callbackPath: false,
        }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
    contacts = app.get(ContactsService);
  });
  afterAll(() => app.close());

  const begin = async () => {
    tenant = `t${++next}`;
    await app
      .get(VasService)
      .allow({ currency: 'NGN', daily: '1000', perNumber: '500' }, { tenant });
  };
  const optIn = (number: string) =>
    contacts.optIn(number, { tenant, channel: 'whatsapp', source: 'test' });

  const SENDS: readonly Entry[] = [
    ['an SMS', (to) => app.get(SmsService).send({ from: 'ACME', to, body: 'Hi' }, { tenant })],
    [
      'an SMS with variables',
      (to) =>
        app
          .get(SmsService)
          .send(
            { from: 'ACME', to: [{ to, variables: { name: 'A' } }], body: '{{name}}' },
            { tenant },
          ),
    ],
    [
      'a WhatsApp template',
      (to) =>
        app
          .get(WhatsAppService)
          .sendTemplate({ to, template: 'hello', language: 'en' }, { tenant }),
    ],
    ['a call', (to) => app.get(VoiceService).send({ from: OURS, to, text: 'Hi' }, { tenant })],
    [
      'an order',
      (to) =>
        app
          .get(VasService)
          .order({ to, product: 'airtime-ng', amount: '100', clientReference: tenant }, { tenant }),
    ],
    [
      'a one-time code',
      (to) => app.get(VerificationService).start({ to, channel: 'sms', from: 'ACME' }, { tenant }),
    ],
    [
      'a notification',
      (phone) =>
        app
          .get(NotificationService)
          .send({ via: ['sms'], sms: { from: 'ACME', body: 'Hi' } }, { phone }, { tenant }),
    ],
  ];

  it.each(SENDS)(
    '%s goes to the number without the zero that is dialled at home',
    async (what, send) => {
      for (const [written, number] of WRITTEN) {
        await begin();
        if (what.includes('WhatsApp')) await optIn(written);
        await send(written);
        const { data } = await app.get(MessageHistory).messages({ tenants: [tenant], to: written });
        expect(data.map(({ recipient }) => recipient)).toEqual([number]);
      }
    },
  );

  const PEOPLE: readonly Entry[] = [
    ['a contact', (phone) => contacts.upsert({ phone }, { tenant })],
    ['a consent', optIn],
    [
      'an inbound message',
      (number) => contacts.recordInbound(number, { sender: OURS }, { tenant }),
    ],
    ['a row of a file', (phone) => contacts.importCsv([`phone\n${phone}`], { tenant })],
    [
      'a member of a group',
      async (phone) => {
        const { id } = await contacts.groups.create('Friends', { tenant });
        await contacts.groups.add(id, [{ phone }], { tenant });
      },
    ],
  ];

  it.each(PEOPLE)(
    '%s has the number without the zero that is dialled at home',
    async (_what, enter) => {
      for (const [written, number] of WRITTEN) {
        await begin();
        await enter(written);
        const { data } = await contacts.list({ tenant });
        expect(data).toMatchObject([{ addresses: [{ kind: 'phone', value: number }] }]);
        expect(await contacts.find(written, { tenant })).toMatchObject({ phone: number });
      }
    },
  );

  it('a suppression, a question to the policies and an erasure are about the number without that zero', async () => {
    for (const [written, number] of WRITTEN) {
      await begin();
      await contacts.suppress(written, { tenant, reason: 'manual' });
      expect((await contacts.suppressions({ tenant })).data).toMatchObject([
        { address: { value: number } },
      ]);
      const content = { kind: 'text', text: 'Hi' } as const;
      const explained = await app
        .get(PolicyService)
        .explain({ channel: 'sms', tenant, from: 'ACME', to: [written], content });
      expect(explained).toMatchObject([{ recipient: { value: number } }]);
      await contacts.unsuppress(written, { tenant });
      const sms = app.get(SmsService);
      const { id } = await sms.send({ from: 'ACME', to: number, body: 'Hi' }, { tenant });
      expect(await contacts.erase(written, { tenant })).toMatchObject({ messages: 1 });
      expect((await sms.recipients(id, { tenant })).data).toEqual(['']);
    }
  });

  it.each([...SENDS, ...PEOPLE])(
    '%s names the form of a number that it refuses',
    async (what, enter) => {
      for (const written of REFUSED) {
        await begin();
        const result = await enter(written).catch((error: unknown) => error);
        const errors =
          result instanceof MessageValidationError
            ? result.fields
            : (result as { readonly errors?: unknown } | undefined)?.errors;
        expect([what, written, errors]).toEqual([
          what,
          written,
          [expect.objectContaining({ message: expect.stringContaining('with country code') })],
        ]);
      }
    },
  );
});
