import { afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  ContactsService,
  MessageNotFoundError,
  MessageValidationError,
  PolicyError,
} from '@dundun/messaging';
import {
  ContentErasedError,
  DrainTimeoutError,
  HoldsService,
  MessageHistory,
  MessageStatusError,
  MessagingOperations,
} from '@dundun/messaging/operations';
import { LostAnswerFailure, PermanentFailure } from '@dundun/messaging/ports';
import { HoldWatch } from '../../../libs/messaging/src/dispatch/hold-watch.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type DispatchApp, DispatchFixture, Gate, textOf } from '../dispatch/dispatch-fixture.js';

const TO = '2348012345678';

describeEachDatabase('operations on messages', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(async () => {
    const source = await database.open();
    for (const table of ['hold', 'resend', 'consent'])
      await source.query(`DELETE FROM messaging_${table}`);
    await source.destroy();
    await fixture.clear();
  });

  const operationsOf = ({ app }: DispatchApp) => app.get(MessagingOperations);
  const recordOf = ({ app }: DispatchApp, id: string) => app.get(MessageHistory).message(id);
  const statusOf = async (booted: DispatchApp, id: string) => (await recordOf(booted, id)).status;

  /** An app whose provider refuses the texts `bad` and loses the answers to the texts `lost`. */
  async function booted(): Promise<DispatchApp> {
    const one = await fixture.boot({ maxAttempts: 1 });
    one.transport.script = (submission) => {
      const text = textOf(submission);
      if (text === 'bad') throw new PermanentFailure('blocked', 'refused');
      if (text === 'lost') throw new LostAnswerFailure('no_answer', 'lost');
    };
    return one;
  }

  async function sent(one: DispatchApp, text: string, status: string): Promise<string> {
    const id = `${await one.send(text)}-0`;
    await eventually(async () => expect(await statusOf(one, id)).toBe(status));
    return id;
  }

  it('a list finds messages by status, error code, age and provider', async () => {
    const one = await booted();
    const bad = await sent(one, 'bad', 'rejected');
    const good = await sent(one, 'good', 'sent');
    const operations = operationsOf(one);
    const idsOf = async (filter: Parameters<MessagingOperations['messages']>[0]) =>
      (await operations.messages(filter)).data.map(({ id }) => id);
    expect(await idsOf({})).toEqual([good, bad]);
    expect(await idsOf({ status: 'rejected' })).toEqual([bad]);
    expect(await idsOf({ errorCode: 'blocked' })).toEqual([bad]);
    expect(await idsOf({ errorCode: 'blocked', status: 'sent' })).toEqual([]);
    expect(await idsOf({ errorCode: 'other' })).toEqual([]);
    expect(await idsOf({ provider: 'scripted', youngerThan: '1h' })).toEqual([good, bad]);
    expect(await idsOf({ olderThan: '1h' })).toEqual([]);
    expect(await idsOf({ youngerThan: new Date(Date.now() + 60_000) })).toEqual([]);
    expect(await idsOf({ olderThan: new Date(Date.now() + 60_000) })).toEqual([good, bad]);
    const first = await operations.messages({ limit: 1 });
    const second = await operations.messages({ limit: 1, cursor: first.nextCursor! });
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual([good, bad]);
  });

  it.each([
    ['olderThan', { olderThan: 'soon' }],
    ['youngerThan', { youngerThan: new Date(Number.NaN) }],
    ['status', { status: 'gone' }],
  ])('a list with a wrong %s is refused by its name', async (path, filter) => {
    const one = await fixture.boot({ dispatch: false });
    await expect(operationsOf(one).messages(filter as never)).rejects.toMatchObject({
      fields: [{ path }],
    });
  });

  it('a failed message is sent again as a new one, and both name the other', async () => {
    const one = await fixture.boot({ maxAttempts: 1 });
    let refuses = true;
    one.transport.script = () => {
      if (refuses) throw new PermanentFailure('blocked', 'refused');
    };
    const options = { tenant: 'acme', class: 'high', validFor: '1h' } as const;
    const batch = await one.send('again', options);
    const id = `${batch}-0`;
    await eventually(async () => expect(await statusOf(one, id)).toBe('rejected'));
    refuses = false;
    const receipt = await operationsOf(one).resend(id, { by: 'ada' });
    expect(receipt).toEqual({ id: receipt.id, messageId: `${receipt.id}-0`, replayed: false });
    await eventually(async () => expect(await statusOf(one, receipt.messageId)).toBe('sent'));
    expect(one.transport.texts).toEqual(['again']);
    const [first, second] = await Promise.all(
      [id, receipt.messageId].map((each) => recordOf(one, each)),
    );
    expect(first).toMatchObject({
      status: 'rejected',
      resendOf: null,
      resentAs: { messageId: receipt.messageId, by: 'ada', at: expect.any(Date) },
    });
    expect(second).toMatchObject({
      tenant: 'acme',
      recipient: TO,
      sender: 'ACME',
      lane: 'acme:sms',
      resendOf: { messageId: id, by: 'ada', at: expect.any(Date) },
      resentAs: null,
    });
    expect(second!.validUntil!.getTime() - second!.acceptedAt.getTime()).toBeGreaterThan(3_000_000);
    expect(await one.sms.timeline(id, { tenant: 'acme' })).toMatchObject({
      resentAs: { messageId: receipt.messageId },
    });
  });

  it('all messages of a filter are counted, sent again once each, and those that are unknown with accepted doubles', async () => {
    const one = await booted();
    const operations = operationsOf(one);
    const bad = [await sent(one, 'bad', 'rejected'), await sent(one, 'bad', 'rejected')];
    const lost = await sent(one, 'lost', 'unknown');
    await sent(one, 'good', 'sent');
    const before = one.transport.accepted.length;
    const filter = { status: 'rejected', provider: 'scripted' } as const;
    expect(await operations.resendAll(filter, { dryRun: true })).toEqual({
      found: 2,
      changed: 0,
      skipped: {},
    });
    expect(one.transport.accepted).toHaveLength(before);
    expect(await operations.resendAll(filter)).toEqual({ found: 2, changed: 2, skipped: {} });
    for (const id of bad) expect((await recordOf(one, id)).resentAs).not.toBeNull();
    // The repetitions are refused as well, and are of the filter then.
    const found = (count: number, skipped: object) =>
      eventually(async () =>
        expect(await operations.resendAll(filter, { dryRun: true })).toEqual({
          found: count,
          changed: 0,
          skipped,
        }),
      );
    await found(4, { already_sent: 2 });
    expect(await operations.resendAll(filter)).toEqual({
      found: 4,
      changed: 2,
      skipped: { already_sent: 2 },
    });
    await found(6, { already_sent: 4 });
    const doubts = { status: 'unknown', youngerThan: '1h' } as const;
    expect(await operations.resendAll(doubts, { by: 'ada', dryRun: true })).toEqual({
      found: 1,
      changed: 0,
      skipped: { wrong_status: 1 },
    });
    await expect(
      operations.resendAll(doubts, { acceptDoubles: true, dryRun: true }),
    ).rejects.toMatchObject({ fields: [{ path: 'by' }] });
    expect(await operations.resendAll(doubts, { by: 'ada' })).toEqual({
      found: 1,
      changed: 0,
      skipped: { wrong_status: 1 },
    });
    await expect(operations.resendAll(doubts, { acceptDoubles: true })).rejects.toMatchObject({
      fields: [{ path: 'by' }],
    });
    // @ts-expect-error a filter without a status does not compile
    await expect(operations.resendAll({ youngerThan: '1h' })).rejects.toMatchObject({
      fields: [{ path: 'status' }],
    });
    expect(await operations.resendAll(doubts, { by: 'ada', acceptDoubles: true })).toMatchObject({
      changed: 1,
    });
    expect(await recordOf(one, lost)).toMatchObject({
      status: 'unknown',
      resentAs: { by: 'ada' },
    });
  });

  it('all unknown messages of a filter are settled, and later ones stay', async () => {
    const one = await booted();
    const operations = operationsOf(one);
    const lost = [await sent(one, 'lost', 'unknown'), await sent(one, 'lost', 'unknown')];
    const filter = { provider: 'scripted', youngerThan: '1h' } as const;
    const by = { by: 'ada', note: 'the provider has them' };
    expect(await operations.settleAll(filter, 'delivered', { ...by, dryRun: true })).toMatchObject({
      found: 2,
      changed: 0,
    });
    expect(await statusOf(one, lost[0]!)).toBe('unknown');
    await expect(
      operations.settleAll(filter, 'banana' as 'delivered', { ...by, dryRun: true }),
    ).rejects.toMatchObject({ fields: [{ path: 'status' }] });
    expect(await operations.settleAll(filter, 'delivered', by)).toEqual({
      found: 2,
      changed: 2,
      skipped: {},
    });
    for (const id of lost) expect(await statusOf(one, id)).toBe('delivered');
    expect(await operations.settleAll(filter, 'delivered', by)).toMatchObject({ found: 0 });
    await expect(operations.settleAll({}, 'delivered', by)).rejects.toMatchObject({
      fields: [{ path: 'filter' }],
    });
  });

  it('concurrent resends of one message in two processes make one message', async () => {
    const [one, other] = [await booted(), await fixture.boot({ dispatch: false })];
    const id = await sent(one, 'bad', 'rejected');
    const receipts = await Promise.all(
      [one, other, one, other].map((each) => operationsOf(each).resend(id)),
    );
    expect(new Set(receipts.map(({ messageId }) => messageId)).size).toBe(1);
    expect(receipts.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect((await operationsOf(one).messages()).data).toHaveLength(2);
    expect(await operationsOf(other).resend(id)).toEqual({ ...receipts[0], replayed: true });
  });

  it('a repetition that failed again can be sent again, and the chain can be followed', async () => {
    const one = await booted();
    const id = await sent(one, 'bad', 'rejected');
    const { messageId } = await operationsOf(one).resend(id);
    await eventually(async () => expect(await statusOf(one, messageId)).toBe('rejected'));
    const third = await operationsOf(one).resend(messageId);
    expect(third.replayed).toBe(false);
    expect(await recordOf(one, messageId)).toMatchObject({
      resendOf: { messageId: id },
      resentAs: { messageId: third.messageId },
    });
  });

  it.each([
    ['sent', 'good', 'sent'],
    ['unknown', 'lost', 'unknown'],
  ])('a message that is %s is not sent again', async (_status, text, status) => {
    const one = await booted();
    const id = await sent(one, text, status);
    const failing = operationsOf(one).resend(id);
    await expect(failing).rejects.toBeInstanceOf(MessageStatusError);
    await expect(failing).rejects.toMatchObject({ code: 'wrong_status', status, messageId: id });
    expect((await operationsOf(one).messages()).data).toHaveLength(1);
  });

  it('a queued and a cancelled message are not sent again', async () => {
    const one = await fixture.boot({ dispatch: false });
    const batch = await one.send('waiting');
    const resend = () => operationsOf(one).resend(`${batch}-0`);
    await expect(resend()).rejects.toMatchObject({ status: 'queued' });
    await one.sms.cancel(batch);
    await expect(resend()).rejects.toMatchObject({ status: 'cancelled' });
  });

  it.each(['x', '0190d0f0-0000-7000-8000-000000000000-0', 'nobody'])(
    'the unknown message %s is named by the error',
    async (id) => {
      const one = await fixture.boot({ dispatch: false });
      await expect(operationsOf(one).resend(id)).rejects.toBeInstanceOf(MessageNotFoundError);
      await expect(operationsOf(one).settle(id, 'sent', { by: 'ada' })).rejects.toBeInstanceOf(
        MessageNotFoundError,
      );
    },
  );

  it('a message of another tenant is not found', async () => {
    const one = await booted();
    const id = await sent(one, 'bad', 'rejected');
    const failing = operationsOf(one).resend(id, { tenants: ['other'] });
    await expect(failing).rejects.toBeInstanceOf(MessageNotFoundError);
  });

  it('policy is asked again: a recipient that opted out meanwhile gets no repetition', async () => {
    const one = await booted();
    const id = await sent(one, 'bad', 'rejected');
    const contacts = one.app.get(ContactsService);
    await contacts.optOut(TO, { channel: 'sms', source: 'test' });
    await expect(operationsOf(one).resend(id)).rejects.toBeInstanceOf(PolicyError);
    expect((await recordOf(one, id)).resentAs).toBeNull();
    expect((await operationsOf(one).messages()).data).toHaveLength(1);
    await contacts.optIn(TO, { channel: 'sms', source: 'test' });
    expect(await operationsOf(one).resend(id)).toMatchObject({ replayed: false });
  });

  it.each([
    ['content', 'UPDATE messaging_batch SET content = NULL'],
    ['recipient', "UPDATE messaging_message SET recipient = ''"],
  ])('a message without its %s is refused', async (_what, statement) => {
    const one = await booted();
    const id = await sent(one, 'bad', 'rejected');
    await one.store.database.transaction((tx) => tx.run(statement));
    await expect(operationsOf(one).resend(id)).rejects.toBeInstanceOf(ContentErasedError);
  });

  it('the app rows of a resend are rolled back with it', async () => {
    const one = await booted();
    const id = await sent(one, 'bad', 'rejected');
    const failing = operationsOf(one).resend(id, { also: () => Promise.reject(new Error('no')) });
    await expect(failing).rejects.toThrow('no');
    expect((await recordOf(one, id)).resentAs).toBeNull();
    expect((await operationsOf(one).messages()).data).toHaveLength(1);
  });

  it('an operator settles a message in doubt, and a later report still raises its status', async () => {
    const one = await booted();
    const id = await sent(one, 'lost', 'unknown');
    const settled = await operationsOf(one).settle(id, 'undelivered', { by: 'ada', note: 'asked' });
    expect(settled).toMatchObject({ status: 'undelivered', errorCode: 'settled_by_operator' });
    expect(settled.reports.at(-1)).toMatchObject({
      source: 'operator',
      status: 'undelivered',
      rawStatus: 'settled',
      sequence: 1,
      details: { settled_by: 'ada', note: 'asked' },
    });
    await expect(operationsOf(one).settle(id, 'delivered', { by: 'ada' })).rejects.toMatchObject({
      code: 'wrong_status',
      status: 'undelivered',
    });
    const report = { submissionId: `${id.slice(0, 36)}-s0`, reference: null, messageId: null };
    const rest = { recipient: TO, rawStatus: 'DELIVRD', errorCode: null, providerTime: null };
    const provider = { provider: 'scripted' };
    await one.store.reports.record([{ ...report, ...rest, status: 'sent' }], provider);
    expect(await statusOf(one, id)).toBe('undelivered');
    await one.store.reports.record([{ ...report, ...rest, status: 'delivered' }], provider);
    expect(await recordOf(one, id)).toMatchObject({ status: 'delivered', errorCode: null });
  });

  it('two operators who settle one message at once record one decision', async () => {
    const one = await booted();
    const id = await sent(one, 'lost', 'unknown');
    const settled = await Promise.allSettled([
      operationsOf(one).settle(id, 'delivered', { by: 'ada' }),
      operationsOf(one).settle(id, 'failed', { by: 'bob' }),
    ]);
    expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const { reports } = await recordOf(one, id);
    expect(reports.filter(({ source }) => source === 'operator')).toHaveLength(1);
  });

  it('a settled message that failed can be sent again', async () => {
    const one = await booted();
    const id = await sent(one, 'lost', 'unknown');
    await operationsOf(one).settle(id, 'failed', { by: 'ada' });
    expect(await operationsOf(one).resend(id)).toMatchObject({ replayed: false });
  });

  it.each([
    ['status', 'queued', { by: 'ada' }],
    ['status', 'bounced', { by: 'ada' }],
    ['by', 'delivered', { by: '' }],
    ['note', 'delivered', { by: 'ada', note: 'x'.repeat(1_001) }],
  ])('a settlement with a wrong %s is refused: %s', async (path, status, options) => {
    const one = await booted();
    const id = await sent(one, 'lost', 'unknown');
    const failing = operationsOf(one).settle(id, status, options);
    await expect(failing).rejects.toBeInstanceOf(MessageValidationError);
    await expect(failing).rejects.toMatchObject({ fields: [{ path }] });
    expect(await statusOf(one, id)).toBe('unknown');
  });

  const refresh = ({ app }: DispatchApp) => app.get(HoldWatch, { strict: false }).refresh();

  it('a paused lane sends after its resume, and shows the reason meanwhile', async () => {
    const one = await fixture.boot();
    const operations = operationsOf(one);
    await operations.pauseLane(':sms', { reason: 'Carrier works tonight' });
    await refresh(one);
    await one.send('waits');
    expect(await one.messaging.lanes()).toMatchObject([
      { lane: ':sms', hold: { reason: 'operator', note: 'Carrier works tonight', until: null } },
    ]);
    expect(one.transport.started).toEqual([]);
    await operations.pauseLane(':sms', { reason: 'Longer', for: '1h' });
    expect(await one.app.get(HoldsService).list()).toMatchObject([
      { lanes: ':sms', note: 'Longer', until: expect.any(Date) },
    ]);
    expect(await operations.resumeLane(':sms')).toBe(true);
    await eventually(async () => expect(one.transport.texts).toEqual(['waits']));
    expect(await operations.resumeLane('nobody:sms')).toBe(false);
  });

  it('a pause with an end expires by itself', async () => {
    const one = await fixture.boot();
    await operationsOf(one).pauseLane('*', { reason: 'Short', for: 1 });
    await one.send('goes on');
    await eventually(async () => expect(one.transport.texts).toEqual(['goes on']));
    await eventually(async () => expect(await one.app.get(HoldsService).list()).toEqual([]));
  });

  it('resumeLane leaves the holds of the app', async () => {
    const one = await fixture.boot({ dispatch: false });
    const hold = { lanes: 'a:*', reason: 'account_suspended' };
    await one.app.get(HoldsService).hold(hold);
    expect(await operationsOf(one).resumeLane('a:*')).toBe(false);
    expect(await one.app.get(HoldsService).list()).toMatchObject([hold]);
  });

  it.each([
    ['lanes', 'a*', { reason: 'x' }],
    ['reason', '*', { reason: '' }],
    ['for', '*', { reason: 'x', for: 'soon' }],
    ['for', '*', { reason: 'x', for: 0 }],
  ])('a pause with wrong %s is refused', async (path, lane, options) => {
    const one = await fixture.boot({ dispatch: false });
    const failing = operationsOf(one).pauseLane(lane, options as never);
    await expect(failing).rejects.toMatchObject({ fields: [{ path }] });
    expect(await one.app.get(HoldsService).list()).toEqual([]);
  });

  it('a drain waits for the requests of another process, and no further message starts', async () => {
    const gate = new Gate();
    const one = await fixture.boot({ concurrency: 1 });
    one.transport.script = () => gate.opened;
    const operator = await fixture.boot({ dispatch: false });
    const first = await one.send('in flight');
    const second = await one.send('prepared');
    await eventually(async () => expect(one.transport.started).toHaveLength(1));
    const late = operationsOf(operator).drain({ lanes: ':sms', timeout: 10 });
    await expect(late).rejects.toBeInstanceOf(DrainTimeoutError);
    await expect(late).rejects.toMatchObject({ code: 'drain_timeout', lanes: ':sms', timeout: 10 });
    await refresh(one);
    const drained = operationsOf(operator).drain({ timeout: '1m' });
    gate.open();
    await drained;
    expect(await statusOf(one, `${first}-0`)).toBe('sent');
    expect(await statusOf(one, `${second}-0`)).toBe('queued');
    expect(one.transport.started).toHaveLength(1);
    const operations = operationsOf(operator);
    expect([await operations.resumeLane('*'), await operations.resumeLane(':sms')]).toEqual([
      true,
      true,
    ]);
    await eventually(async () => expect(one.transport.texts).toEqual(['in flight', 'prepared']));
  });

  it('a database of the version before gets the tables and columns of operations', async () => {
    await (await fixture.boot({ dispatch: false })).app.close();
    const source = await database.open();
    await source.query('DROP TABLE messaging_resend');
    for (const column of ['until_at', 'note'])
      await source.query(`ALTER TABLE messaging_hold DROP COLUMN ${column}`);
    await source.query("DELETE FROM messaging_migrations WHERE name LIKE 'Operations%'");
    const one = await booted();
    const id = await sent(one, 'bad', 'rejected');
    expect(await operationsOf(one).resend(id)).toMatchObject({ replayed: false });
    await operationsOf(one).pauseLane('*', { reason: 'x', for: '1h' });
    expect(await one.app.get(HoldsService).list()).toMatchObject([{ note: 'x' }]);
  });
});
