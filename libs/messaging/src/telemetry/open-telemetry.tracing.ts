import type { Context, Tracer } from '@opentelemetry/api';
import {
  errorTypeOf,
  type OpenTelemetryApi as Api,
  openTelemetryApi,
  SCOPE,
} from './open-telemetry.js';
import type { MessagingTracing, TraceContext, TracedStep } from '../ports/tracing.js';

/** Context key of OpenTelemetry's SDK that disables instrumentations. */
const SUPPRESSED = 'OpenTelemetry SDK Context Key SUPPRESS_TRACING';

/**
 * Tracing; `undefined` without `@opentelemetry/api` or an SDK registered before the module. The
 * trace context passes through the SDK's propagator, by default that of W3C.
 * @see https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
 */
export async function openTelemetryTracing(
  load?: Parameters<typeof openTelemetryApi>[0],
): Promise<MessagingTracing | undefined> {
  const api = await openTelemetryApi(load);
  const tracer = api && registeredTracer(api);
  return tracer && new OpenTelemetryTracing(api, tracer);
}

class OpenTelemetryTracing implements MessagingTracing {
  readonly #suppressed: symbol;

  constructor(
    private readonly api: Api,
    private readonly tracer: Tracer,
  ) {
    this.#suppressed = api.createContextKey(SUPPRESSED);
  }

  async step<T>(
    step: TracedStep,
    work: (context: TraceContext | undefined) => Promise<T>,
  ): Promise<T> {
    const { context, trace, SpanKind, SpanStatusCode } = this.api;
    const parent = this.#parentOf(step);
    const { operation, channel, kind } = step;
    const span = this.tracer.startSpan(
      `${operation} ${channel}`,
      { kind: SpanKind[KINDS[kind]], attributes: attributesOf(step) },
      parent,
    );
    const own = trace.setSpan(parent, span);
    try {
      return await context.with(
        step.quiet ? own.setValue(this.#suppressed, true) : own,
        work,
        undefined,
        span.isRecording() ? this.#contextOf(own) : undefined,
      );
    } catch (error) {
      // The error message may quote the sent content, so it is not recorded.
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', errorTypeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  #parentOf({ parent }: TracedStep): Context {
    const { context, propagation, ROOT_CONTEXT } = this.api;
    return parent ? propagation.extract(ROOT_CONTEXT, parent) : context.active();
  }

  #contextOf(own: Context): TraceContext | undefined {
    const carrier: Partial<TraceContext> = {};
    this.api.propagation.inject(own, carrier);
    const { traceparent, tracestate } = carrier;
    return traceparent === undefined
      ? undefined
      : { traceparent, ...(tracestate && { tracestate }) };
  }
}

const KINDS = { producer: 'PRODUCER', client: 'CLIENT', consumer: 'CONSUMER' } as const;

/** `undefined` where no SDK is registered. */
function registeredTracer({ trace }: Api): Tracer | undefined {
  const provider = trace.getTracerProvider();
  // Recognises the API's proxy provider by shape, because the app may use another copy of the API.
  return 'getDelegateTracer' in provider
    ? (provider as { getDelegateTracer(name: string): Tracer | undefined }).getDelegateTracer(SCOPE)
    : provider.getTracer(SCOPE);
}

function attributesOf(step: TracedStep) {
  const { operation, type, channel, id, messages = 1, attributes, error } = step;
  return {
    'messaging.system': 'dundun',
    'messaging.operation.name': operation,
    'messaging.operation.type': type,
    'messaging.destination.name': channel,
    'messaging.message.id': id,
    ...(error && { 'error.type': errorTypeOf({ code: error }) }),
    ...(messages > 1 && { 'messaging.batch.message_count': messages }),
    ...attributes,
  };
}
