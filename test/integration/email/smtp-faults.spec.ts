import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { EmailService, MessagingModule } from '@dundun/messaging';
import { smtp } from '@dundun/messaging/smtp';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { ScriptedSmtp, type SmtpFault, type SmtpVerb } from '../../support/scripted-smtp.js';

const MESSAGE = { from: 'shop@example.com', subject: 'Hello', text: 'Hello' };

describeEachDatabase(
  'a lane of emails to a server with faults',
  (database) => {
    let app: TestingModule;
    let email: EmailService;
    let server: ScriptedSmtp;

    beforeAll(async () => {
      server = await ScriptedSmtp.start({ hasAuth: true });
      app = await Test.createTestingModule({
        imports: [
          TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
          MessagingModule.forRoot({
            providers: { mail: smtp({ url: server.url, tls: 'off', retry: { after: 300 } }) },
            dispatch: { backoff: 20, maxAttempts: 2 },
            callbackPath: false,
          }),
        ],
      }).compile();
      app.useLogger(false);
      await app.init();
      email = app.get(EmailService);
    });
    afterEach(() => {
      server.fault = () => undefined;
      server.accepted.length = 0;
      server.cutAll();
    });
    afterAll(async () => {
      await server.close();
      await app.close();
    });

    const pauseReason = async (): Promise<string | null> => {
      const [lane] = await app
        .get(DataSource)
        .query<{ pause_reason: string | null }[]>('SELECT pause_reason FROM messaging_lane');
      return lane?.pause_reason ?? null;
    };
    const statesOf = async (id: string) =>
      (await email.messages(id)).data.map(({ status }) => status);

    it.each<[SmtpVerb, string, string]>([
      ['GREETING', '421 4.3.2 Closing', 'unavailable'],
      ['GREETING', '554 5.3.2 No service', 'unreachable'],
      ['EHLO', '421 4.3.2 Closing', 'unavailable'],
      ['EHLO', '550 5.7.1 Not you', 'unreachable'],
      ['AUTH', '454 4.7.0 Later', 'unauthorized'],
      ['AUTH', '535 5.7.8 Wrong password', 'unauthorized'],
      ['MAIL', '421 4.3.2 Closing', 'unavailable'],
      ['MAIL', '450 4.7.1 Too fast', 'refused'],
      ['MAIL', '550 5.7.1 Not allowed', 'refused'],
      ['RCPT', '421 4.3.2 Closing', 'unavailable'],
      ['DATA', '421 4.3.2 Closing', 'unavailable'],
      ['DOT', '421 4.3.2 Closing', 'unavailable'],
    ])('at %s, %s pauses the lane, and the tries do not count', async (verb, answer, reason) => {
      let refusals = 0;
      server.fault = (at) => {
        if (at !== verb) return undefined;
        refusals++;
        return { answer };
      };
      const { id } = await email.send({
        ...MESSAGE,
        recipients: ['ada@example.org', 'bea@example.org', 'cy@example.org'],
      });
      // More refusals than a message has tries that count.
      await eventually(async () => {
        expect(refusals).toBeGreaterThan(4);
        expect(await pauseReason()).toMatch(new RegExp(`^${reason}: `));
      });
      expect(server.accepted).toEqual([]);
      server.fault = () => undefined;
      await eventually(async () => expect(await statesOf(id)).toEqual(['sent', 'sent', 'sent']));
      await eventually(async () => expect(await pauseReason()).toBeNull());
      expect(server.accepted).toHaveLength(3);
    });

    it.each<[SmtpVerb, SmtpFault, string]>([
      ['RCPT', { answer: '450 4.7.1 Greylisted' }, 'queued'],
      ['RCPT', { answer: '451 4.3.0 Later' }, 'queued'],
      ['RCPT', { answer: '452 4.2.2 Mailbox full' }, 'queued'],
      ['DATA', { answer: '451 4.3.0 Later' }, 'queued'],
      ['DOT', { answer: '452 4.3.1 Disk full' }, 'queued'],
      ['RCPT', { does: 'cut' }, 'queued'],
      ['RCPT', { does: 'silence' }, 'sending'],
      ['RCPT', { does: 'drip' }, 'sending'],
      ['DOT', { does: 'silence' }, 'sending'],
    ])('at %s, %p for one recipient does not delay the others', async (verb, fault, meanwhile) => {
      let refusals = 0;
      server.fault = (at, to) => {
        if (at !== verb || !to.startsWith('slow')) return undefined;
        refusals++;
        return fault;
      };
      const others = Array.from({ length: 25 }, (_, n) => `n${n}@example.org`);
      const own = await email.send({
        ...MESSAGE,
        recipients: ['slow@example.org', ...others],
      });
      const next = await email.send({ ...MESSAGE, recipients: others });
      await eventually(async () => {
        expect((await email.batch(next.id)).counts).toEqual({ sent: 25 });
        expect((await email.batch(own.id)).counts).toMatchObject({ sent: 25 });
      });
      await eventually(async () => expect(refusals).toBeGreaterThan(0));
      expect(await pauseReason()).toBeNull();
      expect([meanwhile, 'sending']).toContain((await email.message(`${own.id}-0`)).status);
    });
  },
  ['sqlite'],
);
