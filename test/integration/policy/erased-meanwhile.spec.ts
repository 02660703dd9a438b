import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { ContactsService, MessagingService, PolicyService } from '@dundun/messaging';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { describeEachDatabase } from '../../support/databases.js';
import { untilTransactionsWait } from '../../support/lock-waits.js';
import { RelayedDatabase } from '../dispatch/dispatch-fixture.js';
import { bootApp } from './policy-app.js';

// On SQLite a whole transaction is one turn.
describeEachDatabase(
  'erasure and consent at the same time',
  (database) => {
    let app: TestingModule;
    let contacts: ContactsService;
    let messaging: MessagingService;
    let next = 0;
    const number = () => `23480${30_000_000 + next++ * 10}`;
    const said = { channel: 'sms', source: 'keyword' } as const;

    const codesFor = async (to: string) => {
      const content = { kind: 'text', text: 'Hello' } as const;
      const [explained] = await app
        .get(PolicyService)
        .explain({ channel: 'sms', from: 'ACME', to, content });
      return explained?.decisions.flatMap((one) => (one.decision === 'deny' ? [one.code] : []));
    };

    beforeAll(async () => {
      app = await bootApp(database.options());
      contacts = app.get(ContactsService);
      messaging = app.get(MessagingService);
    });
    afterAll(() => app.close());

    const stops = {
      'by their STOP': (from: string) =>
        app.get(InboundRecorder).record(
          [
            {
              messageId: `m-${from}`,
              channel: 'sms',
              from,
              bsuid: null,
              to: '2348000000001',
              text: 'STOP',
              sentAt: null,
            },
          ],
          { transport: 'simulator' },
        ),
      'by the app': (from: string) => contacts.optOut(from, said),
    };

    it.each(Object.entries(stops))('a refusal during an erasure, %s, is kept', async (_, stop) => {
      const phone = number();
      await contacts.optIn(phone, said);
      let stopped: Promise<void> | undefined;
      await messaging.transaction(async (manager) => {
        await contacts.erase(phone, { manager });
        stopped = stop(phone);
        await untilTransactionsWait(database.kind, app.get(DataSource));
      });
      await stopped;
      expect(await codesFor(phone)).toEqual(['opted_out']);
    });

    it('a refusal committed during an erasure is kept', async () => {
      const phone = number();
      await contacts.optIn(phone, said);
      let erased: Promise<unknown> | undefined;
      await messaging.transaction(async (manager) => {
        await contacts.optOut(phone, { ...said, manager });
        erased = contacts.erase(phone);
        // A consent without a contact waits for no lock.
        await Promise.race([erased, untilTransactionsWait(database.kind, app.get(DataSource))]);
      });
      await erased;
      expect(await contacts.find(phone)).toBeUndefined();
      expect(await codesFor(phone)).toEqual(['opted_out']);
    });

    it.each(['contact', 'contact_address'])(
      'a contact erased before a listing reads the table %s is left out',
      async (table) => {
        const tenant = `listed-${table}`;
        const [gone, stays] = [number(), number()];
        await contacts.upsert([{ phone: gone }, { phone: stays }], { tenant });
        const { relay, database: relayed } = await RelayedDatabase.start(database);
        const other = await bootApp(relayed.options());
        try {
          const reading = relay.hold(`messaging_${table} t ON`);
          const listed = other.get(ContactsService).list({ tenant });
          const read = await reading;
          await contacts.erase(gone, { tenant });
          read();
          expect((await listed).data.map(({ phone }) => phone)).toEqual([stays]);
        } finally {
          await other.close();
          await relay.stop();
        }
      },
    );

    it('a transaction finds a contact created after it began', async () => {
      const phone = number();
      await app.get(DataSource).transaction(async (manager) => {
        await manager.query('SELECT count(*) AS contacts FROM messaging_contact');
        await contacts.upsert({ phone, name: 'Ade' });
        await contacts.optOut(phone, { ...said, manager });
      });
      expect(await contacts.find(phone)).toMatchObject({
        name: 'Ade',
        consents: { sms: { state: 'opted_out' } },
      });
    });

    it('concurrent group and contact changes do not deadlock', async () => {
      const source = app.get(DataSource);
      const phone = number();
      await contacts.upsert({ phone });
      const { id } = await contacts.groups.create('Friends');
      const held = source.createQueryRunner();
      await held.startTransaction('READ COMMITTED');
      await held.query(`SELECT id FROM messaging_contact_group WHERE id = '${id}' FOR UPDATE`);
      const joining = source.transaction('READ COMMITTED', (manager) =>
        contacts.groups.add(id, [phone], { manager }),
      );
      await untilTransactionsWait(database.kind, source);
      const changed = source.transaction('READ COMMITTED', async (manager) => {
        await contacts.upsert({ phone, name: 'Ade' }, { manager });
        await contacts.groups.add(id, [phone], { manager });
      });
      await untilTransactionsWait(database.kind, source, 2);
      await held.commitTransaction();
      await held.release();
      await Promise.all([joining, changed]);
      expect(await contacts.find(phone)).toMatchObject({ name: 'Ade', groups: [id] });
    });

    it('concurrent upserts of overlapping contacts in any order succeed', async () => {
      const source = app.get(DataSource);
      const [first, second, third, fourth] = [number(), number(), number(), number()];
      const upsert = (phones: readonly string[]) =>
        source.transaction('READ COMMITTED', (manager) =>
          contacts.upsert(
            phones.map((phone) => ({ phone })),
            { manager },
          ),
        );
      const held = source.createQueryRunner();
      await held.startTransaction('READ COMMITTED');
      await contacts.upsert([{ phone: third }, { phone: fourth }], { manager: held.manager });
      const one = upsert([first, third, second]);
      await untilTransactionsWait(database.kind, source);
      const other = upsert([second, fourth, first]);
      await untilTransactionsWait(database.kind, source, 2);
      await held.rollbackTransaction();
      await held.release();
      const made = (await Promise.all([one, other])).map((all) => all.map(({ phone }) => phone));
      expect(made).toEqual([
        [first, third, second],
        [second, fourth, first],
      ]);
    });
  },
  ['postgres', 'mariadb'],
);
