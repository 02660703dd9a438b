import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

/** OpenTelemetry's own SDK, registered for this file, with an exporter that keeps every span. */
export class RecordedSpans {
  readonly #exporter = new InMemorySpanExporter();

  private constructor() {}

  /** Before the app is made, as an app's `--import` would. */
  static register(sampler?: Sampler): RecordedSpans {
    const spans = new RecordedSpans();
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({
        ...(sampler && { sampler }),
        spanProcessors: [new SimpleSpanProcessor(spans.#exporter)],
      }),
    );
    return spans;
  }

  /** Ended spans of one trace. */
  of(traceId: string): ReadableSpan[] {
    return this.all.filter((span) => span.spanContext().traceId === traceId);
  }

  get all(): ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  unregister(): void {
    trace.disable();
    propagation.disable();
    context.disable();
  }
}
