import { Inject, Injectable } from '@nestjs/common';
import { MESSAGING_METRICS, type MessagingMetrics } from './metrics.js';
import { MESSAGING_TRACING, type MessagingTracing } from './tracing.js';

/** Spans and measurements; each `undefined` where the app has none. */
@Injectable()
export class Telemetry {
  constructor(
    @Inject(MESSAGING_TRACING) readonly tracing: MessagingTracing | undefined,
    @Inject(MESSAGING_METRICS) readonly metrics: MessagingMetrics | undefined,
  ) {}
}
