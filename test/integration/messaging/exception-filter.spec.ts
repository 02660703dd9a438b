import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Body,
  Controller,
  Get,
  type INestApplication,
  Injectable,
  Param,
  Post,
} from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  type EmailMessage,
  EmailService,
  MESSAGING_POLICY,
  MessagingExceptionFilter,
  MessagingModule,
  type MessagingPolicy,
  type PolicyDecision,
  type PolicySlice,
  simulator,
  type SmsMessage,
  SmsService,
  VerificationService,
} from '@dundun/messaging';
import { inMemoryDatabase } from '@dundun/messaging/testing';

@Injectable()
class NoGambling implements MessagingPolicy {
  readonly name = 'no-gambling';

  async decide({ items }: PolicySlice): Promise<ReadonlyMap<number, PolicyDecision>> {
    const denied = items.flatMap(({ message }, index) =>
      message.content.kind === 'text' && message.content.text.includes('casino') ? [index] : [],
    );
    const reason = 'The customer did not ask for offers of a casino';
    return new Map(denied.map((index) => [index, { decision: 'deny', code: 'gambling', reason }]));
  }
}

interface Answer {
  readonly id: string;
  readonly counts: { readonly queued: number };
  readonly fields: readonly { readonly path: string }[];
}

@Controller()
class OrdersController {
  constructor(
    private readonly sms: SmsService,
    private readonly email: EmailService,
    private readonly verification: VerificationService,
  ) {}

  @Post('sms')
  send(@Body() { key, ...message }: SmsMessage & { key?: string }): Promise<object> {
    return this.sms.send(message, { idempotencyKey: key });
  }

  @Post('email')
  mail(@Body() message: EmailMessage): Promise<object> {
    return this.email.send(message);
  }

  @Post('codes')
  code(): Promise<object> {
    return this.verification.start({ to: '2348012345678', from: 'ACME', channel: 'sms' });
  }

  @Get('sms/:id')
  find(@Param('id') id: string): Promise<object> {
    return this.sms.batch(id);
  }

  @Post('sms/:id/cancellation')
  cancel(@Param('id') id: string): Promise<object> {
    return this.sms.cancel(id);
  }
}

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])('MessagingExceptionFilter on %s', (_platform, adapter) => {
  let app: INestApplication;
  const ask = async (method: string, path: string, body: object = {}) => {
    const response = await fetch(`${await app.getUrl()}/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Answer;
    return { status: response.status, headers: response.headers, body: answer };
  };

  beforeAll(async () => {
    const module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(inMemoryDatabase()),
        MessagingModule.forRoot({
          providers: { main: simulator({ channels: ['sms'] }) },
          routes: [{ channel: 'sms', use: 'main' }],
          callbackPath: false,
          erasure: { keys: ['MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='] },
        }),
      ],
      controllers: [OrdersController],
      providers: [{ provide: MESSAGING_POLICY, useClass: NoGambling }],
    }).compile();
    app = module.createNestApplication(adapter(), { logger: false });
    app.useGlobalFilters(new MessagingExceptionFilter());
    await app.listen(0, '127.0.0.1');
  });
  afterAll(() => app.close());

  it('wrong fields are 400, each with its path', async () => {
    const { status, body } = await ask('POST', 'sms', { from: 'ACME', to: ['+1', '12'], body: '' });
    expect(status).toBe(400);
    expect(body).toMatchObject({ statusCode: 400, code: 'invalid_field' });
    expect(body.fields.map(({ path }) => path)).toEqual(['to[0]', 'to[1]', 'body']);
  });

  it("a refusal by an app's own policy is 422 in the policy's own words", async () => {
    const message = { from: 'ACME', to: '2348012345678', body: 'Our casino opens' };
    const { status, body } = await ask('POST', 'sms', message);
    expect(status).toBe(422);
    expect(body).toEqual({
      statusCode: 422,
      code: 'gambling',
      message: 'The customer did not ask for offers of a casino',
    });
  });

  it('an unknown batch is 404, and one that has left cannot be cancelled: 409', async () => {
    expect(await ask('GET', 'sms/unknown')).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    const { body } = await ask('POST', 'sms', { from: 'ACME', to: '2348012345678', body: 'Hi' });
    let answer = { status: 201 };
    while (answer.status === 201) {
      const sent = await ask('GET', `sms/${body.id}`);
      if (sent.body.counts.queued > 0) continue;
      answer = await ask('POST', `sms/${body.id}/cancellation`);
    }
    expect(answer).toMatchObject({ status: 409, body: { code: 'already_sent' } });
  });

  it('a key that was used for another message is 422', async () => {
    const message = { from: 'ACME', to: '2348012345678', body: 'Hi', key: 'order-1' };
    expect((await ask('POST', 'sms', message)).status).toBe(201);
    expect(await ask('POST', 'sms', { ...message, body: 'Other' })).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
  });

  it('a recipient without a route is 422, named by its path', async () => {
    const message = { from: 'a@shop.test', to: 'b@shop.test', subject: 'Hi', text: 'Hi' };
    expect(await ask('POST', 'email', message)).toMatchObject({
      status: 422,
      body: { code: 'no_route', fields: [{ path: 'to' }] },
    });
  });

  it('too many codes are 429 with the seconds to wait', async () => {
    expect((await ask('POST', 'codes')).status).toBe(201);
    const { status, headers } = await ask('POST', 'codes');
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
