import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { EventEmitter2 } from '@nestjs/event-emitter';
import { EventEmitter2 as Emitter } from '@nestjs/event-emitter';
import type { TestingModule } from '@nestjs/testing';
import {
  ContactsService,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingService,
  PolicyError,
  PolicyService,
  SmsService,
} from '@dundun/messaging';
import { StatusListeners } from '../../../libs/messaging/src/ports/listeners.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { bootApp } from './policy-app.js';

describeOneDatabase('policy at send()', (database) => {
  let app: TestingModule;
  let sms: SmsService;
  let contacts: ContactsService;
  let next = 0;
  const number = () => `23480${30_000_000 + next++ * 10}`;
  const stop = (people: string | string[]) =>
    contacts.optOut(people, { channel: 'sms', source: 'keyword', evidence: 'STOP' });
  const send = (to: string | string[], more: object = {}) =>
    sms.send({ from: 'ACME', to, body: 'Hello' }, more);

  beforeAll(async () => {
    app = await bootApp(database.options());
    sms = app.get(SmsService);
    contacts = app.get(ContactsService);
  });
  afterAll(() => app.close());

  it('all denied: an error with a reason for each, and nothing stored', async () => {
    const [a, b] = [number(), number()];
    await stop(a);
    await contacts.suppress(b, { reason: 'complaint' });
    const before = (await sms.batches()).data.length;
    const error: unknown = await send([a, b]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PolicyError);
    expect(error).toMatchObject({
      code: 'opted_out',
      denials: [
        { recipient: a, code: 'opted_out', policy: 'opted-out' },
        { recipient: b, code: 'opted_out', reason: 'is on the suppression list' },
      ],
    });
    expect((error as Error).message).not.toContain(a);
    expect((await sms.batches()).data).toHaveLength(before);
  });

  it('denied recipients are rejected with their code and the others sent', async () => {
    const [a, b, c] = [number(), number(), number()];
    await stop(b);
    const events: MessageStatusChanged[] = [];
    const emitter = app.get<EventEmitter2>(Emitter);
    const hear = (change: MessageStatusChanged) => events.push(change);
    emitter.on(MESSAGE_STATUS_CHANGED, hear);
    const told: string[] = [];
    app.get(StatusListeners).add({
      onStatusChanged: async (changes) => {
        told.push(...changes.map(({ recipient, status }) => `${recipient} ${status}`));
      },
    });
    const { id, recipients } = await send([a, b, c]);
    expect(recipients).toBe(3);
    await eventually(async () =>
      expect((await sms.batch(id)).counts).toEqual({ rejected: 1, delivered: 2 }),
    );
    const { data } = await sms.messages(id);
    expect(data.map((m) => [m.recipient, m.status, m.errorCode])).toEqual([
      [b, 'rejected', 'opted_out'],
      [a, 'delivered', null],
      [c, 'delivered', null],
    ]);
    expect((await sms.reports({ batchIds: [id], to: b })).data).toMatchObject([
      { status: 'rejected', errorCode: 'opted_out', sequence: 1, rawStatus: 'policy' },
    ]);
    expect(events.filter(({ recipient }) => recipient === b)).toMatchObject([
      { status: 'rejected', previous: 'queued', errorCode: 'opted_out', sequence: 1 },
    ]);
    expect(told).toContain(`${b} rejected`);
    emitter.off(MESSAGE_STATUS_CHANGED, hear);
  });

  it('a scheduled batch with denied recipients is still scheduled, moved and cancelled', async () => {
    const [a, b] = [number(), number()];
    await stop(b);
    const sendAt = new Date(Date.now() + 3_600_000);
    const { id } = await sms.send({ from: 'ACME', to: [a, b], body: 'Later', sendAt });
    expect(await sms.batch(id)).toMatchObject({
      status: 'scheduled',
      counts: { rejected: 1, queued: 1 },
    });
    await sms.reschedule(id, new Date(Date.now() + 7_200_000));
    expect((await sms.cancel(id)).counts).toEqual({ rejected: 1, cancelled: 1 });
  });

  it('a repeated send returns the first batch although consent changed', async () => {
    const [a, b] = [number(), number()];
    await stop(a);
    const first = await send([a, b], { idempotencyKey: 'p1' });
    await stop(b);
    const again = await send([a, b], { idempotencyKey: 'p1' });
    expect(again).toMatchObject({ id: first.id, replayed: true });
    await eventually(async () =>
      expect((await sms.batch(first.id)).counts).toMatchObject({ rejected: 1 }),
    );
    await expect(send([b, a], { idempotencyKey: 'p1' })).rejects.toThrow('different message');
  });

  it('a STOP in the same transaction counts and rolls back with it', async () => {
    const [a, b] = [number(), number()];
    const messaging = app.get(MessagingService);
    await expect(
      messaging.transaction(async (manager) => {
        await contacts.optOut(a, { channel: 'sms', source: 'test', manager });
        await send(a, { manager });
      }),
    ).rejects.toBeInstanceOf(PolicyError);
    await stop(b);
    const { id } = await messaging.transaction((manager) => send([b, a], { manager }));
    await eventually(async () =>
      expect((await sms.batch(id)).counts).toEqual({ rejected: 1, delivered: 1 }),
    );
  });

  it('groups in to are expanded once and an unknown one is refused by index', async () => {
    const [a, b, c] = [number(), number(), number()];
    const group = await contacts.groups.create('All');
    await contacts.groups.add(group.id, [a, b]);
    const { id } = await send([c, group.id, b, group.id]);
    expect((await sms.recipients(id)).data.toSorted()).toEqual([a, b, c]);
    await expect(send([a, 'grp_0123456789abc'])).rejects.toThrow('to[1]: names a group');
    await expect(send([group.id, 'nonsense'])).rejects.toThrow('to[1]: must be a phone number');
  });

  it('a repeated send to a group returns the first batch although members changed', async () => {
    const group = await contacts.groups.create('Growing');
    await contacts.groups.add(group.id, [number()]);
    const first = await send(group.id, { idempotencyKey: 'g1' });
    await contacts.groups.add(group.id, [number()]);
    const again = await send(group.id, { idempotencyKey: 'g1' });
    expect(again).toMatchObject({ id: first.id, replayed: true });
  });

  it('explain() gives the decision of every policy and sends nothing', async () => {
    const phone = number();
    await stop(phone);
    const before = (await sms.batches()).data.length;
    const policy = app.get(PolicyService);
    const content = { kind: 'text', text: 'Hello' } as const;
    const [one] = await policy.explain({ channel: 'sms', from: 'ACME', to: phone, content });
    expect(one?.decisions.map((one) => [one.policy, one.decision])).toEqual([
      ['opt-in-required', 'allow'],
      ['opted-out', 'deny'],
      ['service-window', 'allow'],
    ]);
    const [two] = await policy.explain({ channel: 'whatsapp', from: '1', to: phone, content });
    expect(two?.decisions).toMatchObject([
      { decision: 'deny', code: 'opt_in_required' },
      { decision: 'allow' },
      { decision: 'deny', code: 'window_closed' },
    ]);
    expect((await sms.batches()).data).toHaveLength(before);
  });
});
