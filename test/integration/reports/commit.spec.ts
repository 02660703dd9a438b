import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import {
  type MessageStatusChanged,
  MessagingService,
  TransactionRequiredError,
} from '@dundun/messaging';
import { StatusListeners } from '../../../libs/messaging/src/ports/listeners.js';
import { Dispatcher } from '../../../libs/messaging/src/dispatch/dispatcher.js';
import { describeEachDatabase } from '../../support/databases.js';
import { untilTransactionsWait } from '../../support/lock-waits.js';
import { report, ReportsApp, TO } from './reports-app.js';

describeEachDatabase(
  'an answer follows its commit',
  (database) => {
    let app: ReportsApp;
    let elsewhere: DataSource;
    let lock: QueryRunner;
    let received = 0;

    beforeAll(async () => {
      const verifier = { verify: () => ++received > 0 };
      app = await ReportsApp.start(database, { callbacks: { verifier } }, 'fastify');
      elsewhere = await database.open();
      lock = elsewhere.createQueryRunner();
    });
    afterAll(async () => {
      await lock.release();
      await app.close();
    });

    it('callbacks wait for a locked row and are then answered by two commits', async () => {
      const recipients = Array.from({ length: 30 }, (_, n) => `23480${30_000_000 + n}`);
      const id = await app.sent(recipients);
      const reference = app.paper.submissions.at(-1)?.id;
      // A lane that is given back is a commit, too, and so are some periodic jobs.
      await app.get(Dispatcher).stop();
      const scheduler = app.get(SchedulerRegistry);
      for (const interval of scheduler.getIntervals()) scheduler.deleteInterval(interval);
      await lock.startTransaction();
      await lock.query(
        `SELECT position FROM messaging_message WHERE batch = '${id}' AND position = 0 FOR UPDATE`,
      );
      app.statements.clear();
      const order: string[] = [];
      const post = async (to: string) => {
        const body = JSON.stringify({ reference_id: `ref-${reference}`, to, status: 'delivered' });
        const headers = { 'content-type': 'application/json' };
        const { status } = await fetch(app.url, { method: 'POST', headers, body });
        order.push(String(status));
      };
      const first = post(recipients[0]!);
      await untilTransactionsWait(database.kind, elsewhere);
      expect(app.statements.transactions).toBe(1);
      const others = recipients.slice(1).map(post);
      await until(() => received === recipients.length);
      expect(await app.counts(id)).toEqual({ sent: 30 });
      order.push('commit');
      await lock.commitTransaction();
      await Promise.all([first, ...others]);
      expect(order).toEqual(['commit', ...recipients.map(() => '204')]);
      expect(app.statements.transactions).toBe(2);
      expect(await app.counts(id)).toEqual({ delivered: 30 });
    });
  },
  ['postgres', 'mariadb'],
);

/** Turns of the event loop until something has happened. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await new Promise((resolve) => setImmediate(resolve));
}

describeEachDatabase('listeners', (database) => {
  let app: ReportsApp;
  let refuse: string | undefined;

  beforeAll(async () => {
    app = await ReportsApp.start(database, { callbacks: { insecure: true } }, 'fastify');
    const listening = database.kind === 'mariadb' ? 'varchar(64)' : 'text';
    await app.query(`CREATE TABLE told (recipient ${listening}, status ${listening})`);
    app.get(StatusListeners).add({
      onStatusChanged: async (
        changes: readonly MessageStatusChanged[],
        manager: EntityManager,
      ): Promise<void> => {
        for (const { recipient, status } of changes) {
          await manager.query(`INSERT INTO told VALUES ('${recipient}', '${status}')`);
          if (recipient === refuse) throw new Error('not this one');
        }
      },
    });
    jest.spyOn(Logger.prototype, 'error').mockReturnValue();
  });
  afterAll(async () => {
    await app.close();
    jest.restoreAllMocks();
  });

  const told = async () => {
    const rows = await app.query<{ recipient: string }>(
      "SELECT recipient FROM told WHERE status = 'delivered' ORDER BY recipient",
    );
    return rows.map(({ recipient }) => recipient);
  };

  it("a listener's error fails its own change only, which is repeated", async () => {
    const recipients = [TO, '2348012345679', '2348012345680'];
    const id = await app.sent(recipients);
    const reference = `ref-${app.paper.submissions.at(-1)?.id}`;
    refuse = recipients[1];
    const post = async (to: string) => {
      const body = JSON.stringify({ reference_id: reference, to, status: 'delivered' });
      const headers = { 'content-type': 'application/json' };
      return (await fetch(app.url, { method: 'POST', headers, body })).status;
    };
    const together = await Promise.allSettled(
      recipients.map((recipient) => app.hear(report({ reference, recipient }))),
    );
    expect(together.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await app.counts(id)).toEqual({ delivered: 2, sent: 1 });
    expect(await told()).toEqual([recipients[0], recipients[2]]);
    expect(await post(recipients[1]!)).toBe(503);
    expect(await app.counts(id)).toEqual({ delivered: 2, sent: 1 });
    refuse = undefined;
    expect(await post(recipients[1]!)).toBe(204);
    expect(await app.counts(id)).toEqual({ delivered: 3 });
    expect(await told()).toEqual(recipients);
  });
});

describeEachDatabase(
  'a report within its own SQLite transaction',
  (database) => {
    let app: ReportsApp;
    beforeAll(async () => {
      app = await ReportsApp.start(database, { callbacks: { insecure: true } });
    });
    afterAll(() => app.close());

    it("recording a report within a caller's SQLite transaction is refused", async () => {
      const messaging = app.get(MessagingService);
      const message = { from: 'ACME', to: TO, body: 'Hello' };
      await messaging.transaction(async () => {
        await expect(app.sms.send(message)).rejects.toThrow(TransactionRequiredError);
        await expect(messaging.transaction(() => Promise.resolve())).rejects.toThrow(
          TransactionRequiredError,
        );
        await expect(app.hear(report())).rejects.toThrow(TransactionRequiredError);
      });
      await app.sent(TO);
    });

    it('recording a report within a listener is refused', async () => {
      const id = await app.sent(TO);
      const recipient = TO;
      const reference = `ref-${app.paper.submissions.at(-1)?.id}`;
      const messaging = app.get(MessagingService);
      app.get(StatusListeners).add({
        onStatusChanged: () => messaging.transaction(() => Promise.resolve()),
      });
      await expect(app.hear(report({ reference, recipient }))).rejects.toThrow(
        TransactionRequiredError,
      );
      expect(await app.counts(id)).toEqual({ sent: 1 });
    });
  },
  ['sqlite'],
);
