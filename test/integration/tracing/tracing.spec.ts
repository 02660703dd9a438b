import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SpanStatusCode } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base';
import { RetryableFailure, UncertainFailure } from '@dundun/messaging/ports';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { RecordedSpans } from '../../support/recorded-spans.js';
import { DispatchFixture, ScriptedTransport } from '../dispatch/dispatch-fixture.js';

const reported = (reference: string) => ({
  reference,
  messageId: null,
  recipient: '2348012345678',
  status: 'delivered' as const,
  rawStatus: 'DELIVRD',
  errorCode: null,
  providerTime: new Date(),
});

describeOneDatabase('a traced message', (database) => {
  const fixture = new DispatchFixture(database);
  let spans: RecordedSpans;
  afterEach(async () => {
    await fixture.clear();
    spans.unregister();
  });

  describe('a sampled trace', () => {
    beforeEach(() => void (spans = RecordedSpans.register()));

    it('one trace covers acceptance in one process and dispatch in another', async () => {
      const accepting = await fixture.boot({ dispatch: false });
      const id = await accepting.send('Hello');
      const [send] = spans.all;
      const { transport, store } = await fixture.boot();
      await eventually(async () => expect(transport.accepted).toHaveLength(1));
      await store.reports.record([reported(`ref-${id}-s0`)], { provider: 'scripted' });
      await eventually(async () => {
        expect(spans.all.map(({ name }) => name)).toEqual(['send sms', 'submit sms', 'report sms']);
      });
      const parents = spans.all.slice(1).map(({ parentSpanContext }) => parentSpanContext?.spanId);
      const { spanId } = send!.spanContext();
      expect(parents).toEqual([spanId, spanId]);
      const [submit] = spans.all.slice(1);
      expect(transport.accepted[0]?.trace).toEqual({
        traceparent: `00-${submit!.spanContext().traceId}-${submit!.spanContext().spanId}-01`,
      });
    });

    it('a resend stays in the trace of its message', async () => {
      const failures = [
        new RetryableFailure('busy', 'Said no to 2348012345678'),
        new UncertainFailure('connection_lost', 'The answer is lost'),
      ];
      const transport = new ScriptedTransport();
      transport.script = () => {
        const failure = failures.shift();
        if (failure) throw failure;
      };
      const { send } = await fixture.boot({}, transport);
      await send('Hello');
      await eventually(async () => {
        expect(spans.all.map(({ name }) => name)).toEqual([
          'send sms',
          'submit sms',
          'submit sms',
          'submit sms',
        ]);
      });
      const submits = spans.all.slice(1);
      expect(submits.map(({ attributes }) => attributes['error.type'])).toEqual([
        'busy',
        'connection_lost',
        undefined,
      ]);
      expect(submits.map(({ status }) => status)).toEqual([
        { code: SpanStatusCode.ERROR },
        { code: SpanStatusCode.ERROR },
        { code: SpanStatusCode.UNSET },
      ]);
      expect(new Set(spans.all.map((span) => span.spanContext().traceId)).size).toBe(1);
    });
  });

  it('an unsampled message stores and exports no trace', async () => {
    spans = RecordedSpans.register(new AlwaysOffSampler());
    const { send, transport, messaging } = await fixture.boot();
    const id = await send('Hello');
    await eventually(async () => expect(transport.accepted).toHaveLength(1));
    expect(transport.accepted[0]?.trace).toBeUndefined();
    expect(await messaging.traceOf(id)).toBeUndefined();
    const source = await database.open();
    expect(await source.query('SELECT content FROM messaging_batch')).toEqual([
      { content: '{"kind":"text","text":"Hello"}' },
    ]);
    expect(spans.all).toEqual([]);
  });
});
