import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { ContactsService, MessagingService, PolicyError, SmsService } from '@dundun/messaging';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { bootApp } from './policy-app.js';

/** A flow that asks for a second connection while it holds the first one deadlocks. */
const ONE = { postgres: { max: 1 }, mariadb: { connectionLimit: 1 } };

describeEachDatabase(
  'an app whose pool is one connection',
  (database) => {
    let app: TestingModule;
    beforeAll(async () => {
      const extra = ONE[database.kind as keyof typeof ONE];
      app = await bootApp({ ...database.options(), extra } as never, {
        policy: { frequencyCap: { sms: { max: 2, per: '1h' } } },
      });
    });
    afterAll(() => app.close());

    it('an app with a pool of one connection sends, asks policies and gets events', async () => {
      const sms = app.get(SmsService);
      const messaging = app.get(MessagingService);
      const contacts = app.get(ContactsService);
      const group = await contacts.groups.create('some');
      await contacts.groups.add(group.id, ['2348012340010', '2348012340020']);
      await contacts.suppress('2348012340030', { reason: 'complaint' });
      const send = (to: string | string[], n: number) =>
        messaging.transaction((manager) =>
          sms.send({ from: 'ACME', to, body: 'x' }, { manager, idempotencyKey: `key-${n}` }),
        );
      const receipts = await Promise.all([
        send([group.id, '2348012340030'], 1),
        send('2348012340040', 2),
        send('2348012340040', 2),
        sms.send({ from: 'ACME', to: '2348012340040', body: 'x' }),
      ]);
      for (const { id } of receipts)
        await eventually(async () => expect((await sms.batch(id)).status).toBe('completed'));
      await expect(send('2348012340040', 3)).rejects.toBeInstanceOf(PolicyError);
    });
  },
  ['postgres', 'mariadb'],
);
