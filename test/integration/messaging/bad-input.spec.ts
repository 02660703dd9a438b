import { afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  EmailService,
  MessageValidationError,
  MessagingConfigError,
  MessagingService,
  type ReportFilter,
  VasService,
  VerificationService,
  VoiceService,
  WhatsAppService,
} from '@dundun/messaging';
import { DataSource } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { DispatchFixture } from '../dispatch/dispatch-fixture.js';

describeEachDatabase('values that the store cannot hold', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it.each<[string, unknown]>([
    ['too long', 'x'.repeat(256)],
    ['empty', ''],
    ['NUL', 'a\0b'],
    ['half a pair', 'a\ud83d'],
    ['a number', 7],
    ['nothing', undefined],
    ['null', null],
  ])('a lane name that is %s is refused and stores nothing', async (_, name) => {
    const lane = () => name as string;
    const { app, send } = await fixture.boot({ dispatch: false, lane });
    const refusal = await send('x').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(MessagingConfigError);
    expect((refusal as Error).message).toMatch(/^dispatch\.lane: /);
    const rows = await app.get(DataSource).query('SELECT id FROM messaging_batch');
    expect(rows).toEqual([]);
  });

  it.each<[string, object]>([
    ['batchIds[1]', { batchIds: ['019f0000-0000-7000-8000-000000000000', 'x'] }],
    ['batchIds[0]', { batchIds: [7] }],
    ['batchIds', { batchIds: 'x' }],
    ['batchIds', { batchIds: Array(101).fill('019f0000-0000-7000-8000-000000000000') }],
    ['since', { since: new Date(Number.NaN) }],
    ['since', { since: new Date(-1) }],
    ['since', { since: '2026-01-01' }],
    ['status', { status: 'queued' }],
    ['status', { status: '__proto__' }],
    ['to', { to: '+234 801 234 5678' }],
    ['to', { to: 'x\0' }],
    ['limit', { limit: 0 }],
    ['cursor', { cursor: 'x' }],
  ])('a report filter with a wrong %s is refused by name', async (path, filter) => {
    const { sms } = await fixture.boot({ dispatch: false });
    const refusal = await sms.reports(filter as ReportFilter).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(MessageValidationError);
    expect((refusal as MessageValidationError).fields.map((field) => field.path)).toEqual([path]);
  });

  it.each<[unknown]>([[undefined], ['tomorrow'], [new Date(Number.NaN)], [new Date(8.64e15)]])(
    'a batch is not rescheduled to %s',
    async (sendAt) => {
      const { send, sms } = await fixture.boot({ dispatch: false });
      const id = await send('x');
      await expect(sms.reschedule(id, sendAt as Date)).rejects.toBeInstanceOf(
        MessageValidationError,
      );
      expect((await sms.batch(id)).sendAt).toBeNull();
    },
  );
});

describeEachDatabase('tenants that differ in a trailing space only', (database) => {
  it('tenants that differ in a trailing space have separate batches and keys', async () => {
    const fixture = new DispatchFixture(database);
    const { sms } = await fixture.boot({ dispatch: false });
    const send = (tenant: string) =>
      sms.send(
        { from: 'ACME', to: '2348012345678', body: tenant },
        { tenant, idempotencyKey: 'k' },
      );
    const [one, other] = [await send('acme'), await send('acme ')];
    expect(one.id).not.toBe(other.id);
    expect(other.replayed).toBe(false);
    await expect(sms.batch(one.id, { tenant: 'acme ' })).rejects.toThrow('No batch');
    expect((await sms.batches({ tenant: 'acme' })).data.map(({ id }) => id)).toEqual([one.id]);
    await fixture.clear();
  });
});

