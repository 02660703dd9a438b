import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CallbackCounts, EmailService, MessagingModule, type PolicyError } from '@dundun/messaging';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { EMAIL_PROVIDERS, type EmailCallback } from './email-provider-cases.js';

const FROM = 'shop@example.com';

/** Answers of servers, each with the code of the relay before it and the category of the bounce. */
const BOUNCES = [
  { code: '5.1.1', answer: '550 5.7.1 IP address blacklisted by recipient', category: 'block' },
  {
    code: '5.2.1',
    answer:
      '550-5.2.1 The user you are trying to contact is receiving mail at a rate that\r\n550-5.2.1 prevents additional messages from being delivered.',
    category: 'block',
  },
  { code: '5.1.1', answer: '552 5.2.2 over quota', category: 'mailbox_full' },
  { code: '5.2.1', answer: '550 5.2.1 The account is disabled', category: 'recipient' },
  { code: '5.0.0', answer: '550 User not found', category: 'recipient' },
  {
    code: '5.4.1',
    answer: '550 5.4.1 Recipient address rejected: Access denied',
    category: 'recipient',
  },
  {
    code: '5.1.351',
    answer: '550 5.1.351 Remote server returned unknown recipient',
    category: 'recipient',
  },
  { code: '5.4.4', answer: 'Host or domain name not found', category: 'recipient' },
] as const;

describeEachDatabase(
  'an app with a provider of email over HTTP',
  (database) => {
    describe.each(EMAIL_PROVIDERS)('%s', (name, make) => {
      const provider = make();
      let app: NestFastifyApplication;
      let email: EmailService;

      beforeAll(async () => {
        await provider.server.listen();
        const { parser, verifier } = provider;
        const module = await Test.createTestingModule({
          imports: [
            TypeOrmModule.forRoot(database.options()),
            MessagingModule.forRoot({
              providers: { mail: provider.transport() },
              callbackPath: 'dlr',
              callbacks: { providers: { mail: { parser, verifier } } },
              dispatch: { backoff: 10 },
            }),
          ],
        }).compile();
        app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
          rawBody: true,
        });
        await app.listen(0, '127.0.0.1');
        email = app.get(EmailService);
      });
      afterAll(async () => {
        await app.close();
        await provider.server.close();
      });

      const address = (local: string) => `${local}-${name}@example.org`;
      const send = async (to: string) =>
        (await email.send({ from: FROM, to, subject: 'Hello', html: '<p>Hi</p>' })).id;
      const counts = async (id: string) => (await email.batch(id)).counts;
      const post = async ({ body, headers }: EmailCallback) => {
        const answer = await fetch(`${await app.getUrl()}/dlr/mail`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body,
        });
        return answer.status;
      };

      it('an email is sent once, and delivered by its callback', async () => {
        const to = address('ada');
        const id = await send(to);
        await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
        const callback = await provider.callback('delivered', { submission: `${id}-s0`, to });
        // SNS signs within the body.
        const body = callback.body.replace('Signature', 'Signed');
        expect(await post({ body, headers: {} })).toBe(401);
        expect(await post(callback)).toBe(204);
        expect(await counts(id)).toEqual({ delivered: 1 });
        expect(provider.server.taken).toHaveLength(1);
      });

      it.each(['bounced', 'complained'] as const)(
        'an address that %s is suppressed',
        async (event) => {
          const to = address(event);
          const id = await send(to);
          await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
          expect(await post(await provider.callback(event, { submission: `${id}-s0`, to }))).toBe(
            204,
          );
          expect(await counts(id)).toEqual({ [event]: 1 });
          await expect(send(to)).rejects.toMatchObject({ code: 'suppressed' });
        },
      );

      it.each(BOUNCES)(
        'a bounce with the answer $answer is of the category $category',
        async (of) => {
          const { answer, code, category } = of;
          const to = address(`bounce${BOUNCES.indexOf(of)}`);
          const id = await send(to);
          await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
          const about = { submission: `${id}-s0`, to, answer, code };
          expect(await post(await provider.callback('bounced', about))).toBe(204);
          expect(await counts(id)).toEqual({ bounced: 1 });
          const { data } = await email.reports({ to });
          expect(data).toContainEqual(
            expect.objectContaining({ details: expect.objectContaining({ category }) }),
          );
          const refusal = await send(to).then(
            () => undefined,
            ({ code }: PolicyError) => code,
          );
          expect(refusal).toBe(category === 'recipient' ? 'suppressed' : undefined);
        },
      );

      it('a calendar invitation is sent, or refused where the provider carries none', async () => {
        const content = Buffer.from('BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n');
        const contentType = 'text/calendar; charset=utf-8; method=REQUEST';
        const attachments = [{ filename: 'invite.ics', contentType, content }];
        const to = address('guest');
        const { id } = await email.send({
          from: FROM,
          to,
          subject: 'Hello',
          text: 'Hi',
          attachments,
        });
        const expected = provider.invites ? { sent: 1 } : { rejected: 1 };
        await eventually(async () => expect(await counts(id)).toEqual(expected));
      });

      it('a check of the address, an empty GET or POST, is answered 200 and changes nothing', async () => {
        const counts = () => app.get(CallbackCounts).snapshot().get('mail');
        const before = counts();
        for (const address of ['/dlr/mail', '/dlr/mail?'])
          for (const init of [{}, { method: 'POST' }])
            expect((await fetch((await app.getUrl()) + address, init)).status).toBe(200);
        expect(counts()).toEqual(before);
      });

      it('an email with a lost answer is sent once: its key, or a report, settles it', async () => {
        const before = provider.server.taken.length;
        const to = address('lost');
        provider.server.loseNextAnswer();
        const id = await send(to);
        const settled = provider.keyed ? { sent: 1 } : { unknown: 1 };
        await eventually(async () => expect(await counts(id)).toEqual(settled));
        expect(
          await post(await provider.callback('delivered', { submission: `${id}-s0`, to })),
        ).toBe(204);
        expect(await counts(id)).toEqual({ delivered: 1 });
        expect(provider.server.taken).toHaveLength(before + 1);
      });

      it('recipients who see each other have one email', async () => {
        const before = provider.server.taken.length;
        const [to, cc, bcc] = [address('to'), address('cc'), address('bcc')];
        const { id } = await email.send({ from: FROM, to, cc, bcc, subject: 'Hello', text: 'Hi' });
        await eventually(async () => expect(await counts(id)).toEqual({ sent: 3 }));
        expect(provider.server.taken).toHaveLength(
          before + (provider.sharedRequests === 1 ? 1 : 3),
        );
      });
    });
  },
  ['sqlite'],
);
