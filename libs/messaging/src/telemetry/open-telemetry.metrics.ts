import type { BatchObservableResult, Counter, Histogram, Meter } from '@opentelemetry/api';
import type { MessageStatusChanged } from '../message/events.js';
import type { Channel } from '../message/message.js';
import { errorTypeOf, openTelemetryApi, SCOPE } from './open-telemetry.js';
import type {
  LaneReading,
  MessagingMetrics,
  QueueReading,
  SubmitMeasurement,
} from '../ports/metrics.js';

const SYSTEM = { 'messaging.system': 'dundun' };
const SUBMIT = { ...SYSTEM, 'messaging.operation.name': 'submit' };

/** Seconds: of requests, and of reports, which may come days later. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const LAG_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 86_400];

/**
 * Metrics; `undefined` without `@opentelemetry/api` or an SDK registered before the module.
 * @see https://opentelemetry.io/docs/specs/semconv/messaging/messaging-metrics/
 */
export async function openTelemetryMetrics(
  load?: Parameters<typeof openTelemetryApi>[0],
): Promise<MessagingMetrics | undefined> {
  const api = await openTelemetryApi(load);
  const meter = api?.metrics.getMeter(SCOPE);
  // Without an SDK the API returns a meter that records nothing.
  return meter && meter !== api?.createNoopMeter() ? new OpenTelemetryMetrics(meter) : undefined;
}

class OpenTelemetryMetrics implements MessagingMetrics {
  readonly #accepted: Counter;
  readonly #sent: Counter;
  readonly #duration: Histogram;
  readonly #changes: Counter;
  readonly #bounces: Counter;
  readonly #reportLag: Histogram;

  constructor(private readonly meter: Meter) {
    this.#accepted = meter.createCounter('dundun.accepted.messages', {
      description: 'Messages of accepted sends.',
      unit: '{message}',
    });
    this.#sent = meter.createCounter('messaging.client.sent.messages', {
      description: 'Messages in requests to providers, with any outcome.',
      unit: '{message}',
    });
    this.#duration = meter.createHistogram('messaging.client.operation.duration', {
      description: 'Duration of requests to providers.',
      unit: 's',
      advice: { explicitBucketBoundaries: REQUEST_BUCKETS },
    });
    this.#changes = meter.createCounter('dundun.status.changes', {
      description: 'Changes of the status of a message, by the new status.',
      unit: '{change}',
    });
    this.#bounces = meter.createCounter('dundun.bounces', {
      description: 'Bounces by their category; `unread`: the report could not be read.',
      unit: '{bounce}',
    });
    this.#reportLag = meter.createHistogram('dundun.report.lag', {
      description: 'Time from the report at the provider to its record.',
      unit: 's',
      advice: { explicitBucketBoundaries: LAG_BUCKETS },
    });
  }

  accepted(channel: Channel, messages: number): void {
    this.#accepted.add(messages, { ...SYSTEM, 'messaging.destination.name': channel });
  }

  submitted({ channel, provider, messages, seconds, error }: SubmitMeasurement): void {
    const attributes = {
      ...SUBMIT,
      'messaging.destination.name': channel,
      'dundun.transport': provider,
      ...(error !== undefined && { 'error.type': errorTypeOf(error) }),
    };
    this.#sent.add(messages, attributes);
    this.#duration.record(seconds, attributes);
  }

  changed(change: MessageStatusChanged): void {
    const { channel, previous, status, event, providerTime, errorCode, details } = change;
    const attributes = { ...SYSTEM, 'messaging.destination.name': channel };
    if (status === 'bounced' && event === undefined) {
      const category =
        errorCode === 'unread_bounce' ? 'unread' : (details?.['category'] ?? 'other');
      this.#bounces.add(1, { ...attributes, 'dundun.bounce.category': category });
    }
    if (event === undefined)
      this.#changes.add(1, { ...attributes, 'dundun.message.status': status });
    // The first change after `sending` is the answer to the request, and no provider reports a cancel.
    if (previous === 'sending' || status === 'cancelled') return;
    this.#reportLag.record(Math.max(0, Date.now() - providerTime.getTime()) / 1_000, attributes);
  }

  observe(read: () => Promise<QueueReading>): () => void {
    const ages = this.meter.createObservableGauge('dundun.queue.age', {
      description: 'How long the oldest due message of a priority has waited, without held lanes.',
      unit: 's',
    });
    const lanes = this.meter.createObservableGauge('dundun.lanes', {
      description: 'Lanes that are held or paused, by the reason, or have due work.',
      unit: '{lane}',
    });
    const unmatched = this.meter.createObservableGauge('dundun.reports.unmatched', {
      description: 'Reports that name no message.',
      unit: '{report}',
    });
    const passed = this.meter.createObservableCounter('dundun.messages.passed', {
      description: 'Messages that left after later ones of their lane and provider, by the reason.',
      unit: '{message}',
    });
    const gauges = [ages, lanes, unmatched, passed];
    const collect = async (result: BatchObservableResult) => {
      const reading = await read();
      for (const [priority, age] of reading.ages)
        result.observe(ages, age, { ...SYSTEM, 'dundun.priority': priority });
      for (const [provider, count] of reading.unmatched)
        result.observe(unmatched, count, { ...SYSTEM, 'dundun.transport': provider });
      for (const { provider, reason, messages } of reading.passed)
        result.observe(passed, messages, {
          ...SYSTEM,
          'dundun.transport': provider,
          'dundun.pass.reason': reason,
        });
      for (const [lane, count] of counted(reading.lanes))
        result.observe(lanes, count, {
          ...SYSTEM,
          'dundun.lane.state': lane.state,
          'dundun.lane.reason': lane.reason,
        });
    };
    this.meter.addBatchObservableCallback(collect, gauges);
    return () => this.meter.removeBatchObservableCallback(collect, gauges);
  }
}

/** Equal readings and their number. */
function counted(lanes: readonly LaneReading[]): Iterable<readonly [LaneReading, number]> {
  const counts = new Map<string, [LaneReading, number]>();
  for (const lane of lanes) {
    const key = `${lane.state} ${lane.reason}`;
    const count = counts.get(key);
    if (count) count[1]++;
    else counts.set(key, [lane, 1]);
  }
  return counts.values();
}
