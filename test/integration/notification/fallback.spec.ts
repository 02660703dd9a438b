import { ContactsService, PolicyError, SmsService } from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { DeferredFailure, PermanentFailure } from '@dundun/messaging/ports';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { MINUTE, NotificationApp } from './notification-app.js';

describeOneDatabase('the fallback of a notification', (database) => {
  let app: NotificationApp;
  beforeAll(async () => {
    app = await NotificationApp.start(database);
  });
  afterAll(() => app.close());
  beforeEach(() => {
    app.tenant = randomUUID();
    app.transport.script = () => undefined;
  });

  describe('a message that failed', () => {
    it('the next channel takes over at the report of a failure', async () => {
      const to = await app.person();
      const id = await app.send(to);
      await app.until(id, 'sent', 'waiting');
      await app.report(id, 0, 'failed', '131026');
      await eventually(async () => expect(app.sent(to)).toEqual(['whatsapp', 'sms']));
      const { steps } = await app.until(id, 'failed', 'sent');
      expect(steps).toMatchObject([
        { channel: 'whatsapp', errorCode: '131026', reason: null },
        { channel: 'sms', errorCode: null, reason: 'failed' },
      ]);
      await app.report(id, 1, 'delivered');
      expect(await app.untilIt(id, 'delivered')).toMatchObject({
        deliveredBy: ['sms'],
        endedAt: expect.any(Date),
      });
      expect(await app.heard(id, 2)).toMatchObject([
        [
          'fell-back',
          {
            reason: 'failed',
            from: 'whatsapp',
            errorCode: '131026',
            to: 'sms',
            messageId: steps[1]?.messageId,
          },
        ],
        ['ended', { status: 'delivered', previous: 'pending', deliveredBy: ['sms'] }],
      ]);
    });

    it('a message that failed at its submit falls back at once, and without a further channel the notification fails', async () => {
      const to = await app.person();
      app.transport.script = ({ recipients }) => {
        if (recipients[0] === to) throw new PermanentFailure('no_account', 'no account');
      };
      const id = await app.send(to);
      await app.until(id, 'rejected', 'rejected');
      await app.untilIt(id, 'failed');
      expect(app.sent(to)).toEqual(['whatsapp', 'sms']);
      expect((await app.heard(id, 2)).map(([name]) => name)).toEqual(['fell-back', 'ended']);
    });
  });

  describe('after two minutes', () => {
    it('a message that was sent has no fallback, unless the app chose delivered', async () => {
      const [one, other] = [await app.person(), await app.person()];
      const safe = await app.send(one);
      const doubling = await app.send(other, {
        fallback: { after: '2m', unless: 'delivered' },
      });
      await app.until(safe, 'sent');
      await app.until(doubling, 'sent');
      await app.advance(MINUTE);
      expect((await app.find(doubling)).steps[1]?.status).toBe('waiting');
      await app.advance(MINUTE);
      await app.until(doubling, 'sent', 'sent');
      expect(await app.until(safe, 'sent', 'waiting')).toMatchObject({ status: 'pending' });
      expect([app.sent(one), app.sent(other)]).toEqual([['whatsapp'], ['whatsapp', 'sms']]);
      expect(await app.heard(doubling, 1)).toMatchObject([
        ['fell-back', { reason: 'not_delivered' }],
      ]);
    });

    it('a message that has not started is cancelled, never starts, and the next channel begins', async () => {
      const to = await app.person();
      app.transport.script = ({ channel }) => {
        if (channel === 'whatsapp')
          throw new DeferredFailure('busy', 'later', 60 * MINUTE, 120 * MINUTE);
      };
      const id = await app.send(to);
      await eventually(async () => expect(app.sent(to)).toContain('whatsapp'));
      await app.until(id, 'queued');
      await app.advance(2 * MINUTE);
      const { steps } = await app.until(id, 'cancelled', 'sent');
      expect(steps[1]?.reason).toBe('not_started');
      const [first] = steps;
      const message = await app.get(MessageHistory).message(first!.messageId!);
      expect(message).toMatchObject({ status: 'cancelled' });
    });

    it('a report that comes after the fallback counts as a second arrival', async () => {
      const to = await app.person();
      const id = await app.send(to, { fallback: { after: '2m', unless: 'delivered' } });
      await app.until(id, 'sent');
      await app.advance(2 * MINUTE);
      await app.until(id, 'sent', 'sent');
      await app.report(id, 1, 'delivered');
      await app.untilIt(id, 'delivered');
      await app.report(id, 0, 'delivered');
      expect((await app.heard(id, 3))[2]).toEqual([
        'doubled',
        { tenant: app.tenant, notificationId: id, deliveredBy: ['whatsapp', 'sms'] },
      ]);
      expect((await app.find(id)).deliveredBy).toEqual(['whatsapp', 'sms']);
    });
  });

  describe('the events of a notification with tags and metadata', () => {
    const labels = { tags: ['order'], metadata: { order: '1001' } };

    it('events have tags and metadata when a channel falls back, at the end, and after a second arrival', async () => {
      const to = await app.person();
      const fallback = { after: '2m', unless: 'delivered' } as const;
      const id = await app.send(to, { ...labels, fallback });
      await app.until(id, 'sent');
      await app.advance(2 * MINUTE);
      await app.until(id, 'sent', 'sent');
      await app.report(id, 1, 'delivered');
      await app.untilIt(id, 'delivered');
      await app.report(id, 0, 'delivered');
      expect(await app.heard(id, 3)).toMatchObject([
        ['fell-back', labels],
        ['ended', labels],
        ['doubled', labels],
      ]);
    });

    it('events have tags and metadata where the first channel is denied at the send, and after a cancel', async () => {
      const id = await app.send(await app.person({ optIn: false }), {
        ...labels,
        sendAt: new Date(app.clock.now() + MINUTE),
      });
      await app.notifications.cancel(id, { tenant: app.tenant });
      expect(await app.heard(id, 2)).toMatchObject([
        ['fell-back', { reason: 'denied', ...labels }],
        ['ended', { status: 'cancelled', ...labels }],
      ]);
    });
  });

  describe('a late report', () => {
    it('a late delivery report raises a failed notification to delivered', async () => {
      const to = await app.person();
      const id = await app.send(to);
      await app.until(id, 'sent');
      await app.report(id, 0, 'undelivered');
      await app.until(id, 'undelivered', 'sent');
      await app.report(id, 1, 'undelivered');
      await app.untilIt(id, 'failed');
      await app.report(id, 0, 'delivered');
      expect(await app.untilIt(id, 'delivered')).toMatchObject({ deliveredBy: ['whatsapp'] });
      expect((await app.heard(id, 3)).slice(1)).toMatchObject([
        ['ended', { status: 'failed', previous: 'pending' }],
        ['ended', { status: 'delivered', previous: 'failed' }],
      ]);
    });

    it('a late report of the first message withdraws the second one that has not started', async () => {
      const to = await app.person();
      const id = await app.send(to, { fallback: { after: '2m', unless: 'delivered' } });
      await app.until(id, 'sent');
      app.transport.script = ({ channel }) => {
        if (channel === 'sms')
          throw new DeferredFailure('throttled', 'no', 60 * MINUTE, 120 * MINUTE);
      };
      await app.advance(2 * MINUTE);
      await eventually(async () => expect(app.sent(to)).toContain('sms'));
      await app.until(id, 'sent', 'queued');
      await app.report(id, 0, 'delivered');
      await eventually(async () => {
        await app.advance(5_000);
        const { steps } = await app.find(id);
        expect(steps.map(({ status }) => status)).toEqual(['delivered', 'cancelled']);
      });
    });

    it('a late report of the first message withdraws the second one that was in flight and was not accepted', async () => {
      const to = await app.person();
      const id = await app.send(to, { fallback: { after: '2m', unless: 'delivered' } });
      await app.until(id, 'sent');
      let answer = (): void => undefined;
      const answered = new Promise<void>((resolve) => (answer = resolve));
      app.transport.script = async ({ channel }) => {
        if (channel !== 'sms') return;
        await answered;
        throw new DeferredFailure('throttled', 'no', 60 * MINUTE, 120 * MINUTE);
      };
      await app.advance(2 * MINUTE);
      await eventually(async () => expect(app.sent(to)).toContain('sms'));
      await app.report(id, 0, 'delivered');
      await app.untilIt(id, 'delivered');
      expect((await app.find(id)).steps[1]).toMatchObject({ status: 'sending' });
      answer();
      await eventually(async () => {
        await app.advance(5_000);
        const { steps } = await app.find(id);
        expect(steps.map(({ status }) => status)).toEqual(['delivered', 'cancelled']);
      });
      expect(app.sent(to)).toEqual(['whatsapp', 'sms']);
    });

    it('a report that never comes leaves the notification undecided', async () => {
      const to = await app.person();
      const id = await app.send(to, { via: ['sms'] });
      await app.until(id, 'sent');
      await app.advance(73 * 60 * MINUTE);
      expect(await app.find(id)).toMatchObject({ status: 'undecided' });
    });
  });

  describe('policy', () => {
    it('policy that denies a channel skips it in the same send', async () => {
      const to = await app.person({ optIn: false });
      const id = await app.send(to);
      const { steps } = await app.until(id, 'denied', 'sent');
      expect(steps).toMatchObject([
        { messageId: null, errorCode: 'opt_in_required', reason: null },
        { reason: 'denied' },
      ]);
      expect(app.sent(to)).toEqual(['sms']);
      expect(await app.heard(id, 1)).toMatchObject([
        ['fell-back', { reason: 'denied', from: 'whatsapp', errorCode: 'opt_in_required' }],
      ]);
    });

    it('policy that denies every channel refuses the send, and nothing is stored', async () => {
      const to = await app.person({ optIn: false });
      await expect(app.send(to, { via: ['whatsapp'] })).rejects.toThrow(PolicyError);
      const rows = await app.store.database.all(
        'SELECT n.id FROM messaging_notification n WHERE n.tenant = ?',
        [app.tenant],
      );
      expect(rows).toEqual([]);
      expect(app.sent(to)).toEqual([]);
    });

    it('policy is asked again when the next channel takes over', async () => {
      const to = await app.person();
      const id = await app.send(to, {
        via: ['sms', 'whatsapp', 'voice'],
        voice: { from: '2348000000001', text: 'Hi' },
      });
      await app.until(id, 'sent');
      const { tenant } = app;
      const consent = { channel: 'whatsapp', source: 'test', tenant } as const;
      await app.get(ContactsService).optOut(to, consent);
      await app.report(id, 0, 'failed');
      const { steps } = await app.until(id, 'failed', 'denied', 'initiated');
      expect(steps.map(({ reason }) => reason)).toEqual([null, 'failed', 'denied']);
    });
  });

  it('a message that the app cancels by its channel ends the notification without a fallback', async () => {
    const to = await app.person();
    const id = await app.send(to, {
      via: ['sms', 'whatsapp'],
      sendAt: new Date(app.clock.now() + 60 * MINUTE),
    });
    const { steps } = await app.find(id);
    const { tenant } = app;
    await app.get(SmsService).cancel(steps[0]!.messageId!.slice(0, -2), { tenant });
    await app.notifications.run();
    expect(await app.find(id)).toMatchObject({ status: 'cancelled' });
    expect(app.sent(to)).toEqual([]);
  });
});
