import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DatabaseShutdownTimeoutError } from '@dundun/messaging';
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Relay } from '../../support/relay.js';
import { DispatchFixture, Gate } from '../dispatch/dispatch-fixture.js';

// Stops wait for their deadlines.
jest.setTimeout(120_000);

const said = jest.spyOn(Logger.prototype, 'error');
beforeEach(() => {
  said.mockClear();
});

function expectSaid(words: RegExp): void {
  expect(said.mock.calls.flat().join('\n')).toMatch(words);
}

describeEachDatabase(
  'a stop while the database neither answers nor closes,',
  (database) => {
    let relay: Relay;
    let hung: DispatchFixture;
    let fixture: DispatchFixture;
    beforeEach(async () => {
      relay = await Relay.start(database.url);
      hung = new DispatchFixture(through(database, relay.url));
      fixture = new DispatchFixture(database);
    });
    afterEach(async () => {
      await relay.stop();
      await fixture.clear();
    });

    it('a stop ends and the next start resends the unanswered submissions under their keys', async () => {
      const first = await hung.boot({ shutdownTimeout: 50, lease: '1s' });
      const accepted = new Gate();
      first.transport.script = () => {
        relay.hang();
        accepted.open();
      };
      const id = await first.send('accepted, and not recorded');
      await accepted.opened;
      const refused = [
        first.send('nobody answers'),
        first.sms.batch(id),
        first.messaging.transaction((manager) => manager.query('SELECT 1')),
      ].map((work) => expect(work).rejects.toThrow(DatabaseShutdownTimeoutError));
      await first.app.close();
      await Promise.all(refused);
      expectSaid(/database does not answer: given up/);
      expectSaid(/1 outcomes not recorded/);

      const second = await fixture.boot({ lease: '1s' });
      await eventually(async () =>
        expect((await second.sms.batch(id)).counts).toEqual({ sent: 1 }),
      );
      const [again, ...more] = second.transport.started;
      expect(again?.id).toBe(first.transport.accepted[0]?.id);
      expect(more).toEqual([]);
    });

    it("a stop ends when the database hangs in the middle of a caller's transaction", async () => {
      const app = await hung.boot({ shutdownTimeout: 50 });
      const work = app.messaging.transaction(async (manager) => {
        await app.send('never committed', { manager });
        relay.hang();
        void app.app.close();
        await manager.query('SELECT 1');
      });
      // Or TypeORM has taken its connection away before.
      await expect(work).rejects.toThrow(/given up|terminated|closed/);
      await app.app.close();
      const after = await fixture.boot();
      expect(await after.store.database.all('SELECT id FROM messaging_batch')).toEqual([]);
    });

    it('a stop without requests in flight ends although the database hangs', async () => {
      const { app } = await hung.boot({ shutdownTimeout: 50 });
      relay.hang();
      await expect(app.close()).resolves.toBeUndefined();
    });
  },
  ['postgres', 'mariadb'],
);

describeEachDatabase(
  'a stop while another process holds the write lock,',
  (database) => {
    const fixture = new DispatchFixture(database);
    afterEach(() => fixture.clear());

    it('a stop ends and unrecorded submissions are resent under the same key', async () => {
      const other = await database.open();
      const first = await fixture.boot({ shutdownTimeout: 50, lease: '1s' });
      const accepted = new Gate();
      first.transport.script = async () => {
        await other.query('BEGIN IMMEDIATE');
        accepted.open();
      };
      const id = await first.send('accepted, and not recorded');
      await accepted.opened;
      const refused = [
        first.send('not accepted'),
        first.messaging.transaction((manager) => manager.query('SELECT 1')),
      ].map((work) => expect(work).rejects.toThrow(DatabaseShutdownTimeoutError));
      await first.app.close();
      await Promise.all(refused);
      expectSaid(/1 outcomes not recorded/);
      await other.query('ROLLBACK');

      const second = await fixture.boot({ lease: '1s' });
      await eventually(async () =>
        expect((await second.sms.batch(id)).counts).toEqual({ sent: 1 }),
      );
      const [again, ...more] = second.transport.started;
      expect(again?.id).toBe(first.transport.accepted[0]?.id);
      expect(more).toEqual([]);
    });
  },
  ['sqlite'],
);

describeEachDatabase('a stop while the carrier never answers,', (database) => {
  const fixture = new DispatchFixture(database);
  afterEach(() => fixture.clear());

  it('a stop ends although the transport ignores its abort signal', async () => {
    const first = await fixture.boot({ shutdownTimeout: 50, lease: '1s' });
    first.transport.script = () => new Promise(() => undefined);
    const id = await first.send('for ever');
    await eventually(async () => expect(first.transport.started).toHaveLength(1));
    await first.app.close();
    expectSaid(/left behind: .*1 requests without an answer, 0 outcomes not recorded/);

    const second = await fixture.boot({ lease: '1s' });
    await eventually(async () => expect((await second.sms.batch(id)).counts).toEqual({ sent: 1 }));
    expect(second.transport.started[0]?.id).toBe(first.transport.started[0]?.id);
  });
});

describeEachDatabase('a stop while the database refuses outcomes,', (database) => {
  const fixture = new DispatchFixture(database);
  afterEach(() => fixture.clear());

  it('an outcome is recorded where the database accepts it again before the deadline', async () => {
    const other = await database.open();
    const first = await fixture.boot({ shutdownTimeout: 20_000 });
    const accepted = new Gate();
    first.transport.script = async () => {
      await other.query('ALTER TABLE messaging_submission RENAME TO messaging_submission_away');
      accepted.open();
    };
    const id = await first.send('accepted, and not recorded yet');
    await accepted.opened;
    const closed = first.app.close();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await other.query('ALTER TABLE messaging_submission_away RENAME TO messaging_submission');
    await closed;
    await other.destroy();

    const second = await fixture.boot({ dispatch: false });
    expect((await second.sms.batch(id)).counts).toEqual({ sent: 1 });
  });
});

function through(database: TestDatabase, url: string): TestDatabase {
  return { ...database, options: (extras) => ({ ...database.options(extras), url }) as never };
}
