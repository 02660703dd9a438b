import { randomBytes } from 'node:crypto';
import {
  BATCH_COMPLETED,
  type BatchCompleted,
  ContactsService,
  MESSAGE_STATUS_CHANGED,
  MESSAGING_STATUS_LISTENER,
  type MessageStatusChanged,
  MessagingModule,
  PolicyError,
  simulator,
  type StatusListener,
  VoiceService,
} from '@dundun/messaging';
import { AlreadySentError } from '@dundun/messaging/operations';
import {
  type DeliveryReport,
  type MessageTransport,
  type Submission,
  type SubmissionAccepted,
  UncertainFailure,
} from '@dundun/messaging/ports';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

const FROM = '2348000000001';
const TO = '2348012345678';

/** Statuses that follow the answer of the carrier, or its loss. */
const ENDS_OF_TRIES: ReadonlySet<string> = new Set(['initiated', 'unknown']);

/** A carrier without idempotency keys that dials when it is told to, and reports by hand. */
class ManualCarrier implements MessageTransport {
  readonly name = 'carrier';
  readonly capabilities = { maxRecipients: 1, idempotencyWindow: 0, channels: ['voice'] };
  readonly dials: Submission[] = [];
  losesAnswers = false;

  async submit(submission: Submission): Promise<SubmissionAccepted> {
    this.dials.push(submission);
    if (this.losesAnswers) throw new UncertainFailure('answer_lost', 'No answer came');
    const id = `call-${submission.id}`;
    return { reference: id, messageIds: [id] };
  }

  of(batchId: string): Submission[] {
    return this.dials.filter((one) => one.batchId === batchId);
  }
}

class Events implements StatusListener {
  readonly seen: MessageStatusChanged[] = [];

  async onStatusChanged(): Promise<void> {}

  readonly completed: string[] = [];

  @OnEvent(BATCH_COMPLETED)
  onCompleted({ batchId }: BatchCompleted): void {
    this.completed.push(batchId);
  }

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onChange(change: MessageStatusChanged): void {
    this.seen.push(change);
  }
}

@Module({ providers: [Events, { provide: MESSAGING_STATUS_LISTENER, useExisting: Events }] })
class EventsModule {}

