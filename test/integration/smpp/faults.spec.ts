import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { MessagingModule, SmsService } from '@dundun/messaging';
import { smpp } from '@dundun/messaging/smpp';
import { encodePdu, type SmppSession } from '@dundun/smpp';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Relay } from '../../support/relay.js';
import { Smsc } from '../../support/smpp/smsc.js';

const WINDOW = 10;
/** Longest PDU that the client takes, nearly. */
const LONG = 70_000;

const deliverSm = (): Buffer =>
  encodePdu({
    command: 'deliver_sm',
    sequence: 900,
    source: { ton: 1, npi: 1, address: '2348012345678' },
    destination: { ton: 3, npi: 0, address: '20880' },
    shortMessage: Buffer.from('Hello'),
  });

/** A PDU that announces more bytes than it has. */
function cutOff(length: number): Buffer {
  const bytes = deliverSm().subarray(0, 30);
  bytes.writeUInt32BE(length, 0);
  return bytes;
}

/** The length is right, the body has fewer bytes than `sm_length` says. */
function truncatedBody(): Buffer {
  const bytes = deliverSm();
  const short = bytes.subarray(0, bytes.length - 3);
  short.writeUInt32BE(short.length, 0);
  return short;
}

/** Each ends the link: the client cannot find the next PDU. */
const ENDING: readonly (readonly [string, Buffer])[] = [
  ['a length below that of a header', Buffer.from('0000000c00000005', 'hex')],
  ['a length above the longest PDU', Buffer.from('7fffffff00000005', 'hex')],
  ['bytes that are no SMPP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  [
    'a PDU that is cut off, and others after it',
    Buffer.concat([
      cutOff(200),
      ...Array.from({ length: 20 }, () => encodePdu({ command: 'enquire_link', sequence: 1 })),
    ]),
  ],
  ['a PDU that is cut off, with nothing but answers after it', cutOff(LONG)],
];

describeOneDatabase('an SMSC with faults', (database) => {
  let smsc: Smsc;
  let relay: Relay;
  let app: TestingModule;
  let sms: SmsService;
  let used = 0;

  beforeEach(async () => {
    smsc = await Smsc.start();
    relay = await Relay.start(smsc.url);
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        MessagingModule.forRoot({
          providers: {
            smsc: smpp({
              url: relay.url,
              window: WINDOW,
              reconnect: 50,
              enquireLink: 200,
              answerTimeout: '3s',
            }),
          },
          dispatch: { backoff: 20, maxAttempts: 1 },
          callbackPath: false,
        }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
    sms = app.get(SmsService);
    await bound();
  });
  afterEach(async () => {
    await app.close();
    await relay.stop();
    await smsc.stop();
  });

  const bound = () => eventually(async () => expect(smsc.sessions).toHaveLength(1));
  const numbers = (count: number): string[] =>
    Array.from({ length: count }, () => String(2348022000000 + used++));
  const send = async (to: readonly string[]): Promise<string> =>
    (await sms.send({ from: 'ACME', to, body: 'Hello' })).id;
  const expectCounts = (id: string, wanted: object) =>
    eventually(async () => expect((await sms.batch(id)).counts).toEqual(wanted));
  const numbersSubmitted = (): string[] =>
    smsc.submitted.map(({ pdu }) => pdu.destination.address).toSorted();
  /** The bind after `former`; a silent one stays open at the SMSC. */
  const nextBind = async (former: SmppSession): Promise<SmppSession> => {
    let next: SmppSession | undefined;
    await eventually(async () => {
      next = smsc.sessions.findLast((session) => session !== former && session.isBound);
      expect(next).toBeDefined();
    });
    return next as SmppSession;
  };
  /** The SMSC takes this many submits, and its answers do not come. */
  const withoutAnswers = (count: number): void => {
    let left = count;
    smsc.answer = () => (left-- > 0 ? 'no answer' : 0);
  };
  const deliver = async (count: number, on: SmppSession): Promise<void> => {
    for (const each of smsc.submitted.slice(0, count))
      expect(await smsc.receipt(each, 'delivered', { on })).toBe(0);
  };

  it.each(ENDING)(
    'after %s submits in flight are `unknown`, others leave once by a new bind, and receipts settle all',
    async (_fault, bytes) => {
      withoutAnswers(WINDOW);
      const to = numbers(25);
      const id = await send(to);
      await eventually(async () => expect(smsc.submitted).toHaveLength(WINDOW));
      const [former] = smsc.sessions as [SmppSession];
      relay.inject(bytes);
      const next = await nextBind(former);
      await expectCounts(id, { unknown: WINDOW, sent: 15 });
      expect(numbersSubmitted()).toEqual(to);
      await deliver(25, next);
      await expectCounts(id, { delivered: 25 });
      expect(numbersSubmitted()).toEqual(to);
    },
  );

  it.each([
    ['a truncated body', truncatedBody()],
    ['an unknown command', Buffer.from('00000010000009990000000000000058', 'hex')],
    ['an answer to nothing', Buffer.from('00000010800000040000000000ffff01', 'hex')],
  ])('%s leaves the bind and the submits in flight alone', async (_fault, bytes) => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    smsc.holds = () => released;
    const to = numbers(25);
    const id = await send(to);
    await eventually(async () => expect(smsc.submitted).toHaveLength(WINDOW));
    const [former] = smsc.sessions as [SmppSession];
    relay.inject(bytes);
    release();
    await expectCounts(id, { sent: 25 });
    expect(numbersSubmitted()).toEqual(to);
    expect(smsc.sessions).toEqual([former]);
  });

  it('a silent SMSC with a full window is disconnected, and its messages are submitted once', async () => {
    withoutAnswers(WINDOW);
    const to = numbers(25);
    const id = await send(to);
    await eventually(async () => expect(smsc.submitted).toHaveLength(WINDOW));
    const [former] = smsc.sessions as [SmppSession];
    relay.lose();
    const next = await nextBind(former);
    await expectCounts(id, { unknown: WINDOW, sent: 15 });
    expect(numbersSubmitted()).toEqual(to);
    await deliver(25, next);
    await expectCounts(id, { delivered: 25 });
  });

  it.each<[string, () => void]>([
    ['a silent SMSC', () => relay.lose()],
    [
      'an SMSC whose answers are the rest of a PDU that is cut off',
      () => relay.inject(cutOff(LONG)),
    ],
  ])(
    '%s is disconnected after `enquire_link` where the window has places',
    async (_fault, begin) => {
      withoutAnswers(4);
      const first = numbers(4);
      const id = await send(first);
      await eventually(async () => expect(smsc.submitted).toHaveLength(4));
      const [former] = smsc.sessions as [SmppSession];
      begin();
      const next = await nextBind(former);
      await expectCounts(id, { unknown: 4 });
      const second = numbers(15);
      const later = await send(second);
      await expectCounts(later, { sent: 15 });
      expect(numbersSubmitted()).toEqual([...first, ...second]);
      await deliver(4, next);
      await expectCounts(id, { delivered: 4 });
    },
  );
});
