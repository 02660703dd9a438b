import { afterEach, describe, expect, it } from '@jest/globals';
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { isTracingSuppressed, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { openTelemetryTracing } from './open-telemetry.tracing.js';
import type { TracedStep } from '../ports/tracing.js';

const STEP: TracedStep = {
  operation: 'send',
  type: 'send',
  kind: 'producer',
  channel: 'sms',
  id: 'b-1',
};

describe('openTelemetryTracing', () => {
  afterEach(() => {
    api.trace.disable();
    api.context.disable();
    api.propagation.disable();
  });

  it('tracing is off without the OpenTelemetry API or SDK', async () => {
    const missing = Object.assign(new Error('no such module'), { code: 'ERR_MODULE_NOT_FOUND' });
    expect(await openTelemetryTracing(() => Promise.reject(missing))).toBeUndefined();
    const inJest = new Error(
      "@dundun/messaging tried to access @opentelemetry/api (a peer dependency) but it isn't provided by its ancestors",
    );
    expect(await openTelemetryTracing(() => Promise.reject(inJest))).toBeUndefined();
    expect(await openTelemetryTracing()).toBeUndefined();
  });

  it('a broken OpenTelemetry API fails the boot', async () => {
    const broken = new SyntaxError('unexpected token');
    await expect(openTelemetryTracing(() => Promise.reject(broken))).rejects.toBe(broken);
  });

  describe('with an SDK', () => {
    const register = async () => {
      const exporter = new InMemorySpanExporter();
      api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
      api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
      api.trace.setGlobalTracerProvider(
        new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
      );
      return { exporter, tracing: (await openTelemetryTracing())! };
    };

    it('a step continues the given trace with its state', async () => {
      const { exporter, tracing } = await register();
      const traceId = '0af7651916cd43dd8448eb211c80319c';
      const parent = {
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
        tracestate: 'vendor=1',
      };
      const own = await tracing.step({ ...STEP, parent, messages: 3 }, async (trace) => trace);
      expect(own).toEqual({
        traceparent: expect.stringMatching(`^00-${traceId}-[0-9a-f]{16}-01$`),
        tracestate: 'vendor=1',
      });
      expect(own?.traceparent).not.toContain('b7ad6b7169203331');
      const [span] = exporter.getFinishedSpans();
      expect(span?.parentSpanContext).toMatchObject({ spanId: 'b7ad6b7169203331', isRemote: true });
      expect(span?.attributes['messaging.batch.message_count']).toBe(3);
    });

    it('an unreadable trace context starts a new trace', async () => {
      const { tracing } = await register();
      const parent = { traceparent: 'nonsense' };
      expect(await tracing.step({ ...STEP, parent }, async (trace) => trace)).toEqual({
        traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
      });
    });

    it('a span names an error by its type and not by its message', async () => {
      const { exporter, tracing } = await register();
      const errors = [
        Object.assign(new Error('to 2348012345678'), { code: 'refused' }),
        Object.assign(new TypeError('secret'), { code: '2348012345678' }),
        'a thrown text',
      ];
      for (const error of errors)
        await expect(tracing.step(STEP, () => Promise.reject(error))).rejects.toBe(error);
      expect(exporter.getFinishedSpans().map(({ attributes }) => attributes['error.type'])).toEqual(
        ['refused', 'TypeError', '_OTHER'],
      );
      expect(
        JSON.stringify(exporter.getFinishedSpans().map(({ status, events }) => [status, events])),
      ).toBe(JSON.stringify(errors.map(() => [{ code: api.SpanStatusCode.ERROR }, []])));
    });

    it('a quiet step suppresses instrumented clients', async () => {
      const { tracing } = await register();
      const silent = async (): Promise<boolean> => isTracingSuppressed(api.context.active());
      expect(await tracing.step({ ...STEP, quiet: true }, silent)).toBe(true);
      expect(await tracing.step(STEP, silent)).toBe(false);
    });
  });
});
