import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EmailService, MessagingModule } from '@dundun/messaging';
import { smtp } from '@dundun/messaging/smtp';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { MailServer } from '../../support/mail-server.js';
import { describeWithServer } from '../../support/servers.js';
import { Postfix, postgrey } from './postfix.js';

describeWithServer('postgrey', 'a lane of emails to a greylisting server', () => {
  describeEachDatabase(
    'a greylisted recipient',
    (database) => {
      let app: TestingModule;
      let remote: MailServer;
      let postfix: Postfix;
      let grey: Awaited<ReturnType<typeof postgrey>>;

      beforeAll(async () => {
        [remote, grey] = [await MailServer.start(), await postgrey(5, ['free.example'])];
        const hop = `[127.0.0.1]:${remote.port}`;
        const routes = { 'free.example': hop, 'grey.example': hop };
        postfix = await Postfix.start(routes, { policy: grey.port });
        const mail = smtp({
          url: postfix.url,
          tls: 'off',
          verpKeys: [Buffer.alloc(32, 1).toString('base64')],
          retry: { after: 1_000 },
        });
        app = await Test.createTestingModule({
          imports: [
            TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
            MessagingModule.forRoot({ providers: { mail }, callbackPath: false }),
          ],
        }).compile();
        app.useLogger(false);
        await app.init();
      });
      afterAll(async () => {
        await app.close();
        await postfix.stop();
        await grey.close();
        await remote.close();
      });

      it('a greylisted recipient waits and is sent later, and other recipients and batches do not wait', async () => {
        const email = app.get(EmailService);
        const message = { from: 'shop@example.com', subject: 'Hello', text: 'Hello' };
        const others = Array.from({ length: 20 }, (_, n) => `n${n}@free.example`);
        const own = await email.send({ ...message, recipients: ['ada@grey.example', ...others] });
        const next = await email.send({ ...message, recipients: others });
        await eventually(async () => {
          expect((await email.batch(next.id)).counts).toEqual({ sent: 20 });
          expect((await email.batch(own.id)).counts).toEqual({ sent: 21 });
        }, 25_000);
        const { reports } = await email.timeline(`${own.id}-0`);
        const events = reports.map(({ status, rawStatus }) => status ?? rawStatus);
        expect(events.at(0)).toBe('delayed');
        expect(events.at(-1)).toBe('sent');
        const times = (await email.reports({ batchIds: [own.id, next.id], limit: 1_000 })).data
          .filter(({ status }) => status === 'sent')
          .map(({ recipient }) => recipient);
        expect(times.indexOf('ada@grey.example')).toBe(times.length - 1);
        await eventually(async () => expect(remote.accepted).toHaveLength(41));
      });
    },
    ['sqlite'],
  );
});
