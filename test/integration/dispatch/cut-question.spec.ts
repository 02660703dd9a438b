import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { ContactsService } from '@dundun/messaging';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { DispatchFixture } from './dispatch-fixture.js';

const STATEMENTS = {
  postgres: {
    lock: (table: string) => ['BEGIN', `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`],
    free: 'COMMIT',
    waiting:
      "SELECT pid AS id FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    cut: (id: number) => `SELECT pg_terminate_backend(${id})`,
  },
  mariadb: {
    lock: (table: string) => [`LOCK TABLES ${table} WRITE`],
    free: 'UNLOCK TABLES',
    waiting:
      "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND state LIKE '%metadata lock%'",
    cut: (id: number) => `KILL ${id}`,
  },
};

describeEachDatabase(
  'a send whose connection is cut',
  (database) => {
    let fixture: DispatchFixture;
    beforeAll(() => {
      fixture = new DispatchFixture(database);
    });
    afterEach(() => fixture.clear());

    it.each([
      ['while it asks about its recipient', 'messaging_suppression', '2348012345678'],
      ['while it asks who is in its group', 'messaging_group_member', 'grp'],
    ])('a send whose connection is cut at %s is repeated', async (_, table, to) => {
      const { sms, app } = await fixture.boot({ dispatch: false });
      const { groups } = app.get(ContactsService);
      const group = await groups.create('some');
      await groups.add(group.id, ['2348012345679']);
      const { lock, free, waiting, cut } = STATEMENTS[database.kind as 'postgres' | 'mariadb'];
      const source = await database.open();
      const holder = source.createQueryRunner();
      for (const statement of lock(table)) await holder.query(statement);
      const sending = sms.send({ from: 'ACME', to: to === 'grp' ? group.id : to, body: 'x' });
      await eventually(async () => {
        const [blocked] = await source.query<{ id: number }[]>(waiting);
        await source.query(cut(blocked!.id));
      });
      await holder.query(free);
      await holder.release();
      const { id } = await sending;
      expect((await sms.batch(id)).counts).toEqual({ queued: 1 });
    });
  },
  ['postgres', 'mariadb'],
);
