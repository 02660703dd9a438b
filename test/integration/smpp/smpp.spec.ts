import { afterEach, beforeEach, expect, it } from '@jest/globals';
import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  MessagingService,
  SmsService,
} from '@dundun/messaging';
import { smpp } from '@dundun/messaging/smpp';
import { COMMAND_STATUS } from '@dundun/smpp';
import { Injectable } from '@nestjs/common';
import { EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Smsc, type Submitted } from '../../support/smpp/smsc.js';

let used = 0;
/** Unused numbers. */
const numbers = (count: number): string[] =>
  Array.from({ length: count }, () => String(2348012000000 + used++));

@Injectable()
class Changes {
  readonly changes: string[] = [];

  @OnEvent(MESSAGE_STATUS_CHANGED)
  changed({ recipient, status }: MessageStatusChanged): void {
    this.changes.push(`${recipient} ${status}`);
  }
}

describeOneDatabase('messages to an SMSC', (database) => {
  let smsc: Smsc;
  let app: TestingModule;
  let sms: SmsService;
  let changes: string[];

  beforeEach(async () => {
    smsc = await Smsc.start();
    app = await Test.createTestingModule({
      providers: [Changes],
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        EventEmitterModule.forRoot(),
        MessagingModule.forRoot({
          providers: { smsc: smpp({ url: smsc.url, window: 10, reconnect: 50 }) },
          // A message that a refusal uses a try of fails at once.
          dispatch: { backoff: 20, maxAttempts: 1 },
          callbackPath: false,
        }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
    sms = app.get(SmsService);
    ({ changes } = app.get(Changes));
    await bound();
  });
  afterEach(async () => {
    await app.close();
    await smsc.stop();
  });

  const bound = () => eventually(async () => expect(smsc.sessions).toHaveLength(1));
  const send = async (to: readonly string[], body = 'Hello'): Promise<string> =>
    (await sms.send({ from: 'ACME', to, body })).id;
  const counts = async (id: string) => (await sms.batch(id)).counts;
  const expectCounts = (id: string, wanted: object) =>
    eventually(async () => expect(await counts(id)).toEqual(wanted));
  const numbersSubmitted = (): string[] =>
    smsc.submitted.map(({ pdu }) => pdu.destination.address).toSorted();

  it('every message is submitted once, and delivered by its receipt', async () => {
    smsc.delivers = true;
    const to = numbers(100);
    const id = await send(to);
    await expectCounts(id, { delivered: 100 });
    expect(numbersSubmitted()).toEqual(to);
    expect(smsc.texts).toEqual(Array.from({ length: 100 }, () => 'Hello'));
  });

  it('receipts of an SMSC that waits for their answers before it answers the submits deliver the messages', async () => {
    smsc.holds = async () => {
      for (const own of smsc.submitted.slice(-1)) await smsc.receipt(own, 'delivered');
    };
    const id = await send(numbers(20));
    await expectCounts(id, { delivered: 20 });
    const long = await send(numbers(1), 'a'.repeat(400));
    await expectCounts(long, { delivered: 1 });
  });

  it('ten submits without an answer on a killed link are not sent again, and their receipts settle them', async () => {
    let lost = 10;
    smsc.answer = () => (lost-- > 0 ? 'no answer' : 0);
    const to = numbers(25);
    const id = await send(to);
    await eventually(async () => expect(smsc.submitted).toHaveLength(10));
    const first = [...smsc.submitted];
    smsc.sessions[0]?.close();
    await expectCounts(id, { unknown: 10, sent: 15 });
    expect(numbersSubmitted()).toEqual(to);
    for (const each of first) expect(await smsc.receipt(each, 'delivered')).toBe(0);
    await expectCounts(id, { delivered: 10, sent: 15 });
  });

  it('throttled messages are not lost, use no attempts, and leave when the SMSC takes them', async () => {
    let throttled = 5;
    smsc.answer = () => (throttled-- > 0 ? COMMAND_STATUS.ESME_RTHROTTLED : 0);
    const to = numbers(20);
    const id = await send(to);
    // The lane's own pause is over with the next answer; that of the provider lasts for its time.
    await eventually(async () => {
      const [provider] = await app.get(MessagingService).providers();
      expect(provider?.pauseReason).toBe('throttled');
    });
    await expectCounts(id, { sent: 20 });
    expect(numbersSubmitted()).toEqual(to);
  });

  it('a message that is throttled three times backs off while others leave, and leaves later', async () => {
    const to = numbers(20);
    const [first] = to;
    let isThrottled = true;
    let tries = 0;
    smsc.answer = ({ destination }) => {
      if (destination.address !== first) return 0;
      tries++;
      return isThrottled ? COMMAND_STATUS.ESME_RTHROTTLED : 0;
    };
    const id = await send(to);
    await expectCounts(id, { sent: 19, queued: 1 });
    expect(tries).toBeGreaterThanOrEqual(3);
    isThrottled = false;
    await expectCounts(id, { sent: 20 });
    expect(numbersSubmitted()).toEqual(to);
  });

  it('while the SMSC throttles, one message at a time is tried, and then a whole window', async () => {
    let [tries, turn] = [0, 0];
    const turns: number[] = [];
    smsc.answer = () => {
      if (tries++ >= 13) return 0;
      turns.push(turn);
      setImmediate(() => turn++);
      return COMMAND_STATUS.ESME_RTHROTTLED;
    };
    const to = numbers(40);
    const id = await send(to);
    await expectCounts(id, { sent: 40 });
    // Those of the first window are refused together, the others in turns of the event loop of their own.
    const single = turns.slice(10);
    expect(new Set(single).size).toBe(3);
    expect(numbersSubmitted()).toEqual(to);
  });

  it('messages wait while the SMSC is unreachable, and leave when it is back', async () => {
    await smsc.stop();
    const to = numbers(20);
    const id = await send(to);
    await eventually(async () => {
      const [lane] = await app.get(MessagingService).lanes();
      expect(lane?.pauseReason).toBe('unreachable');
    });
    await expectCounts(id, { queued: 20 });
    await smsc.listen();
    await expectCounts(id, { sent: 20 });
    expect(numbersSubmitted()).toEqual(to);
  });

  it('a refused bind is shown before any message is sent, until the SMSC accepts a bind', async () => {
    const providers = () => app.get(MessagingService).providers();
    smsc.bindStatus = COMMAND_STATUS.ESME_RINVPASWD;
    smsc.sessions[0]?.close();
    await eventually(async () =>
      expect(await providers()).toMatchObject([
        { name: 'smsc', state: 'probing', pauseReason: 'unauthorized' },
      ]),
    );
    smsc.bindStatus = COMMAND_STATUS.ESME_ROK;
    await eventually(async () =>
      expect(await providers()).toMatchObject([{ state: 'up', pauseReason: null }]),
    );
    const [to = ''] = numbers(1);
    await expectCounts(await send([to]), { sent: 1 });
  });

  it('a receipt that precedes its answer, on another bind, three times, is one change', async () => {
    let release = (): void => undefined;
    smsc.holds = () => new Promise<void>((resolve) => (release = resolve));
    const [to = ''] = numbers(1);
    const id = await send([to]);
    await eventually(async () => expect(smsc.submitted).toHaveLength(1));
    const [submitted] = smsc.submitted as [Submitted];
    const early = smsc.receipt(submitted, 'delivered');
    release();
    expect(await early).toBe(0);
    await expectCounts(id, { delivered: 1 });
    smsc.sessions[0]?.close();
    await eventually(async () => expect(smsc.sessions).toHaveLength(1));
    for (let n = 0; n < 2; n++) expect(await smsc.receipt(submitted, 'delivered')).toBe(0);
    expect(changes.filter((change) => change === `${to} delivered`)).toHaveLength(1);
  });

  it('a long text arrives whole, and is delivered when its parts are', async () => {
    const text = `${'Grüße [€] '.repeat(40)}end`;
    const id = await send(numbers(1), text);
    await expectCounts(id, { sent: 1 });
    expect(smsc.texts).toEqual([text]);
    const parts = [...smsc.submitted];
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts.slice(1)) await smsc.receipt(part, 'delivered');
    expect(await counts(id)).toEqual({ sent: 1 });
    await smsc.receipt(parts[0] as Submitted, 'delivered');
    await expectCounts(id, { delivered: 1 });
  });
});
