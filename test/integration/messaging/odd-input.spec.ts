import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  MessagingError,
  MessagingModule,
  type ReportFilter,
  simulator,
  SmsService,
} from '@dundun/messaging';
import { describeOneDatabase } from '../../support/databases.js';

const NUL = 'a\0b';
const LONE = '\ud800';
const NOWHERE = '01993021-0000-7000-8000-000000000000';
const cursorOf = (text: string): string => Buffer.from(text).toString('base64url');
/** Texts that some database takes for no text, no number, no id, or for SQL. */
const ODD = [
  '',
  NUL,
  LONE,
  "'; DROP TABLE x; --",
  '-'.repeat(36),
  '9'.repeat(20),
  'x'.repeat(100_000),
];
const CURSORS = [...ODD, ...ODD.map(cursorOf), cursorOf('9'.repeat(15)), cursorOf(NOWHERE)];
const DATES = [new Date(Number.NaN), new Date(-1), new Date(8.64e15)];

describeOneDatabase('odd input', (database) => {
  let app: TestingModule;
  let sms: SmsService;
  let sent: string;

  beforeAll(async () => {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator(),
          dispatch: { enabled: false },
          callbackPath: false,
        }),
      ],
    }).compile();
    await app.init();
    sms = app.get(SmsService);
    sent = (await sms.send({ from: 'ACME', to: '2348012345678', body: 'Hello' })).id;
  });
  afterAll(() => app.close());

  /** `tame`: an answer, or an error of ours that names a field or an id; never a driver's. */
  async function outcome(asked: string, call: () => Promise<unknown>): Promise<string> {
    const error = await call().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error === undefined || error instanceof MessagingError) return 'tame';
    return `${asked}: ${String(error)}`;
  }

  it.each([
    ['a batch’s id', (odd: string) => sms.batch(odd)],
    ['a batch to cancel', (odd: string) => sms.cancel(odd)],
    ['a batch whose recipients are wanted', (odd: string) => sms.recipients(odd)],
    ['a message’s id', (odd: string) => sms.timeline(odd)],
    ['a message’s place', (odd: string) => sms.timeline(`${sent}-${odd}`)],
    ['a tenant', (odd: string) => sms.batches({ tenant: odd })],
    ['a tenant that sends', (odd: string) => sms.send(message, { tenant: odd })],
    ['an idempotency key', (odd: string) => sms.send(message, { idempotencyKey: odd })],
    ['a sender', (odd: string) => sms.send({ ...message, from: odd })],
    ['a recipient', (odd: string) => sms.send({ ...message, to: [odd] })],
    ['a text', (odd: string) => sms.send({ ...message, body: odd })],
    ['a reported batch', (odd: string) => sms.reports({ batchIds: [odd] })],
    ['a reported key', (odd: string) => sms.reports({ idempotencyKey: odd })],
    ['a reported number', (odd: string) => sms.reports({ to: odd })],
    ['a reported status', (odd: string) => sms.reports({ status: odd } as unknown as ReportFilter)],
  ])('%s is accepted or refused by name', async (what, ask) => {
    for (const odd of ODD)
      expect(await outcome(`${what} ${JSON.stringify(odd).slice(0, 40)}`, () => ask(odd))).toBe(
        'tame',
      );
  });

  it.each([
    ['of batches', (cursor: string) => sms.batches({ cursor })],
    ['of messages', (cursor: string) => sms.messages(sent, { cursor })],
    ['of reports', (cursor: string) => sms.reports({ cursor })],
  ])('a foreign cursor %s is refused or ends the list', async (what, ask) => {
    for (const cursor of CURSORS)
      expect(
        await outcome(`${what} ${JSON.stringify(cursor).slice(0, 40)}`, () => ask(cursor)),
      ).toBe('tame');
  });

  it("a date outside every database's range is refused by name", async () => {
    for (const date of DATES) {
      const refusals = [
        [sms.send({ ...message, sendAt: date }), 'sendAt'],
        [sms.reschedule(sent, date), 'sendAt'],
        [sms.reports({ since: date }), 'since'],
      ] as const;
      for (const [refusal, path] of refusals)
        await expect(refusal).rejects.toMatchObject({
          code: 'invalid_field',
          fields: [{ path, message: 'must be a valid date' }],
        });
    }
  });
});

const message = { from: 'ACME', to: '2348012345678', body: 'Hello' };
