import type { AddressInfo } from 'node:net';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { Injectable, type INestApplication, Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  http,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  SmsService,
} from '@dundun/messaging';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { TestGateway } from '../gateway/test-gateway.js';

const heard = jest.fn<(change: MessageStatusChanged) => void>();

@Injectable()
class DeliveryLog {
  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus(change: MessageStatusChanged): void {
    heard(change);
  }
}

describeEachDatabase('a customer app and the gateway', (database) => {
  let gateway: TestGateway;
  let token: string;
  let accountId: string;

  beforeAll(async () => {
    gateway = await new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' }).start();
    ({ accountId, apiToken: token } = await gateway.account());
  });
  afterAll(() => gateway.destroy());

  const platforms = { fastify: () => new FastifyAdapter(), express: () => new ExpressAdapter() };

  describe.each(Object.entries(platforms))('on %s', (_name, adapter) => {
    let app: INestApplication;

    async function boot(): Promise<void> {
      const port = await freePort();
      const path = 'sms/reports';
      const { secret } = await gateway.running.app
        .get(WebhookEndpointsService, { strict: false })
        .set(accountId, `http://127.0.0.1:${port}/${path}`);

      @Module({
        imports: [
          TypeOrmModule.forRoot(database.options()),
          MessagingModule.forRoot({
            transport: http({ baseUrl: gateway.url, apiToken: token }),
            callbacks: { secrets: [secret] },
            callbackPath: path,
          }),
        ],
        providers: [DeliveryLog],
      })
      class CustomerModule {}

      const testing = await Test.createTestingModule({ imports: [CustomerModule] }).compile();
      app = testing.createNestApplication(adapter(), { rawBody: true });
      await app.listen(port, '127.0.0.1');
    }

    beforeEach(() => void heard.mockClear());
    afterEach(async () => {
      await app.close();
    });

    it("a customer's message becomes delivered in both stores with one event", async () => {
      await boot();
      const sms = app.get(SmsService);
      const { id } = await sms.send({ from: 'ACME', to: '+234 801 234 5678', body: 'Hello' });
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ delivered: 1 }));

      // Listeners hear of a change after its commit, so the store may show it first.
      const told = () => heard.mock.calls.map(([change]) => change);
      await eventually(async () => expect(told().at(-1)?.status).toBe('delivered'));
      expect(told().at(-1)).toMatchObject({ batchId: id, status: 'delivered' });

      const { data } = await sms.reports({ batchIds: [id] });
      expect(data.map(({ status }) => status)).toContain('delivered');
      const { body } = await gateway.call('GET', '/ng/v1/sms', { token });
      expect((body['data'] as { counts: unknown }[])[0]?.counts).toEqual({ delivered: 1 });

      // Each change once, in order; the report may overtake the submit's answer, then there is no `sent`.
      const sequences = told().map(({ sequence }) => sequence);
      expect(sequences).toEqual(sequences.map((_, index) => index + 1));
      expect(told().filter(({ status }) => status === 'delivered')).toHaveLength(1);
    });

    it('a forged callback is refused and changes nothing', async () => {
      await boot();
      const address = app.getHttpServer().address() as AddressInfo;
      const answer = await fetch(`http://127.0.0.1:${address.port}/sms/reports`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'webhook-id': 'x',
          'webhook-timestamp': '1',
          'webhook-signature': 'v1,AAAA',
        },
        body: JSON.stringify({
          type: 'sms.delivery_report',
          data: { to: '2348012345678', status: 'read' },
        }),
      });
      expect(answer.status).toBe(401);
      expect(heard).not.toHaveBeenCalled();
    });
  });
});
