import { afterEach, beforeEach, expect, it } from '@jest/globals';
import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
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

@Injectable()
class Changes {
  readonly changes: MessageStatusChanged[] = [];

  @OnEvent(MESSAGE_STATUS_CHANGED)
  changed(change: MessageStatusChanged): void {
    this.changes.push(change);
  }
}

describeOneDatabase('a cancel of messages that the SMSC has', (database) => {
  let smsc: Smsc;
  let app: TestingModule;
  let sms: SmsService;
  let changes: MessageStatusChanged[];
  let used = 0;

  const started = async (enabled = true): Promise<TestingModule> => {
    const made = await Test.createTestingModule({
      providers: [Changes],
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        EventEmitterModule.forRoot(),
        MessagingModule.forRoot({
          providers: { smsc: smpp({ url: smsc.url, reconnect: 50, connectTimeout: 300 }) },
          dispatch: { backoff: 20, enabled },
          callbackPath: false,
        }),
      ],
    }).compile();
    made.useLogger(false);
    return made.init();
  };
  const start = async (): Promise<void> => {
    app = await started();
    sms = app.get(SmsService);
    ({ changes } = app.get(Changes));
  };
  beforeEach(async () => {
    smsc = await Smsc.start();
    await start();
  });
  afterEach(async () => {
    await app.close();
    await smsc.stop();
  });

  const numbers = (count: number): string[] =>
    Array.from({ length: count }, () => String(2348033000000 + used++));
  const send = async (to: readonly string[], more = {}): Promise<string> =>
    (await sms.send({ from: 'ACME', to, body: 'Hello', ...more })).id;
  const expectCounts = (id: string, wanted: object) =>
    eventually(async () => expect((await sms.batch(id)).counts).toEqual(wanted));
  const idsCancelled = (): string[] => smsc.cancelled.map(({ messageId }) => messageId).toSorted();
  const idsSubmitted = (): string[] => smsc.submitted.map(({ id }) => id).toSorted();

  it('a cancel stops queued messages and sends cancel_sm for the others, whose answer is their status', async () => {
    smsc.answer = () => (smsc.submitted.length < 5 ? 0 : COMMAND_STATUS.ESME_RTHROTTLED);
    const id = await send(numbers(20));
    await expectCounts(id, { sent: 5, queued: 15 });
    const { status, counts } = await sms.cancel(id);
    expect({ status, counts }).toEqual({ status: 'cancelled', counts: { sent: 5, cancelled: 15 } });
    await expectCounts(id, { failed: 5, cancelled: 15 });
    expect(idsCancelled()).toEqual(idsSubmitted());
    const failed = () => changes.filter((change) => change.status === 'failed');
    // Listeners are called after the commit.
    await eventually(async () => expect(failed()).toHaveLength(5));
    for (const change of failed()) expect(change).toMatchObject({ errorCode: 'cancelled' });
  });

  it('a message that the SMSC refuses to delete goes on, and gets no second cancel_sm', async () => {
    const id = await send(numbers(3));
    await expectCounts(id, { sent: 3 });
    const [first, second, third] = smsc.submitted as [Submitted, Submitted, Submitted];
    smsc.cancels = ({ messageId }) =>
      messageId === second.id ? 0 : COMMAND_STATUS.ESME_RCANCELFAIL;
    await smsc.receipt(first, 'delivered');
    await expect(sms.cancel(id)).rejects.toMatchObject({ code: 'already_sent' });
    await expectCounts(id, { delivered: 1, failed: 1, sent: 1 });
    await smsc.receipt(third, 'delivered');
    await smsc.receipt(second, 'deleted');
    await expectCounts(id, { delivered: 2, failed: 1 });
    expect(idsCancelled()).toEqual([second.id, third.id].toSorted());
  });

  it('a cancel of a tag sends cancel_sm for the messages of all its batches', async () => {
    const tagged = await send(numbers(2), { tags: ['sale'] });
    const other = await send(numbers(2));
    await expectCounts(tagged, { sent: 2 });
    await expectCounts(other, { sent: 2 });
    expect(await sms.cancel({ tag: 'sale' })).toEqual({ batches: 0, messages: 0 });
    await expectCounts(tagged, { failed: 2 });
    expect((await sms.batch(other)).counts).toEqual({ sent: 2 });
  });

  it('a sending process carries out the cancel of a process that only accepts', async () => {
    const id = await send(numbers(2));
    await expectCounts(id, { sent: 2 });
    const web = await started(false);
    await expect(web.get(SmsService).cancel(id)).rejects.toMatchObject({ code: 'already_sent' });
    await web.close();
    await expectCounts(id, { failed: 2 });
    expect(smsc.sessions).toHaveLength(1);
  });

  it('a cancel request survives its process and an outage of the SMSC', async () => {
    const id = await send(numbers(2));
    await expectCounts(id, { sent: 2 });
    await smsc.stop();
    await expect(sms.cancel(id)).rejects.toMatchObject({ code: 'already_sent' });
    await app.close();
    await start();
    await smsc.listen();
    await expectCounts(id, { failed: 2 });
    expect(idsCancelled()).toEqual(idsSubmitted());
  });
});