describeOneDatabase('voice', (database) => {
  let app: TestingModule;
  let voice: VoiceService;
  let carrier: ManualCarrier;

  beforeAll(async () => {
    carrier = new ManualCarrier();
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        EventsModule,
        MessagingModule.forRoot({
          transport: () => carrier,
          dispatch: { backoff: 1 },
          store: { retention: { content: 0 } },
          erasure: { keys: [randomBytes(32).toString('base64')] },
          rateCard: { currency: 'NGN', voice: '15.00' },
          policy: { quietHours: { from: '00:00', to: '23:59', timeZones: zonesOf } },
          callbackPath: false,
        }),
      ],
    }).compile();
    await app.init();
    voice = app.get(VoiceService);
  });
  afterAll(() => app.close());

  const eventsOf = (id: string) =>
    app
      .get(Events)
      .seen.filter((one) => one.batchId === id && one.sequence > 0)
      .map(({ event, status, sequence }) => [sequence, event ?? null, status]);
  const dialled = (id: string, times: number) =>
    eventually(async () => {
      expect(carrier.of(id)).toHaveLength(times);
      expect((await voice.batch(id)).status).toBe('completed');
      // The event of a try may follow its status, and precedes those of the reports.
      const tries = app
        .get(Events)
        .seen.filter((one) => one.batchId === id && !one.event && ENDS_OF_TRIES.has(one.status));
      expect(tries).toHaveLength(times);
    });
  const hear = (id: string, n: number, changes: Partial<DeliveryReport>) =>
    app.get(MessageStore).reports.record(
      [
        {
          reference: `call-${id}-s${n}`,
          messageId: null,
          recipient: TO,
          status: null,
          rawStatus: changes.status ?? '',
          errorCode: null,
          providerTime: null,
          ...changes,
        },
      ],
      { provider: carrier.name },
    );
  const query = <T>(sql: string): Promise<T[]> => app.get(DataSource).query(sql);

  it('a call reads back with its times, its billed blocks, its cost and its digits', async () => {
    const { id, recipients } = await voice.send({
      from: FROM,
      to: '+234 801 234 5678',
      code: '4821',
      collect: { maxDigits: 1 },
    });
    expect(recipients).toBe(1);
    await dialled(id, 1);
    expect(carrier.of(id)[0]).toMatchObject({
      sender: FROM,
      recipients: [TO],
      content: { kind: 'call', code: '4821', collect: { maxDigits: 1, timeout: 5_000 } },
    });
    const started = { status: 'initiated', attempts: 1, duration: null, cost: null };
    expect(await voice.call(`${id}-0`)).toMatchObject(started);
    await hear(id, 0, { status: 'ringing' });
    const answered_at = '2026-01-01T00:00:00.000Z';
    await hear(id, 0, { status: 'answered', details: { answered_at, answered_by: 'human' } });
    const ended_at = '2026-01-01T00:01:01.000Z';
    await hear(id, 0, {
      status: 'completed',
      details: { ended_at, hangup_cause: 'normal_clearing', digits: '1' },
    });
    const facts = {
      status: 'completed',
      answeredAt: new Date(answered_at),
      endedAt: new Date(ended_at),
      duration: 61,
      billedSeconds: 120,
      cost: '30.00',
      currency: 'NGN',
      hangupCause: 'normal_clearing',
      answeredBy: 'human',
      digits: '1',
      attempts: 1,
    };
    expect(await voice.call(`${id}-0`)).toMatchObject(facts);
    expect(await voice.call(`call-${id}-s0`)).toMatchObject(facts);
    expect((await voice.list({ batchId: id })).data).toMatchObject([facts]);
    expect(eventsOf(id)).toEqual([
      [1, null, 'initiated'],
      [2, null, 'ringing'],
      [3, null, 'answered'],
      [4, null, 'completed'],
    ]);
  });

  it('the cost of the provider comes before that of the rate card, and no answer costs nothing', async () => {
    const { id } = await voice.send({ from: FROM, to: TO, text: 'Hello' });
    await dialled(id, 1);
    const details = { duration: 7, billed_seconds: 12, cost: '0.4', currency: 'USD' };
    await hear(id, 0, { status: 'completed', details });
    expect(await voice.call(`${id}-0`)).toMatchObject({
      duration: 7,
      billedSeconds: 12,
      cost: '0.4',
      currency: 'USD',
    });
    const { id: unanswered } = await voice.send({ from: FROM, to: TO, text: 'Hello' });
    await dialled(unanswered, 1);
    await hear(unanswered, 0, { status: 'no_answer', errorCode: '487' });
    expect(await voice.call(`${unanswered}-0`)).toMatchObject({
      status: 'no_answer',
      errorCode: '487',
      duration: 0,
      billedSeconds: 0,
      cost: '0.00',
      attempts: 1,
    });
  });

  it('a busy line that is dialled again leaves the status, and the second try is the same message', async () => {
    const redial = { times: 1, after: '1s' } as const;
    const { id } = await voice.send({ from: FROM, to: TO, text: 'Hello', redial });
    await dialled(id, 1);
    await hear(id, 0, { status: 'ringing' });
    const busy = { status: 'busy', details: { hangup_cause: 'user_busy' } } as const;
    await hear(id, 0, busy);
    const waiting = await voice.call(`${id}-0`);
    expect(waiting).toMatchObject({ status: 'ringing', errorCode: 'busy', attempts: 1 });
    expect(await voice.batch(id)).toMatchObject({ status: 'sending', counts: { ringing: 1 } });
    expect((await voice.list({ batchId: id, status: 'ringing' as never })).data).toHaveLength(1);
    // The same busy line, reported in other forms, is dialled once more only once.
    await hear(id, 0, busy);
    await hear(id, 0, { ...busy, rawStatus: 'user-busy' });
    await hear(id, 0, { ...busy, reference: null, messageId: `call-${id}-s0` });
    await dialled(id, 2);
    expect(carrier.of(id).map(({ id: submission }) => submission)).toEqual([
      `${id}-s0`,
      `${id}-s1`,
    ]);
    expect(await voice.call(`${id}-0`)).toMatchObject({ status: 'initiated', attempts: 2 });
    // A late report about the first try moves nothing.
    await hear(id, 0, { status: 'busy', rawStatus: 'late' });
    await hear(id, 1, { status: 'answered', providerTime: new Date('2026-01-01T00:00:00Z') });
    await hear(id, 1, { status: 'completed', details: { duration: 7 } });
    const { reports, ...call } = { ...(await voice.timeline(`${id}-0`)) };
    expect(call.status).toBe('completed');
    expect(app.get(Events).completed.filter((one) => one === id)).toEqual([id]);
    expect(
      reports.map(({ status, rawStatus, sequence }) => [sequence, status ?? rawStatus]),
    ).toEqual([
      [1, 'initiated'],
      [2, 'ringing'],
      [null, 'busy'],
      [3, 'redial'],
      [null, 'busy'],
      [null, 'busy'],
      [4, 'initiated'],
      [null, 'busy'],
      [5, 'answered'],
      [6, 'completed'],
    ]);
    expect(await voice.call(`${id}-0`)).toMatchObject({
      attempts: 2,
      hangupCause: null,
      billedSeconds: 60,
    });
    expect(eventsOf(id)).toEqual([
      [1, null, 'initiated'],
      [2, null, 'ringing'],
      [3, 'redial', 'ringing'],
      [4, null, 'initiated'],
      [5, null, 'answered'],
      [6, null, 'completed'],
    ]);
  });

  it('the last busy line is the status, and each recipient of a batch has tries of its own', async () => {
    const redial = { times: 2, after: '1s' } as const;
    const to = [TO, '2348012345679'];
    const { id } = await voice.send({ from: FROM, to, text: 'Hello', redial });
    await dialled(id, 2);
    await hear(id, 1, {
      status: 'completed',
      recipient: to[1] as string,
      details: { duration: 3 },
    });
    await hear(id, 0, { status: 'busy' });
    await dialled(id, 3);
    await hear(id, 2, { status: 'no_answer' });
    await dialled(id, 4);
    await hear(id, 3, { status: 'busy' });
    expect(await voice.call(`${id}-0`)).toMatchObject({ status: 'busy', attempts: 3 });
    expect(await voice.call(`${id}-1`)).toMatchObject({ status: 'completed', attempts: 1 });
    expect((await voice.batch(id)).status).toBe('completed');
    expect(carrier.of(id)).toHaveLength(4);
  });

  it('a lost answer is unknown and is never dialled again, also after a busy report', async () => {
    carrier.losesAnswers = true;
    const redial = { times: 3, after: '1s' } as const;
    const { id } = await voice.send({ from: FROM, to: TO, text: 'Hello', redial });
    await dialled(id, 1);
    carrier.losesAnswers = false;
    expect(await voice.call(`${id}-0`)).toMatchObject({ status: 'unknown', attempts: 1 });
    // The report names the submission, so that the outcome is known after all.
    await hear(id, 0, { status: 'ringing', submissionId: `${id}-s0` });
    await hear(id, 0, { status: 'busy', submissionId: `${id}-s0` });
    expect(await voice.call(`${id}-0`)).toMatchObject({ status: 'busy', attempts: 1 });
    expect((await voice.batch(id)).status).toBe('completed');
  });

  it('a lost answer of a second try is unknown', async () => {
    const redial = { times: 3, after: '1s' } as const;
    const { id } = await voice.send({ from: FROM, to: TO, text: 'Hello', redial });
    await dialled(id, 1);
    carrier.losesAnswers = true;
    await hear(id, 0, { status: 'busy' });
    await dialled(id, 2);
    carrier.losesAnswers = false;
    expect(await voice.call(`${id}-0`)).toMatchObject({ status: 'unknown', attempts: 2 });
  });

  it('a call that waits for its next try can be cancelled, and an ended one cannot', async () => {
    const redial = { times: 1, after: '1h' } as const;
    const { id } = await voice.send({ from: FROM, to: TO, text: 'Hello', redial });
    await dialled(id, 1);
    await expect(voice.cancel(id)).rejects.toThrow(AlreadySentError);
    await hear(id, 0, { status: 'busy' });
    await voice.cancel(id);
    expect(await voice.call(`${id}-0`)).toMatchObject({ status: 'cancelled', attempts: 1 });
    expect(carrier.of(id)).toHaveLength(1);
  });

  it('a scheduled call can be moved and cancelled before it is dialled', async () => {
    const sendAt = new Date(Date.now() + 3_600_000);
    const { id } = await voice.send({ from: FROM, to: TO, text: 'Hello', sendAt });
    const later = new Date(sendAt.getTime() + 1_000);
    expect((await voice.reschedule(id, later)).sendAt).toEqual(later);
    expect((await voice.cancel(id)).status).toBe('cancelled');
    expect(await voice.call(`${id}-0`)).toMatchObject({
      status: 'cancelled',
      attempts: 0,
      sendAt: later,
    });
  });

  it('only marketing calls are bound by the do-not-call list and the quiet hours', async () => {
    const contacts = app.get(ContactsService);
    const listed = '2348012340000';
    await contacts.suppress(listed, {
      channel: 'voice',
      category: 'marketing',
      reason: 'manual',
    });
    const call = { from: FROM, to: listed, text: 'Hello' } as const;
    const denied = voice.send({ ...call, category: 'marketing' });
    await expect(denied).rejects.toThrow(PolicyError);
    await expect(denied).rejects.toMatchObject({ code: 'do_not_call' });
    const { id } = await voice.send(call);
    await dialled(id, 1);
    const { id: quiet } = await voice.send({ ...call, to: QUIET, category: 'marketing' });
    const { id: loud } = await voice.send({ ...call, to: QUIET });
    await dialled(loud, 1);
    expect(carrier.of(quiet)).toHaveLength(0);
    expect(await voice.call(`${quiet}-0`)).toMatchObject({ status: 'queued', attempts: 0 });
    await voice.cancel(quiet);
  });

  it('an estimate has the length of the speech and the price of its blocks', async () => {
    const text = 'x'.repeat(14 * 61);
    expect(await voice.estimate({ text })).toEqual({
      duration: 61,
      billedSeconds: 120,
      cost: '30.00',
      currency: 'NGN',
    });
    expect(await voice.estimate({ code: '1234', repeat: 3 })).toMatchObject({ duration: 12 });
    const audioUrl = 'https://shop.example/a.mp3';
    expect(await voice.estimate({ audioUrl })).toMatchObject({ duration: null, billedSeconds: 60 });
    await expect(voice.estimate({})).rejects.toThrow('text');
  });

  it('retention and erasure remove the digits that a person pressed', async () => {
    const made: string[] = [];
    for (const tenant of ['', 'erased']) {
      const { id } = await voice.send({ from: FROM, to: TO, text: 'Hello' }, { tenant });
      await eventually(async () =>
        expect((await voice.batch(id, { tenant })).status).toBe('completed'),
      );
      await hear(id, 0, { status: 'completed', details: { digits: '8421', duration: 1 } });
      expect((await voice.call(`${id}-0`, { tenant })).digits).toBe('8421');
      made.push(id);
    }
    const stored = () =>
      query<{ details: string }>(
        "SELECT details FROM messaging_report WHERE details LIKE '%8421%'",
      );
    expect(await stored()).toHaveLength(2);
    await app.get(ContactsService).erase({ phone: TO }, { tenant: 'erased' });
    await eventually(async () => expect(await stored()).toHaveLength(1));
    const store = app.get(MessageStore);
    await query(`UPDATE messaging_batch SET poll_at = NULL, completed_at = 1`);
    while (await store.purge.step(100));
    expect(await stored()).toEqual([]);
    expect(made).toHaveLength(2);
  });
});

