import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { http, MessagingModule, SmsService } from '@dundun/messaging';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { RecordedSpans } from '../../support/recorded-spans.js';
import { TestGateway } from '../gateway/test-gateway.js';

const RECIPIENT = '2348012345678';
const TEXT = 'canary-text-Zq7xW3';

const name = (span: ReadableSpan): string => span.name;

describeOneDatabase('a trace that begins in a customer’s app', (database) => {
  let spans: RecordedSpans;
  let gateway: TestGateway;
  let token: string;
  let app: INestApplication;

  beforeAll(async () => {
    spans = RecordedSpans.register();
    // The gateway's store and the customer's share a kind, not a database.
    gateway = await new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' }).start();
    const account = await gateway.account();
    token = account.apiToken;
    const module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: http({ baseUrl: gateway.url, apiToken: token }),
          callbacks: { insecure: true },
          callbackPath: 'reports',
        }),
      ],
    }).compile();
    app = module.createNestApplication(new FastifyAdapter(), { rawBody: true });
    await app.listen(0, '127.0.0.1');
    await gateway.running.app
      .get(WebhookEndpointsService, { strict: false })
      .set(account.accountId, `${await app.getUrl()}/reports?secret=canary-url`);
  });
  afterAll(async () => {
    await app.close();
    await gateway.destroy();
    spans.unregister();
  });

  const count = (traceId: string, step: string): number =>
    spans.of(traceId).filter((span) => span.name === step).length;

  /** Sends inside a span of the app's own. */
  async function sent(to: string): Promise<{ id: string; traceId: string; root: string }> {
    const root = trace.getTracer('app').startSpan('order');
    const { id } = await context.with(trace.setSpan(context.active(), root), () =>
      app.get(SmsService).send({ from: 'ACME', to, body: TEXT }),
    );
    root.end();
    const { traceId, spanId } = root.spanContext();
    return { id, traceId, root: spanId };
  }

  it('one trace covers both apps from send to the last report', async () => {
    const { id, traceId, root } = await sent(RECIPIENT);
    // `callback` once for `sent`, which the report may overtake, and once for `delivered`.
    await eventually(async () => {
      expect(new Set(spans.of(traceId).map(name))).toContain('callback sms');
      expect(count(traceId, 'report sms')).toBe(2);
      expect(count(traceId, 'submit sms')).toBe(2);
      expect(count(traceId, 'send sms')).toBe(2);
    });
    const all = spans.of(traceId);
    const byId = new Map(all.map((span) => [span.spanContext().spanId, span]));
    const parents = (step: string): (string | undefined)[] =>
      all
        .filter((span) => span.name === step)
        .map((span) => byId.get(span.parentSpanContext?.spanId ?? '')?.name);
    const [ours, theirs] = all.filter((span) => span.name === 'send sms');
    expect(ours?.parentSpanContext?.spanId).toBe(root);
    expect(parents('submit sms')).toEqual(['send sms', 'send sms']);
    expect(theirs && byId.get(theirs.parentSpanContext?.spanId ?? '')?.name).toBe('submit sms');
    expect(new Set([...parents('report sms'), ...parents('callback sms')])).toEqual(
      new Set(['send sms']),
    );
    expect(ours).toMatchObject({
      kind: SpanKind.PRODUCER,
      attributes: {
        'messaging.system': 'dundun',
        'messaging.operation.name': 'send',
        'messaging.operation.type': 'send',
        'messaging.destination.name': 'sms',
        'messaging.message.id': id,
      },
    });
    const reports = all.filter((span) => span.name === 'report sms');
    for (const report of reports)
      expect(report).toMatchObject({
        kind: SpanKind.CONSUMER,
        attributes: { 'dundun.message.status': 'delivered' },
      });
  });

  it("a refused message's trace has the error code and no number, text or secret", async () => {
    const { traceId } = await sent('2348012349903');
    await eventually(async () => {
      expect(count(traceId, 'report sms')).toBe(2);
      expect(count(traceId, 'submit sms')).toBe(2);
    });
    const failed = spans.of(traceId).filter(({ status }) => status.code === SpanStatusCode.ERROR);
    expect(failed.map(name)).toEqual(['submit sms']);
    expect(failed[0]?.attributes['error.type']).toEqual(expect.stringMatching(/^[a-z_]+$/));
    const told = JSON.stringify(
      spans.all.map(({ name: title, attributes, events, links, status }) => ({
        title,
        attributes,
        events,
        links,
        status,
      })),
    );
    expect(told).not.toMatch(/canary|23480123|tok_|ACME/);
  });

  it('the stored trace context is not part of the content read back', async () => {
    const { id } = await sent(RECIPIENT);
    expect((await app.get(SmsService).batch(id)).content).toEqual({ kind: 'text', text: TEXT });
  });
});

describe('a request with a trace of its own', () => {
  let spans: RecordedSpans;
  let gateway: TestGateway;
  beforeAll(async () => {
    spans = RecordedSpans.register();
    gateway = await new TestGateway().start();
  });
  afterAll(async () => {
    await gateway.destroy();
    spans.unregister();
  });

  it('the gateway continues a valid traceparent and ignores a malformed one', async () => {
    const { apiToken } = await gateway.account();
    const body = { from: 'ACME', to: [RECIPIENT], body: 'Hello' };
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    for (const traceparent of [`00-${traceId}-b7ad6b7169203331-01`, '00-zz-b7ad6b7169203331-01'])
      await gateway.call('POST', '/ng/v1/sendsms', {
        token: apiToken,
        body,
        headers: { traceparent },
      });
    await eventually(async () => {
      expect(spans.all.map(name).toSorted()).toEqual(
        ['report sms', 'send sms', 'submit sms'].flatMap((step) => [step, step]),
      );
    });
    expect(spans.of(traceId).map(name).toSorted()).toEqual([
      'report sms',
      'send sms',
      'submit sms',
    ]);
  });
});
