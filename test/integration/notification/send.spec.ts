import {
  ContactsService,
  IdempotencyKeyReusedError,
  MESSAGING_POLICY,
  type MessagingPolicy,
  MessageValidationError,
  type NewNotification,
  NotificationEndedError,
  NotificationNotFoundError,
  PolicyError,
} from '@dundun/messaging';
import { DeferredFailure } from '@dundun/messaging/ports';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { MINUTE, NotificationApp } from './notification-app.js';

describeOneDatabase('sending notifications', (database) => {
  let app: NotificationApp;
  beforeAll(async () => {
    app = await NotificationApp.start(database);
  });
  afterAll(() => app.close());
  beforeEach(() => {
    app.tenant = randomUUID();
    app.transport.script = () => undefined;
  });

  const stored = async () =>
    app.store.database.all<{ id: string; plan: string | null }>(
      'SELECT n.id, n.plan FROM messaging_notification n WHERE n.tenant = ?',
      [app.tenant],
    );
  const batches = async () =>
    app.store.database.all('SELECT b.id FROM messaging_batch b WHERE b.tenant = ?', [app.tenant]);

  describe('in a transaction', () => {
    it('a notification in a rolled-back transaction is neither sent nor stored', async () => {
      const to = await app.person();
      const rolledBack = app.get(DataSource).transaction(async (manager) => {
        await app.send(to, {}, { manager });
        throw new Error('no order');
      });
      await expect(rolledBack).rejects.toThrow('no order');
      expect([await stored(), await batches(), app.sent(to)]).toEqual([[], [], []]);
    });

    it('a notification in a committed transaction is sent, and its denied channels are published after the commit', async () => {
      const to = await app.person({ optIn: false });
      let id = '';
      await app.get(DataSource).transaction(async (manager) => {
        id = await app.send(to, {}, { manager });
        expect(app.eventsOf(id)).toEqual([]);
      });
      await app.until(id, 'denied', 'sent');
      expect(await app.heard(id, 1)).toHaveLength(1);
    });
  });

  it('the receipt names the first message that policy allows', async () => {
    const { tenant } = app;
    const [to, denied] = [await app.person(), await app.person({ optIn: false })];
    const send = (recipient: string, idempotencyKey?: string) =>
      app.notifications.send(app.notification(), recipient, { tenant, idempotencyKey });
    const first = await send(to);
    const [step] = (await app.find(first.id)).steps;
    expect(first).toMatchObject({ channel: 'whatsapp', messageId: step!.messageId });
    const idempotencyKey = randomUUID();
    const second = await send(denied, idempotencyKey);
    const { steps } = await app.find(second.id);
    expect(second).toMatchObject({ channel: 'sms', messageId: steps[1]!.messageId });
    const { channel, messageId, id } = second;
    expect(await send(denied, idempotencyKey)).toMatchObject({
      id,
      channel,
      messageId,
      replayed: true,
    });
  });

  it('a list has the notifications of a tenant in pages, the newest first', async () => {
    const { tenant } = app;
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift(await app.send(await app.person()));
    app.tenant = randomUUID();
    await app.send(await app.person());
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await app.notifications.list({ tenant, limit: 2, ...(cursor && { cursor }) });
      expect(page.data.length).toBeLessThanOrEqual(2);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(ids);
    await eventually(async () => {
      const { data } = await app.notifications.list({ tenant, limit: 1 });
      expect(data).toEqual([await app.notifications.find(ids[0]!, { tenant })]);
    });
    await expect(app.notifications.list({ cursor: 'none' })).rejects.toThrow('cursor');
    await expect(app.notifications.list({ limit: 0 })).rejects.toThrow('limit');
  });

  describe('under an idempotency key', () => {
    it('replayOf() finds the first receipt, and nothing under an unused key', async () => {
      const to = await app.person();
      const { tenant } = app;
      const options = { tenant, idempotencyKey: randomUUID() };
      const notification = app.notification();
      const replay = (changes = {}) =>
        app.notifications.replayOf({ ...notification, ...changes }, to, options);
      expect(await replay()).toBeUndefined();
      const { id, messageId } = await app.notifications.send(notification, to, options);
      expect(await replay()).toMatchObject({ id, messageId, replayed: true });
      const sms = { from: 'ACME', body: 'Other' };
      await expect(replay({ sms })).rejects.toThrow(IdempotencyKeyReusedError);
      await expect(replay({ via: [] })).rejects.toThrow(MessageValidationError);
    });

    it('a repeated send returns the first notification, also where policy would deny every channel now', async () => {
      const to = await app.person();
      const idempotencyKey = randomUUID();
      const whatsapp = { via: ['whatsapp'] } as const;
      const send = () => app.send(to, whatsapp, { idempotencyKey });
      const ids = await Promise.all([send(), send(), send()]);
      await app.until(ids[0]!, 'sent');
      const { tenant } = app;
      const consent = { channel: 'whatsapp', source: 'test', tenant } as const;
      await app.get(ContactsService).optOut(to, consent);
      expect(new Set([...ids, await send()]).size).toBe(1);
      expect([(await stored()).length, (await batches()).length]).toEqual([1, 1]);
      await expect(app.send(to, whatsapp)).rejects.toThrow(PolicyError);
    });

    it('another notification under a used idempotency key is refused, and nothing of it is stored', async () => {
      const to = await app.person();
      const idempotencyKey = randomUUID();
      await app.send(to, {}, { idempotencyKey });
      const other = app.send(to, { fallback: { after: '3m' } }, { idempotencyKey });
      await expect(other).rejects.toThrow(IdempotencyKeyReusedError);
      const sms = { from: 'ACME', body: 'Other' };
      await expect(
        app
          .get(DataSource)
          .transaction((manager) => app.send(to, { sms }, { idempotencyKey, manager })),
      ).rejects.toThrow(IdempotencyKeyReusedError);
      expect((await batches()).length).toBe(1);
    });
  });

  it('many concurrent sends share commits, and each is one notification', async () => {
    const people = await Promise.all(Array.from({ length: 60 }, () => app.person()));
    const keyed = (n: number) => (n % 2 === 0 ? {} : { idempotencyKey: randomUUID() });
    const ids = await Promise.all(
      people.map((to, n) => app.send(to, {}, { tenant: app.tenant, ...keyed(n) })),
    );
    await Promise.all(ids.map((id) => app.until(id, 'sent')));
    await Promise.all(ids.map((id) => app.report(id, 0, 'failed')));
    await Promise.all(ids.map((id) => app.until(id, 'failed', 'sent')));
    await Promise.all(ids.map((id) => app.report(id, 1, 'delivered')));
    await Promise.all(ids.map((id) => app.untilIt(id, 'delivered')));
    for (const to of people) expect(app.sent(to)).toEqual(['whatsapp', 'sms']);
  });

  describe('a wrong field is named with its channel', () => {
    it.each<[string, object, string]>([
      ['no channel', { via: [] }, 'via'],
      ['an unknown channel', { via: ['fax'] }, 'via[0]'],
      ['a channel whose messages are never repeated', { via: ['vas'] }, 'via[0]'],
      ['a channel twice', { via: ['sms', 'sms'] }, 'via[1]'],
      ['a missing message', { via: ['voice', 'sms'] }, 'voice'],
      ['a wrong message', { sms: { from: 'ACME', body: '' } }, 'sms.body'],
      ['a wrong sender', { sms: { from: '', body: 'Hi' } }, 'sms.from'],
      [
        'a param that WhatsApp refuses',
        { whatsapp: { template: 'order', params: ['Ada\nLovelace'] } },
        'whatsapp.params[0]',
      ],
      ['a wrong template', { whatsapp: { template: '' } }, 'whatsapp.template'],
      ['a wrong duration', { fallback: { after: 'soon' } }, 'fallback.after'],
      ['too short a duration', { fallback: { after: 10 } }, 'fallback.after'],
      ['a wrong condition', { fallback: { unless: 'read' } }, 'fallback.unless'],
      ['an unknown field', { senAt: new Date() }, 'senAt'],
      ['an unknown field of the fallback', { fallback: { afer: '2m' } }, 'fallback.afer'],
      ['an unknown field of a message', { sms: { from: 'ACME', bdoy: 'Hi' } }, 'sms.bdoy'],
      [
        'a field that the notification has itself',
        { whatsapp: { template: 'order', to: '+2348012345678' } },
        'whatsapp.to',
      ],
      ['an address of another kind', { via: ['email'], email: { from: 'a@b.test' } }, 'to'],
    ])('%s', async (_, changes, path) => {
      const to = await app.person();
      const error = await app
        .send(to, changes as Partial<NewNotification>)
        .catch((e: unknown) => e);
      expect(error).toBeInstanceOf(MessageValidationError);
      expect((error as MessageValidationError).fields.map((field) => field.path)).toContain(path);
      expect(await stored()).toEqual([]);
    });

    it('a wrong recipient, a wrong option and a missing notification are refused', async () => {
      await expect(app.send('no number')).rejects.toThrow(/^to: /);
      await expect(app.send('grp_0123456789ab')).rejects.toThrow(/^to: must be one address/);
      const to = await app.person();
      await expect(app.send(to, {}, { validFor: 'soon' as never })).rejects.toThrow(/^validFor: /);
      const nothing = undefined as unknown as NewNotification;
      await expect(app.notifications.send(nothing, to)).rejects.toThrow(MessageValidationError);
    });
  });

  it('each channel gets the address of its kind', async () => {
    const phone = await app.person();
    const email = `${randomUUID()}@example.com`;
    const { tenant } = app;
    const { id } = await app.notifications.send(
      {
        via: ['sms', 'email'],
        sms: { from: 'ACME', body: 'Hi' },
        email: { from: 'shop@example.com', subject: 'Hi', text: 'Hi Ada' },
      },
      { phone, email },
      { tenant },
    );
    await app.until(id, 'sent');
    await app.report(id, 0, 'failed');
    await app.until(id, 'failed', 'sent');
    expect([app.sent(phone), app.sent(email)]).toEqual([['sms'], ['email']]);
  });

  it('after the validity of a notification no channel takes over', async () => {
    const to = await app.person();
    const id = await app.send(to, {}, { tenant: app.tenant, validFor: '10m' });
    await app.until(id, 'sent');
    await app.advance(11 * MINUTE);
    await app.report(id, 0, 'failed');
    await app.untilIt(id, 'failed');
    expect((await app.find(id)).steps[1]?.status).toBe('unused');
  });

  describe('a cancel', () => {
    it('a cancel before the start cancels the message and the notification, once', async () => {
      const to = await app.person();
      const id = await app.send(to, { sendAt: new Date(app.clock.now() + 60 * MINUTE) });
      const { tenant } = app;
      const cancelled = await app.notifications.cancel(id, { tenant });
      expect(cancelled).toMatchObject({
        status: 'cancelled',
        steps: [{ status: 'cancelled' }, { status: 'unused' }],
      });
      expect(await app.notifications.cancel(id, { tenant })).toEqual(cancelled);
      await app.advance(3 * MINUTE);
      expect(await app.heard(id, 1)).toMatchObject([['ended', { status: 'cancelled' }]]);
      expect(app.sent(to)).toEqual([]);
    });

    it('a cancel after the send keeps the next channel from starting, and the report decides', async () => {
      const to = await app.person();
      const id = await app.send(to, { fallback: { after: '2m', unless: 'delivered' } });
      await app.until(id, 'sent');
      const { tenant } = app;
      expect(await app.notifications.cancel(id, { tenant })).toMatchObject({ status: 'pending' });
      await app.advance(3 * MINUTE);
      await app.report(id, 0, 'failed');
      expect((await app.untilIt(id, 'failed')).steps[1]?.status).toBe('unused');
      await expect(app.notifications.cancel(id, { tenant })).rejects.toThrow(
        NotificationEndedError,
      );
      expect(app.sent(to)).toEqual(['whatsapp']);
    });

    it('a cancel needs a notification of the tenant', async () => {
      const id = await app.send(await app.person());
      await expect(app.notifications.cancel(id)).rejects.toThrow(NotificationNotFoundError);
      await expect(app.notifications.find(id)).rejects.toThrow(NotificationNotFoundError);
      await expect(app.notifications.find('x')).rejects.toThrow(NotificationNotFoundError);
    });
  });

  it('an erased address receives nothing by a later channel, and leaves the plan', async () => {
    const phone = await app.person();
    const email = `${randomUUID()}@example.com`;
    const { tenant } = app;
    const { id } = await app.notifications.send(
      {
        via: ['sms', 'email'],
        sms: { from: 'ACME', body: 'Hi' },
        email: { from: 'shop@example.com', subject: 'Hi', text: 'Hi Ada' },
      },
      { phone, email },
      { tenant },
    );
    await app.until(id, 'sent');
    expect((await stored())[0]?.plan).toContain(email);
    await app.get(ContactsService).upsert({ email }, { tenant });
    await app.get(ContactsService).erase({ email }, { tenant });
    expect((await stored())[0]?.plan).toBeNull();
    await app.report(id, 0, 'failed');
    await app.untilIt(id, 'failed');
    expect(app.sent(email)).toEqual([]);
  });

  it('the unsent messages of a notification are erased at its end', async () => {
    const id = await app.send(await app.person());
    await app.until(id, 'sent');
    expect((await stored())[0]?.plan).toContain('Hi Ada');
    await app.report(id, 0, 'delivered');
    await app.untilIt(id, 'delivered');
    expect((await stored())[0]?.plan).toBeNull();
  });

  it('two processes that run the same notifications begin each step once', async () => {
    const other = await NotificationApp.start(database, {
      transport: () => app.transport,
    });
    const people = await Promise.all(Array.from({ length: 30 }, () => app.person()));
    const ids = await Promise.all(
      people.map((to) => app.send(to, { fallback: { after: '2m', unless: 'delivered' } })),
    );
    await Promise.all(ids.map((id) => app.until(id, 'sent')));
    await Promise.all([app.advance(3 * MINUTE), other.advance(3 * MINUTE + app.clock.ahead)]);
    await Promise.all(ids.map((id) => app.until(id, 'sent', 'sent')));
    for (const to of people) expect(app.sent(to)).toEqual(['whatsapp', 'sms']);
    await other.close();
  });

  it('a failing policy delays the fallback, which begins at a later run', async () => {
    let fails = false;
    const policy: MessagingPolicy = {
      name: 'flaky',
      decide: async () => {
        if (fails) throw new Error('out of reach');
        return new Map();
      },
    };
    const own = await NotificationApp.start(
      database,
      { transport: () => app.transport },
      { provide: MESSAGING_POLICY, useValue: policy },
    );
    own.tenant = app.tenant;
    const to = await own.person();
    const id = await own.send(to);
    await own.until(id, 'sent');
    fails = true;
    await own.report(id, 0, 'failed');
    await own.notifications.run();
    expect(app.sent(to)).toEqual(['whatsapp']);
    fails = false;
    await own.advance(MINUTE);
    await own.until(id, 'failed', 'sent');
    await own.close();
  });

  it('a message that a restored database may have sent has no fallback', async () => {
    const to = await app.person();
    app.transport.script = ({ channel }) => {
      if (channel === 'whatsapp')
        throw new DeferredFailure('busy', 'later', 60 * MINUTE, 120 * MINUTE);
    };
    const id = await app.send(to);
    await eventually(async () => expect(app.sent(to)).toContain('whatsapp'));
    await app.until(id, 'queued');
    const { tenant } = app;
    await app.store.holds.doubt(`${tenant}:whatsapp`, new Date(app.clock.now() + MINUTE));
    await app.advance(3 * MINUTE);
    expect(await app.until(id, 'queued', 'waiting')).toMatchObject({ status: 'pending' });
  });
});
