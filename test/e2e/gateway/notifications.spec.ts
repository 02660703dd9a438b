import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import type { Scope } from '../../../src/channel.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type Answered, TestGateway } from './test-gateway.js';

const PATH = '/ng/v1/notifications';
/** The simulated carrier delivers to it. */
const PHONE = '2348012345678';
/** The simulated carrier does not deliver to it. */
const UNDELIVERED = '2348012349901';
const EMAIL = 'ada@example.com';

const sms = { from: 'ACME', body: 'Order 1001 is on its way.' };
const voice = { from: '2348000000001', text: 'Your order is on its way.' };
const email = { from: 'Shop <hello@demo.test>', subject: 'Your order', text: 'It is on its way.' };
const whatsapp = {
  message_type: 'template',
  template_name: 'order_update',
  language: 'en',
  params: ['Ada', '1001'],
};

interface Step {
  readonly channel: string;
  readonly status: string;
  readonly message_id: string;
}

interface Event {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

describeEachDatabase(
  'notifications on the gateway',
  (db) => {
    let gateway: TestGateway;
    /** The account of the first start: with a sender ID, a caller id, a domain and a WhatsApp number. */
    let account: CreatedAccount;
    let customer: Receiver;
    const secrets: string[] = [];

    beforeAll(async () => {
      const settings = { DATABASE_URL: db.url, WEBHOOK_ALLOW_PRIVATE: 'true' };
      gateway = await new TestGateway(settings).start();
      account = gateway.running.demo as CreatedAccount;
      customer = await Receiver.start();
      for (const [path, token, url] of [
        ['/ng/v1/webhooks', account.apiToken, customer.url],
        ['/email/ng/v1/webhooks', account.apiKey, `${customer.url}&of=email`],
      ] as const) {
        const made = await gateway.call('POST', path, { token, body: { url } });
        secrets.push(String(made.body['secret']));
      }
    });
    afterAll(async () => {
      await customer.close();
      await gateway.destroy();
    });

    const send = (
      body: object,
      token = account.apiKey,
      headers: Record<string, string> = {},
    ): Promise<Answered> => gateway.call('POST', PATH, { token, body, headers });
    const read = (id: string, token = account.apiKey) =>
      gateway.call('GET', `${PATH}/${id}`, { token });
    const idOf = ({ status, body }: Answered): string => {
      expect([status, body]).toEqual([200, expect.anything()]);
      return String(body['notification_id']);
    };
    const until = async (id: string, status: string) => {
      await eventually(async () => expect((await read(id)).body).toMatchObject({ status }));
      return (await read(id)).body;
    };
    const refusalOf = ({ status, body }: Answered) => {
      const { code, details = [] } = body['error'] as {
        readonly code: string;
        readonly details?: readonly { readonly path: string }[];
      };
      return [status, code, ...details.map(({ path }) => path)];
    };
    const key = async (...scopes: Scope[]) =>
      (await gateway.accounts.createKey(account.accountId, scopes)).apiKey;
    /** The callbacks of a notification or of a message, each with a valid signature. */
    const callbacksOf = (name: string, id: string): Event[] =>
      customer.received.flatMap(({ body, headers }) => {
        const event = secrets
          .map((secret): Event | undefined => {
            try {
              return new Webhook(secret).verify(body, headers) as Event;
            } catch {
              return undefined;
            }
          })
          .find((one) => one !== undefined);
        expect(event).toBeDefined();
        return event && event.data[name] === id ? [event] : [];
      });

    describe('a send', () => {
      it('is delivered on its first channel, reads back and calls back', async () => {
        const labels = { tags: ['order'], metadata: { order: '1001' } };
        const sent = await send({ to: PHONE, via: ['sms', 'voice'], sms, voice, ...labels });
        const id = idOf(sent);
        expect(sent.body).toEqual({
          status_code: 200,
          message: 'Your request is being processed',
          notification_id: id,
          channel: 'sms',
          message_id: expect.stringMatching(/^[0-9a-f-]{36}-0$/),
          created_at: expect.any(String),
        });
        const messageId = String(sent.body['message_id']);
        expect(await until(id, 'delivered')).toEqual({
          notification_id: id,
          status: 'delivered',
          steps: [
            {
              channel: 'sms',
              status: 'delivered',
              message_id: messageId,
              error_code: null,
              started_at: expect.any(String),
              reason: null,
              cost: 4.5,
              currency: 'NGN',
            },
            {
              channel: 'voice',
              status: 'unused',
              message_id: null,
              error_code: null,
              started_at: null,
              reason: null,
              cost: null,
              currency: null,
            },
          ],
          delivered_by: ['sms'],
          created_at: sent.body['created_at'],
          ended_at: expect.any(String),
        });
        const batch = await gateway.call('GET', `/ng/v1/sms/${messageId.slice(0, -2)}`, {
          token: account.apiToken,
        });
        expect(batch.body).toMatchObject({ from: 'ACME', body: sms.body, ...labels });
        await eventually(async () => {
          expect(callbacksOf('notification_id', id)).toEqual([
            {
              type: 'notification.ended',
              timestamp: expect.any(String),
              data: {
                notification_id: id,
                status: 'delivered',
                previous: 'pending',
                delivered_by: ['sms'],
                ...labels,
              },
            },
          ]);
          const ofMessage = callbacksOf('message_id', messageId);
          expect(ofMessage.map(({ type, data }) => [type, data['status']])).toEqual([
            ['sms.delivery_report', 'sent'],
            ['sms.delivery_report', 'delivered'],
          ]);
        });
      });

      it('falls back to the next channel after a failure', async () => {
        const to = { phone: UNDELIVERED, email: EMAIL };
        const sent = await send({ to, via: ['sms', 'email'], sms, email });
        const id = idOf(sent);
        const { steps, delivered_by } = await until(id, 'delivered');
        expect(steps).toMatchObject([
          { channel: 'sms', status: 'undelivered', reason: null },
          { channel: 'email', status: 'delivered', reason: 'failed' },
        ]);
        expect(delivered_by).toEqual(['email']);
        const emailed = (steps as Step[])[1]!.message_id;
        await eventually(async () => {
          const told = callbacksOf('notification_id', id);
          expect(told.map(({ type, data }) => [type, data])).toMatchObject([
            [
              'notification.fell_back',
              { reason: 'failed', from_channel: 'sms', to_channel: 'email', message_id: emailed },
            ],
            ['notification.ended', { status: 'delivered', delivered_by: ['email'] }],
          ]);
          expect(callbacksOf('message_id', emailed).map(({ type }) => type)).toContain(
            'email.delivered',
          );
        });
        const message = await gateway.call('GET', `/email/ng/v1/messages/${emailed}`, {
          token: account.apiKey,
        });
        expect(message.body).toMatchObject({ to: EMAIL, subject: 'Your order' });
      });

      it('begins at once on the next channel where policy denies the first', async () => {
        const to = '2348012340001';
        const sent = await send({ to, via: ['whatsapp', 'sms'], whatsapp, sms });
        expect(sent.body).toMatchObject({ channel: 'sms' });
        const id = idOf(sent);
        expect((await until(id, 'delivered'))['steps']).toMatchObject([
          { channel: 'whatsapp', status: 'denied', error_code: 'opt_in_required' },
          { channel: 'sms', status: 'delivered', reason: 'denied' },
        ]);
        await eventually(async () => {
          expect(callbacksOf('notification_id', id).map(({ type }) => type)).toEqual([
            'notification.fell_back',
            'notification.ended',
          ]);
        });
        const refused = await send({ to, via: ['whatsapp'], whatsapp });
        expect(refusalOf(refused)).toEqual([422, 'opt_in_required']);
      });

      it('goes to WhatsApp with the approved template, and the platform’s id reads it', async () => {
        const to = '2348012340002';
        await gateway.call('POST', '/whatsapp/ng/v1/contacts', {
          token: account.apiKey,
          body: { phone: to, opt_in: true },
        });
        const id = idOf(await send({ to, via: ['whatsapp', 'sms'], whatsapp, sms }));
        const { steps } = await until(id, 'delivered');
        const message = await gateway.call(
          'GET',
          `/whatsapp/ng/v1/messages/${(steps as Step[])[0]?.message_id}`,
          { token: account.apiKey },
        );
        expect(message.body).toMatchObject({ template_name: 'order_update', category: 'utility' });
      });

      it('fails where each channel fails', async () => {
        const id = idOf(await send({ to: UNDELIVERED, via: ['sms', 'voice'], sms, voice }));
        expect((await until(id, 'failed'))['steps']).toMatchObject([
          { status: 'undelivered' },
          { status: 'busy' },
        ]);
      });

      it('each message is counted once among the accepted ones', async () => {
        const accepted = async (channel: string) => {
          const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
          const line = new RegExp(
            `^dundun_accepted_messages_total\\{channel="${channel}"\\} (\\d+)$`,
            'm',
          );
          return Number(line.exec(metrics)?.[1] ?? 0);
        };
        const before = [await accepted('sms'), await accepted('voice')];
        await until(
          idOf(await send({ to: UNDELIVERED, via: ['sms', 'voice'], sms, voice })),
          'failed',
        );
        const denied = { to: '2348012340003', via: ['whatsapp', 'voice'], whatsapp, voice };
        await until(idOf(await send(denied)), 'delivered');
        expect([await accepted('sms'), await accepted('voice')]).toEqual([
          before[0]! + 1,
          before[1]! + 2,
        ]);
      });
    });

    describe('an idempotency key', () => {
      const once = (body: object, name: string) =>
        send(body, account.apiKey, { 'idempotency-key': name });

      it('makes one notification, and refuses another one', async () => {
        const body = { to: PHONE, via: ['sms', 'voice'], sms, voice };
        const first = await once(body, 'one');
        const again = await once(body, 'one');
        expect(again.body).toEqual(first.body);
        expect(again.headers.get('idempotent-replayed')).toBe('true');
        expect(first.headers.get('idempotent-replayed')).toBeNull();
        const other = await once({ ...body, sms: { ...sms, body: 'Other' } }, 'one');
        expect(refusalOf(other)).toEqual([422, 'idempotency_key_reused']);
        expect(refusalOf(await once(body, 'two words'))).toEqual([400, 'idempotency_key_invalid']);
      });

      it('gets the first answer also after the sender was withdrawn', async () => {
        const sender = { accountId: account.accountId, channel: 'sms', sender: 'BRIEF' } as const;
        await gateway.senders.add(sender);
        const body = { to: PHONE, via: ['sms'], sms: { ...sms, from: 'BRIEF' } };
        const first = await once(body, 'withdrawn');
        await gateway.senders.remove(sender);
        expect((await once(body, 'withdrawn')).body).toEqual(first.body);
        expect(refusalOf(await once(body, 'later'))).toEqual([
          422,
          'sender_not_registered',
          'sms.from',
        ]);
      });
    });

    describe('a credential', () => {
      const all = { to: { phone: PHONE, email: EMAIL }, sms, voice, email, whatsapp };
      const bodyOf = (...via: string[]) => ({
        to: all.to,
        via,
        ...Object.fromEntries(
          via.map((name) => [name, Object.entries(all).find(([one]) => one === name)?.[1]]),
        ),
      });

      it.each([
        ['sms', 'sms:send'],
        ['voice', 'voice:send'],
        ['email', 'email:send'],
        ['whatsapp', 'whatsapp:send'],
      ] as const)('sends on %s with the scopes notifications:send and %s', async (name, scope) => {
        const estimate = (token: string) =>
          gateway.call('POST', `${PATH}/estimate`, { token, body: bodyOf(name) });
        const [both, alone, others] = [
          await key('notifications:send', scope),
          await key(scope),
          await key(
            'notifications:send',
            ...(['sms:send', 'voice:send', 'email:send', 'whatsapp:send'] as const).filter(
              (one) => one !== scope,
            ),
          ),
        ];
        expect((await estimate(both)).status).toBe(200);
        expect(refusalOf(await estimate(alone))).toEqual([403, 'insufficient_scope']);
        const lacking = await estimate(others);
        expect(refusalOf(lacking)).toEqual([403, 'insufficient_scope']);
        expect(JSON.stringify(lacking.body)).toContain(scope);
      });

      it('needs the scope of each channel, and the token sends SMS and calls alone', async () => {
        const some = await key('notifications:send', 'sms:send');
        expect(refusalOf(await send(bodyOf('sms', 'voice'), some))).toEqual([
          403,
          'insufficient_scope',
        ]);
        expect((await send(bodyOf('sms'), some)).status).toBe(200);
        expect((await send(bodyOf('sms', 'voice'), account.apiToken)).status).toBe(200);
        for (const name of ['email', 'whatsapp']) {
          const refused = await send(bodyOf('sms', name), account.apiToken);
          expect(refusalOf(refused)).toEqual([401, 'unauthorized']);
          expect(refused.headers.get('www-authenticate')).toBe('Bearer');
        }
      });

      it('reads, lists and cancels what it may send', async () => {
        const owner = await gateway.account('reads');
        const body = { ...bodyOf('sms'), send_at: '2150-01-01T00:00:00Z' };
        const mine = idOf(await send(body, owner.apiKey));
        const { accountId } = owner;
        const { apiKey } = await gateway.accounts.createKey(accountId, [
          'notifications:send',
          'voice:send',
        ]);
        for (const method of ['GET', 'DELETE'])
          expect(
            refusalOf(await gateway.call(method, `${PATH}/${mine}`, { token: apiKey })),
          ).toEqual([403, 'insufficient_scope']);
        const list = (token: string) => gateway.call('GET', PATH, { token });
        expect((await list(apiKey)).body).toEqual({ data: [], next_cursor: null });
        expect((await list(owner.apiToken)).body).toMatchObject({
          data: [{ notification_id: mine }],
        });
        const cancelled = await gateway.call('DELETE', `${PATH}/${mine}`, {
          token: owner.apiToken,
        });
        expect(cancelled.body).toMatchObject({ status: 'cancelled' });
      });

      it('of a suspended account is refused', async () => {
        const suspended = await gateway.account('suspended');
        await gateway.accounts.suspend(suspended.accountId);
        for (const token of [suspended.apiKey, suspended.apiToken])
          expect(refusalOf(await send(bodyOf('sms'), token))).toEqual([403, 'account_disabled']);
      });

      it('of another account finds nothing', async () => {
        const other = await gateway.account('other');
        const id = idOf(await send({ ...bodyOf('sms'), send_at: '2150-01-01T00:00:00Z' }));
        for (const token of [other.apiKey, other.apiToken]) {
          expect(refusalOf(await read(id, token))).toEqual([404, 'not_found']);
          const cancel = await gateway.call('DELETE', `${PATH}/${id}`, { token });
          expect(refusalOf(cancel)).toEqual([404, 'not_found']);
          expect((await gateway.call('GET', PATH, { token })).body['data']).toEqual([]);
        }
        expect((await read(id)).body['status']).toBe('pending');
        expect((await read(id.toUpperCase())).status).toBe(200);
        const theirs = { ...bodyOf('sms', 'voice'), via: ['sms', 'voice'] };
        expect(refusalOf(await send(theirs, other.apiToken))).toEqual([
          422,
          'caller_not_registered',
          'voice.from',
        ]);
      });
    });

    it('the list has pages, the newest first', async () => {
      const { apiToken } = await gateway.account('list');
      const body = { to: PHONE, via: ['sms'], sms, send_at: '2150-01-01T00:00:00Z' };
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) ids.unshift(idOf(await send(body, apiToken)));
      const seen: string[] = [];
      for (let next: unknown = ''; next !== null;) {
        const cursor = next === '' ? '' : `&cursor=${String(next)}`;
        const page = await gateway.call('GET', `${PATH}?limit=2${cursor}`, { token: apiToken });
        for (const { notification_id } of page.body['data'] as { notification_id: string }[])
          seen.push(notification_id);
        next = page.body['next_cursor'];
      }
      expect(seen).toEqual(ids);
      const wrong = await gateway.call('GET', `${PATH}?cursor=x`, { token: apiToken });
      expect(refusalOf(wrong)).toEqual([422, 'invalid_field', 'cursor']);
    });

    it('a scheduled notification can be cancelled, and one that ended cannot', async () => {
      const body = { to: PHONE, via: ['sms', 'voice'], sms, voice };
      const id = idOf(await send({ ...body, send_at: '2150-01-01T00:00:00Z' }));
      const cancel = (of: string) =>
        gateway.call('DELETE', `${PATH}/${of}`, { token: account.apiKey });
      for (let time = 0; time < 2; time++)
        expect((await cancel(id)).body).toMatchObject({
          status: 'cancelled',
          steps: [{ status: 'cancelled' }, { status: 'unused' }],
        });
      await eventually(async () =>
        expect(callbacksOf('notification_id', id).map(({ data }) => data['status'])).toEqual([
          'cancelled',
        ]),
      );
      const sent = idOf(await send(body));
      await until(sent, 'delivered');
      expect(refusalOf(await cancel(sent))).toEqual([409, 'already_sent']);
    });

    it('an estimate has that of each channel, and stores nothing', async () => {
      const { body: before } = await gateway.call('GET', PATH, { token: account.apiKey });
      const { status, body } = await gateway.call('POST', `${PATH}/estimate`, {
        token: account.apiKey,
        body: {
          to: { phone: PHONE, email: EMAIL },
          via: ['whatsapp', 'sms', 'voice', 'email'],
          whatsapp,
          sms: { from: 'ACME', content: 'x'.repeat(161) },
          voice,
          email,
        },
      });
      expect([status, body]).toEqual([
        200,
        {
          whatsapp: { category: 'utility', cost: 6.7, currency: 'NGN' },
          sms: {
            encoding: 'GSM-7',
            parts: 2,
            units: 161,
            ucs2_characters: [],
            cost: 9,
            currency: 'NGN',
          },
          voice: { duration: expect.any(Number), billed_seconds: 60, cost: 15, currency: 'NGN' },
          email: { size: expect.any(Number), cost: 0.5, currency: 'NGN' },
        },
      ]);
      const refused = await gateway.call('POST', `${PATH}/estimate`, {
        token: account.apiKey,
        body: { to: PHONE, via: ['sms'], sms: { ...sms, from: 'OTHER' } },
      });
      expect(refusalOf(refused)).toEqual([422, 'sender_not_registered', 'sms.from']);
      const { body: after } = await gateway.call('GET', PATH, { token: account.apiKey });
      expect(after).toEqual(before);
    });

    it('no log has texts, numbers or addresses', async () => {
      const to = { phone: '2348012340077', email: 'nobody-logs@example.com' };
      const text = 'A text that no log has';
      const body = { to, via: ['sms', 'email'], sms: { ...sms, body: text }, email };
      await until(idOf(await send(body)), 'delivered');
      expect(gateway.log.join('\n')).not.toMatch(
        /2348012340077|nobody-logs@example|A text that no log has/,
      );
    });
  },
  ['sqlite', 'postgres'],
);
