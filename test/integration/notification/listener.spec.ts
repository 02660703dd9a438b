import { MESSAGING_STATUS_LISTENER, type StatusListener } from '@dundun/messaging';
import type { NotificationChange } from '@dundun/messaging/ports';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { MINUTE, NotificationApp } from './notification-app.js';

let isFull = false;
/** Notifications that the outbox does not take. */
const refused = new Set<string>();

/** Writes each change in its transaction, as an app's outbox does. */
@Injectable()
class Outbox implements StatusListener {
  async onStatusChanged(): Promise<void> {}

  async onNotifications(
    changes: readonly NotificationChange[],
    manager: EntityManager,
  ): Promise<void> {
    for (const { event, change } of changes)
      await manager.query(
        `INSERT INTO outbox (event, notification) VALUES ('${event}', '${change.notificationId}')`,
      );
    if (isFull || changes.some(({ change }) => refused.has(change.notificationId)))
      throw new Error('the outbox is full');
  }
}

describeEachDatabase('a listener of notifications', (database) => {
  let app: NotificationApp;
  beforeAll(async () => {
    const source = await database.open();
    await source.query('CREATE TABLE outbox (event VARCHAR(64), notification VARCHAR(36))');
    app = await NotificationApp.start(
      database,
      {},
      { provide: MESSAGING_STATUS_LISTENER, useClass: Outbox },
    );
  });
  afterAll(() => app.close());
  beforeEach(() => {
    isFull = false;
    refused.clear();
    app.tenant = randomUUID();
    app.transport.script = () => undefined;
  });

  const written = async (id: string): Promise<string[]> => {
    const rows: { event: string }[] = await app
      .get(DataSource)
      .query(`SELECT event FROM outbox WHERE notification = '${id}'`);
    return rows.map(({ event }) => event.replace('messaging.notification.', ''));
  };

  it('gets a fallback, the end and a second arrival', async () => {
    const id = await app.send(await app.person(), {
      fallback: { after: '2m', unless: 'delivered' },
    });
    await app.until(id, 'sent');
    await app.advance(2 * MINUTE);
    await app.until(id, 'sent', 'sent');
    await app.report(id, 1, 'delivered');
    await app.untilIt(id, 'delivered');
    await app.report(id, 0, 'delivered');
    await app.heard(id, 3);
    expect(await written(id)).toEqual(['fell-back', 'ended', 'doubled']);
  });

  it('gets the end of a cancelled notification', async () => {
    const id = await app.send(await app.person(), {
      sendAt: new Date(app.clock.now() + MINUTE),
    });
    await app.notifications.cancel(id, { tenant: app.tenant });
    await app.notifications.cancel(id, { tenant: app.tenant });
    expect(await written(id)).toEqual(['ended']);
  });

  it('gets a channel that policy denies at the send, once under an idempotency key', async () => {
    const to = await app.person({ optIn: false });
    const idempotencyKey = randomUUID();
    const id = await app.send(to, {}, { idempotencyKey });
    await app.send(to, {}, { idempotencyKey });
    expect(await written(id)).toEqual(['fell-back']);
    const other = await app.send(await app.person({ optIn: false }));
    expect(await written(other)).toEqual(['fell-back']);
  });

  it('writes nothing of a notification in a rolled-back transaction', async () => {
    const to = await app.person({ optIn: false });
    let id = '';
    const rolledBack = app.get(DataSource).transaction(async (manager) => {
      id = await app.send(to, {}, { manager });
      throw new Error('no order');
    });
    await expect(rolledBack).rejects.toThrow('no order');
    expect(await written(id)).toEqual([]);
  });

  it('that fails keeps the notification as it was, until it writes', async () => {
    const to = await app.person();
    const id = await app.send(to);
    await app.until(id, 'sent', 'waiting');
    isFull = true;
    await app.report(id, 0, 'failed');
    await app.until(id, 'failed', 'waiting');
    await app.notifications.run();
    expect([app.sent(to), await written(id)]).toEqual([['whatsapp'], []]);
    isFull = false;
    await eventually(async () => {
      await app.advance(MINUTE / 60);
      expect(app.sent(to)).toEqual(['whatsapp', 'sms']);
    });
    expect(await written(id)).toEqual(['fell-back']);
  });

  it('that fails for the end of one notification holds up no other one', async () => {
    const [bad, good] = [await app.send(await app.person()), await app.send(await app.person())];
    for (const id of [bad, good]) await app.until(id, 'sent', 'waiting');
    refused.add(bad);
    await app.report(bad, 0, 'delivered');
    await app.report(good, 0, 'delivered');
    await app.notifications.run();
    await app.untilIt(good, 'delivered');
    expect([await written(bad), await written(good)]).toEqual([[], ['ended']]);
    refused.clear();
    await eventually(async () => {
      await app.advance(MINUTE / 60);
      expect(await written(bad)).toEqual(['ended']);
    });
    expect(await written(good)).toEqual(['ended']);
  });

  it('that fails for the next channel of one notification holds up no other one', async () => {
    const people = [await app.person(), await app.person()] as const;
    const fallback = { after: '2m', unless: 'delivered' } as const;
    const bad = await app.send(people[0], { fallback });
    const good = await app.send(people[1], { fallback });
    for (const id of [bad, good]) await app.until(id, 'sent', 'waiting');
    refused.add(bad);
    await app.advance(2 * MINUTE);
    await app.until(good, 'sent', 'sent');
    expect([await written(bad), await written(good)]).toEqual([[], ['fell-back']]);
    // Its waits grow: it is not looked at in each round.
    await app.advance(MINUTE / 60);
    await app.advance(MINUTE / 60);
    refused.clear();
    await eventually(async () => {
      await app.advance(MINUTE / 60);
      expect(app.sent(people[0])).toEqual(['whatsapp', 'sms']);
    });
    expect(app.sent(people[1])).toEqual(['whatsapp', 'sms']);
  });
});
