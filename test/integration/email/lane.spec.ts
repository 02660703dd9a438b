import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { EmailService, MessagingModule } from '@dundun/messaging';
import { smtp } from '@dundun/messaging/smtp';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { ScriptedSmtp } from '../../support/scripted-smtp.js';

const MESSAGE = { from: 'shop@example.com', subject: 'Hello', text: 'Hello' };

describeOneDatabase('the lane of an account for email', (database) => {
  let app: TestingModule;
  let email: EmailService;
  let server: ScriptedSmtp;

  beforeAll(async () => {
    server = await ScriptedSmtp.start();
    const mail = smtp({ url: server.url, tls: 'off', connections: 1 });
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        MessagingModule.forRoot({
          providers: { mail },
          dispatch: {
            backoff: 20,
            rateLimit: (lane) => (lane.startsWith('slow') ? { max: 1, per: '1h' } : undefined),
          },
          callbackPath: false,
        }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
    email = app.get(EmailService);
  });
  beforeEach(() => {
    server.fault = () => undefined;
    server.accepted.length = 0;
  });
  afterAll(async () => {
    await app.close();
    await server.close();
  });

  const closed = () => {
    server.fault = (verb) => (verb === 'GREETING' ? { answer: '421 4.3.2 Closing' } : undefined);
    server.cutAll();
  };
  const countsAre = (id: string, counts: object, tenant = '') =>
    eventually(async () => expect((await email.batch(id, { tenant })).counts).toEqual(counts));

  it('an email of class high is sent before a campaign that was accepted first', async () => {
    closed();
    const recipients = Array.from({ length: 30 }, (_, n) => `p${n}@example.org`);
    const { id } = await email.send({ ...MESSAGE, recipients });
    const high = await email.send({ ...MESSAGE, to: 'code@example.org' }, { class: 'high' });
    server.fault = () => undefined;
    await countsAre(id, { sent: 30 });
    await countsAre(high.id, { sent: 1 });
    // One message of the campaign may be in flight already.
    const at = server.accepted.findIndex(({ to }) => to === 'code@example.org');
    expect([0, 1]).toContain(at);
  });

  it('an email whose validity is over is not sent', async () => {
    closed();
    const late = await email.send({ ...MESSAGE, to: 'late@example.org' }, { validFor: 50 });
    const other = await email.send({ ...MESSAGE, to: 'other@example.org' }, { validFor: '1h' });
    await countsAre(late.id, { expired: 1 });
    server.fault = () => undefined;
    await countsAre(other.id, { sent: 1 });
    expect(server.accepted.map(({ to }) => to)).toEqual(['other@example.org']);
  });

  it('the lane of an account keeps its rate limit, and other accounts do not wait', async () => {
    const tenant = 'slow';
    const recipients = ['a@example.org', 'b@example.org', 'c@example.org'];
    const { id } = await email.send({ ...MESSAGE, recipients }, { tenant });
    const isFirst = async () => expect((await email.batch(id, { tenant })).counts['sent']).toBe(1);
    await eventually(isFirst);
    const shown = await email.send({ ...MESSAGE, to: recipients }, { tenant });
    const other = await email.send({ ...MESSAGE, to: recipients }, { tenant: 'other' });
    await countsAre(other.id, { sent: 3 }, 'other');
    await isFirst();
    expect((await email.batch(shown.id, { tenant })).counts).not.toHaveProperty('sent');
    expect(server.accepted).toHaveLength(4);
  });
});
