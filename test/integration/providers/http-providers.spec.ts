import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CallbackCounts, ContactsService, MessagingModule, SmsService } from '@dundun/messaging';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { OURS } from './provider-case.js';
import { PROVIDERS } from './provider-cases.js';

const TO = '2348012340001';

describeEachDatabase(
  'an app with a provider over HTTP',
  (database) => {
    describe.each(PROVIDERS)('%s', (name, make) => {
      const writer = String(2348012350000 + PROVIDERS.findIndex(([one]) => one === name));
      const provider = make('/dlr/provider');
      let app: NestFastifyApplication;
      let sms: SmsService;

      beforeAll(async () => {
        await provider.server.listen();
        const { parser, verifier } = provider;
        const module = await Test.createTestingModule({
          imports: [
            TypeOrmModule.forRoot(database.options()),
            MessagingModule.forRoot({
              providers: { provider: provider.transport() },
              callbackPath: 'dlr',
              callbacks: { providers: { provider: { parser, verifier } } },
            }),
          ],
        }).compile();
        app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), {
          rawBody: true,
        });
        await app.listen(0, '127.0.0.1');
        sms = app.get(SmsService);
      });
      afterAll(async () => {
        await app.close();
        await provider.server.close();
      });

      const post = async (
        { path, body, headers }: ReturnType<typeof provider.delivered>,
        more: Record<string, string> = {},
      ) => {
        const url = `${await app.getUrl()}${path}`;
        const answer = await fetch(url, {
          method: 'POST',
          headers: { ...headers, ...more },
          body,
        });
        return answer.status;
      };
      const send = async () => (await sms.send({ to: TO, from: OURS, body: 'Hi' })).id;
      const counts = async (id: string) => (await sms.batch(id)).counts;

      it('a message is sent once, and delivered by its callback', async () => {
        const id = await send();
        await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
        const report = { id: provider.lastId(), submission: `${id}-s0`, to: TO };
        expect(await post(provider.delivered(report))).toBe(204);
        expect(await counts(id)).toEqual({ delivered: 1 });
        expect(provider.server.taken).toHaveLength(1);
      });

      it('a message with a lost answer is never sent again; a report that names it settles it', async () => {
        const before = provider.server.taken.length;
        provider.server.loseNextAnswer();
        const id = await send();
        await eventually(async () => expect(await counts(id)).toEqual({ unknown: 1 }));
        const report = { id: provider.lastId(), submission: `${id}-s0`, to: TO };
        expect(await post(provider.delivered(report))).toBe(204);
        expect(await counts(id)).toEqual(provider.settles ? { delivered: 1 } : { unknown: 1 });
        expect(provider.server.taken).toHaveLength(before + 1);
      });

      it('STOP opts the writer out, once, and START in again', async () => {
        const contacts = app.get(ContactsService);
        const consent = async () => (await contacts.find(writer))?.consents['sms']?.state;
        expect(await post(provider.written(writer, 'STOP'))).toBe(204);
        expect(await post(provider.written(writer, 'STOP'))).toBe(204);
        expect(await consent()).toBe('opted_out');
        await expect(sms.send({ to: writer, from: OURS, body: 'Hi' })).rejects.toMatchObject({
          code: 'opted_out',
        });
        expect(await post(provider.written(writer, 'START'))).toBe(204);
        expect(await consent()).toBe('opted_in');
      });

      it('a check of the address, an empty GET or POST, is answered 200 and changes nothing', async () => {
        const counts = () => app.get(CallbackCounts).snapshot().get('provider');
        const before = counts();
        const { path } = provider.written(writer, 'x');
        for (const address of ['/dlr/provider', '/dlr/provider?', path.split('?')[0] ?? ''])
          for (const init of [{}, { method: 'POST' }])
            expect((await fetch((await app.getUrl()) + address, init)).status).toBe(200);
        expect(counts()).toEqual(before);
      });

      it('a callback that is changed, or has no proof, is refused', async () => {
        const { path, body, headers } = provider.written(writer, 'Hello');
        const secretless = path.replace(/\/secret-.*/, '/another-secret-of-it');
        const changed = { path: secretless, body: body.replace('Hello', 'Hallo'), headers };
        expect(await post(changed)).toBe(401);
      });
    });
  },
  ['sqlite'],
);
