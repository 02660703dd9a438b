import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import {
  ContactsService,
  http,
  INBOUND_RECEIVED,
  type InboundReceived,
  MESSAGING_CLOCK,
  MessagingModule,
  PolicyError,
  WhatsAppService,
} from '@dundun/messaging';
import { Injectable, type INestApplication, Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { AccountSenders } from '../../../src/senders/account-senders.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { TestGateway } from '../gateway/test-gateway.js';

const DAY = 24 * 60 * 60 * 1_000;
const PATH = 'messaging/callbacks';
const CUSTOMER = '2348012349910';

const heard = jest.fn<(received: InboundReceived) => void>();

@Injectable()
class Inbox {
  @OnEvent(INBOUND_RECEIVED)
  onMessage(received: InboundReceived): void {
    heard(received);
  }
}

describeOneDatabase('a customer app and the gateway, on WhatsApp', (database) => {
  const gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  let account: CreatedAccount;
  let number: string;
  let app: INestApplication;
  /** Milliseconds by which the customer app's clock is ahead. */
  let ahead = 0;

  beforeAll(async () => {
    ahead = 0;
    heard.mockClear();
    gateway.databaseUrl = await database.another();
    await gateway.start();
    account = await gateway.account();
    const its = gateway.running.app;
    number = String(
      await its.get(AccountSenders, { strict: false }).firstOf(account.accountId, 'whatsapp'),
    );
    const port = await freePort();
    const { secret } = await its
      .get(WebhookEndpointsService, { strict: false })
      .set(account.accountId, `http://127.0.0.1:${port}/${PATH}`);

    @Module({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: http({
            baseUrl: gateway.url,
            apiToken: account.apiToken,
            apiKey: account.apiKey,
          }),
          whatsapp: { from: number, templates: 'open' },
          callbacks: { secrets: [secret] },
          callbackPath: PATH,
        }),
      ],
      providers: [Inbox],
    })
    class CustomerModule {}

    const testing = await Test.createTestingModule({ imports: [CustomerModule] })
      .overrideProvider(MESSAGING_CLOCK)
      .useValue({ ...systemClock, now: () => Date.now() + ahead })
      .compile();
    app = testing.createNestApplication(new FastifyAdapter(), { rawBody: true });
    await app.listen(port, '127.0.0.1');
  });
  afterAll(async () => {
    await app?.close();
    await gateway.destroy();
  });

  it('a template, a reply and 24 hours open and close the window in both apps', async () => {
    const whatsApp = app.get(WhatsAppService);
    const contacts = app.get(ContactsService);
    const ask = (method: string, path: string, body?: object) =>
      gateway.call(method, `/whatsapp/ng/v1${path}`, {
        token: account.apiKey,
        ...(body && { body }),
      });
    const closed = async (): Promise<void> => {
      const refused = await whatsApp
        .sendText({ to: CUSTOMER, text: 'Hello' })
        .catch((e: unknown) => e);
      expect(refused).toBeInstanceOf(PolicyError);
      expect(refused).toMatchObject({ code: 'window_closed' });
    };
    await contacts.optIn(CUSTOMER, { channel: 'whatsapp', source: 'web form' });
    await ask('POST', '/contacts', { phone: CUSTOMER, opt_in: true });
    await closed();

    // Out with a template, which is read in the end.
    const first = await whatsApp.sendTemplate({
      to: CUSTOMER,
      template: 'order_update',
      language: 'en',
      params: ['Ada', '1001'],
    });
    const outcome = await first.outcome({ timeout: '30s' });
    expect(outcome).toMatchObject({
      cost: '0.01',
      currency: 'USD',
      category: 'utility',
      sender: number,
      providerId: expect.any(String),
    });
    await eventually(async () => {
      expect((await whatsApp.message(outcome.providerId!)).status).toBe('read');
    });

    // They write back: the window is open in both stores.
    await eventually(async () => {
      expect(heard.mock.calls.map(([{ from, to, text }]) => ({ from, to, text }))).toEqual([
        { from: CUSTOMER, to: number, text: 'Hello' },
      ]);
    });
    expect((await contacts.find(CUSTOMER))?.lastInbound[number]).toBeInstanceOf(Date);
    const theirs = await ask('GET', `/contacts/${CUSTOMER}`);
    expect(theirs.body['window_expires_at']).toEqual(expect.any(String));

    // A text passes through both.
    const text = await whatsApp.sendText({ to: CUSTOMER, text: 'On its way' });
    expect(await text.outcome({ timeout: '30s' })).toMatchObject({
      category: 'service',
      cost: '0',
      providerId: expect.any(String),
    });

    // One is still queued when the day is over: neither it nor another one leaves.
    const late = await whatsApp.sendText({
      to: CUSTOMER,
      text: 'Too late',
      sendAt: new Date(Date.now() + DAY / 2),
    });
    ahead = DAY;
    await closed();
    await whatsApp.reschedule(late.id, new Date());
    await eventually(async () => {
      expect(await whatsApp.message(`${late.id}-0`)).toMatchObject({
        status: 'rejected',
        errorCode: 'window_closed',
        providerId: null,
      });
    });
    const again = whatsApp.sendTemplate({
      to: CUSTOMER,
      template: 'order_update',
      language: 'en',
      params: ['Ada', '1002'],
    });
    expect((await (await again).outcome({ timeout: '30s' })).providerId).toEqual(
      expect.any(String),
    );
  });
});