describeEachDatabase(
  'arguments that no type allows',
  (database) => {
    const fixture = new DispatchFixture(database);
    afterEach(() => fixture.clear());

    it.each<[string, unknown]>([
      ['nothing', undefined],
      ['null', null],
      ['a text', 'Hello'],
    ])('a send of %s is refused as a wrong message', async (_, wrong) => {
      const { app, sms } = await fixture.boot({ dispatch: false });
      const sends: Promise<unknown>[] = [
        sms.send(wrong as never),
        app.get(VoiceService).send(wrong as never),
        app.get(EmailService).send(wrong as never),
        app.get(EmailService).sendAll(wrong as never),
        app.get(WhatsAppService).sendText(wrong as never),
        app.get(WhatsAppService).sendTemplate(wrong as never),
        app.get(VasService).order(wrong as never),
        app.get(VerificationService).start(wrong as never),
        app
          .get(MessagingService)
          .channel('sms')
          .send(wrong as never),
      ];
      for (const send of sends) await expect(send).rejects.toBeInstanceOf(MessageValidationError);
    });

    it('a field that no message of its kind has is refused with the one that was meant', async () => {
      const { app, sms } = await fixture.boot({ dispatch: false });
      const [voice, whatsApp] = [app.get(VoiceService), app.get(WhatsAppService)];
      const [email, any] = [app.get(EmailService), app.get(MessagingService).channel('sms')];
      const [vas, verification] = [app.get(VasService), app.get(VerificationService)];
      const to = '2348012345678';
      const mail = { from: 'a@example.com', to: 'b@example.com', subject: 'x', text: 'x' };
      const sends: [field: string, meant: string, send: () => Promise<unknown>][] = [
        ['bdoy', 'body', () => sms.send({ from: 'ACME', to, bdoy: 'x' } as never)],
        ['sendat', 'sendAt', () => sms.send({ from: 'ACME', to, body: 'x', sendat: 1 } as never)],
        ['repat', 'repeat', () => voice.send({ to, text: 'x', repat: 2 } as never)],
        ['txt', 'text', () => whatsApp.sendText({ to, txt: 'x' } as never)],
        ['param', 'params', () => whatsApp.sendTemplate({ to, template: 'x', param: [] } as never)],
        ['captoin', 'caption', () => whatsApp.sendMedia({ to, captoin: 'x' } as never)],
        ['reply_to', 'replyTo', () => email.send({ ...mail, reply_to: 'x' } as never)],
        ['curency', 'currency', () => vas.order({ to, curency: 'NGN' } as never)],
        ['chanel', 'channel', () => verification.start({ to, chanel: 'sms' } as never)],
        ['contents', 'content', () => any.send({ to, contents: {} } as never)],
      ];
      for (const [path, meant, send] of sends)
        await expect(send()).rejects.toMatchObject({
          name: 'MessageValidationError',
          fields: [{ path, message: `there is no such field; did you mean ${meant}?` }],
        });
      await expect(email.sendAll([mail, { ...mail, txt: 'x' } as never])).rejects.toMatchObject({
        fields: [{ path: 'messages[1].txt' }],
      });
      await expect(sms.send({ from: 'ACME', to, body: 'x', priority: 1 } as never)).rejects.toThrow(
        /^priority: there is no such field; there are from, body, to, /,
      );
      await expect(sms.send({} as never)).rejects.toThrow(/^to: is missing;/);
      const { data } = await sms.batches();
      expect(data).toEqual([]);
      const absent = { from: 'ACME', to, body: 'x', bdoy: undefined };
      expect((await sms.send(absent)).recipients).toBe(1);
    });

    it('a wrong duration of a message is a wrong field', async () => {
      const { send, sms } = await fixture.boot({ dispatch: false });
      for (const validFor of ['soon', '', -1, Number.NaN, {}] as never[])
        await expect(send('x', { validFor })).rejects.toMatchObject({
          name: 'MessageValidationError',
          fields: [{ path: 'validFor' }],
        });
      const id = await send('x');
      await expect(sms.outcome(`${id}-0`, { timeout: 'soon' as never })).rejects.toMatchObject({
        fields: [{ path: 'timeout' }],
      });
    });

    it('a message or batch with a missing id is not found', async () => {
      const { sms } = await fixture.boot({ dispatch: false });
      const id = undefined as never;
      for (const read of [
        sms.timeline(id),
        sms.message(id),
        sms.outcome(id),
        sms.batch(id),
        sms.recipients(id),
        sms.messages(id),
        sms.cancel(id),
        sms.reschedule(id, new Date()),
      ])
        await expect(read).rejects.toMatchObject({ code: 'not_found' });
    });
  },
  ['sqlite'],
);
