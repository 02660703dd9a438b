import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EmailService, MessagingModule } from '@dundun/messaging';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { EMAIL_PROVIDERS, type EmailCallback } from './email-provider-cases.js';

const FROM = 'shop@example.com';

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
