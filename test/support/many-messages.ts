import {
  ContactsService,
  EmailService,
  MessagingService,
  SmsService,
  VoiceService,
  WhatsAppService,
} from '@dundun/messaging';
import type { INestApplicationContext } from '@nestjs/common';
import { eventually } from './eventually.js';

/** Prefixes of Nigeria, Kenya, Ghana and the United Kingdom, to which five digits are added. */
const PREFIXES = ['23480123', '25471234', '23324123', '4474001'];

const numbers = (count: number, first: number): string[] =>
  // Their last four digits decide what the simulator does: some fail, one answers.
  Array.from({ length: count }, (_, n) => `${PREFIXES[n % PREFIXES.length]}${49_700 + first + n}`);

const SENDERS = ['ACME', 'ACMENEWS', 'AcmeAlerts'];

/** Sends about 3,000 messages over SMS, WhatsApp, email and voice, and waits until they have left. */
export async function sendThousands(app: INestApplicationContext, tenant: string): Promise<void> {
  const part = <T>(type: abstract new (...given: never[]) => T): T =>
    app.get(type, { strict: false });
  const options = { tenant };
  const sms = part(SmsService);
  for (const [n, count] of [600, 400, 600, 350, 250].entries())
    await sms.send(
      {
        from: SENDERS[n % SENDERS.length]!,
        to: numbers(count, n * 37),
        body: 'Your order is on its way. Track it at acme.test/orders, or answer to this message.',
        tags: n % 2 === 0 ? ['orders', 'a-rather-long-tag-of-a-campaign-in-spring-2026'] : ['news'],
      },
      options,
    );
  for (let n = 0; n < 40; n++)
    await sms.send({ from: 'ACME', to: numbers(1, 40 * n), body: `Code ${n}` }, options);
  const people = numbers(200, 0).map((phone) => ({ phone }));
  await part(ContactsService).upsert(people, options);
  await part(ContactsService).optIn(
    people.map(({ phone }) => phone),
    { ...options, channel: 'whatsapp', source: 'web form' },
  );
  const template = {
    template: 'order_update',
    language: 'en',
    params: ['Ada', '1001'],
    category: 'utility',
  } as const;
  for (const { phone: to } of people)
    await part(WhatsAppService).sendTemplate({ ...template, to }, options);
  const email = part(EmailService);
  for (let n = 0; n < 200; n++)
    await email.send(
      {
        from: 'Acme Orders <hello@demo.test>',
        to: n % 9 === 0 ? `bounced${n}@example.com` : `customer.with.a.long.name.${n}@example.com`,
        subject: `Order ${1_000 + n} is on its way, and what to do when nobody is at home`,
        text: 'It left our warehouse this morning.',
        tags: ['orders'],
      },
      options,
    );
  await part(VoiceService).send(
    { from: '2348000000001', to: numbers(150, 0), text: 'Your order is at the door' },
    options,
  );
  const messaging = part(MessagingService);
  await eventually(async () => {
    const busy = (await messaging.lanes()).filter(({ waiting }) => waiting > 0);
    if (busy.length > 0) throw new Error(`${busy.length} lanes are at work`);
  }, 240_000);
}