const QUIET = '2348011111111';

function zonesOf(phone: string): readonly string[] {
  return phone === QUIET ? ['Africa/Lagos'] : [];
}

describeOneDatabase('voice on the simulator', (database) => {
  let app: TestingModule;
  let voice: VoiceService;

  beforeAll(async () => {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator({ reportDelay: 1, idempotencyWindow: 0 }),
          dispatch: { backoff: 1 },
          rateCard: { currency: 'NGN', voice: '15.00' },
          callbackPath: false,
        }),
      ],
    }).compile();
    await app.init();
    voice = app.get(VoiceService);
  });
  afterAll(() => app.close());

  it.each([
    ['9901', { status: 'busy', attempts: 1, duration: 0, cost: '0.00' }],
    ['9902', { status: 'no_answer', attempts: 1, hangupCause: 'no_answer' }],
    ['9903', { status: 'rejected', errorCode: 'call_rejected' }],
    ['9904', { status: 'completed', attempts: 2, duration: 7, answeredBy: 'human' }],
    ['9908', { status: 'unknown', attempts: 1 }],
    ['9911', { status: 'completed', answeredBy: 'machine', duration: 7 }],
    ['9912', { status: 'completed', digits: '1' }],
    ['5678', { status: 'completed', duration: 7, billedSeconds: 60, cost: '15.00', digits: null }],
  ])(
    'a simulated call to a number that ends in %s has the outcome of these digits',
    async (digits, expected) => {
      const { id } = await voice.send({
        from: FROM,
        to: `234801234${digits}`,
        text: 'Hello',
        collect: { maxDigits: 1 },
        ...(digits === '9904' && { redial: { times: 1, after: '1s' } }),
      });
      await eventually(async () => expect(await voice.call(`${id}-0`)).toMatchObject(expected));
    },
  );
});
