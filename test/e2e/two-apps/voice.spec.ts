import {
  http,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  VoiceService,
} from '@dundun/messaging';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type INestApplication, Injectable, Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { TestGateway } from '../gateway/test-gateway.js';

const CALLER = '2348000000001';
const PATH = 'voice/reports';

@Injectable()
class CallLog {
  readonly seen: MessageStatusChanged[] = [];

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus(change: MessageStatusChanged): void {
    if (change.sequence > 0) this.seen.push(change);
  }
}

describeOneDatabase('an app that calls through the gateway', (database) => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let app: INestApplication;
  let voice: VoiceService;

  beforeAll(async () => {
    gateway = await new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' }).start();
    account = gateway.running.demo as CreatedAccount;
    const port = await freePort();
    const { secret } = await gateway.running.app
      .get(WebhookEndpointsService, { strict: false })
      .set(account.accountId, `http://127.0.0.1:${port}/${PATH}`);

    @Module({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: http({ baseUrl: gateway.url, apiToken: account.apiToken }),
          callbacks: { secrets: [secret] },
          callbackPath: PATH,
        }),
      ],
      providers: [CallLog],
    })
    class CustomerModule {}

    const testing = await Test.createTestingModule({ imports: [CustomerModule] }).compile();
    app = testing.createNestApplication(new FastifyAdapter(), { rawBody: true });
    await app.listen(port, '127.0.0.1');
    voice = app.get(VoiceService);
  });
  afterAll(async () => {
    await app.close();
    await gateway.destroy();
  });

  const atGateway = async (to: string) => {
    const path = `/ng/v1/voice/calls?to=${to}`;
    const { body } = await gateway.call('GET', path, { token: account.apiToken });
    return body['data'] as Readonly<Record<string, unknown>>[];
  };

  it('signed callbacks bring the status, the times, the price and the digits', async () => {
    const to = '2348012349912';
    const { id } = await voice.send({
      from: CALLER,
      to,
      text: 'Press 1',
      language: 'en',
      repeat: 2,
      ringTimeout: '20s',
      maxDuration: '60s',
      collect: { maxDigits: 1, timeout: '3s' },
    });
    await eventually(async () =>
      expect(await voice.call(`${id}-0`)).toMatchObject({
        status: 'completed',
        duration: 7,
        billedSeconds: 60,
        cost: '15',
        currency: 'NGN',
        digits: '1',
        answeredBy: 'human',
        attempts: 1,
        answeredAt: expect.any(Date),
        endedAt: expect.any(Date),
      }),
    );
    const [call] = await atGateway(to);
    const read = await gateway.call('GET', `/ng/v1/voice/calls/${String(call?.['message_id'])}`, {
      token: account.apiToken,
    });
    expect(read.body['content']).toMatchObject({
      text: 'Press 1',
      language: 'en',
      repeat: 2,
      ring_timeout: 20,
      max_duration: 60,
      collect: { max_digits: 1, timeout: 3 },
      redial: null,
    });
    const told = () => app.get(CallLog).seen.filter(({ batchId }) => batchId === id);
    await eventually(async () => expect(told().at(-1)?.status).toBe('completed'));
    expect(told().at(-1)?.details).toMatchObject({ digits: '1', duration: 7 });
  });

  it('each redial is a call of its own at the gateway, and one message here', async () => {
    const to = '2348012349901';
    const redial = { times: 1, after: '1s' } as const;
    const { id } = await voice.send({ from: CALLER, to, code: '4821', redial });
    await eventually(async () =>
      expect(await voice.call(`${id}-0`)).toMatchObject({ status: 'busy', attempts: 2, cost: '0' }),
    );
    expect((await atGateway(to)).map(({ status, attempts }) => [status, attempts])).toEqual([
      ['busy', 1],
      ['busy', 1],
    ]);
  });

  it('a caller id that the gateway does not know rejects the call', async () => {
    const to = '2348012341111';
    const { id } = await voice.send({ from: '2348000000009', to, text: 'Hello' });
    await eventually(async () =>
      expect(await voice.call(`${id}-0`)).toMatchObject({
        status: 'rejected',
        errorCode: 'caller_not_registered',
      }),
    );
    expect(await atGateway(to)).toEqual([]);
  });
});
