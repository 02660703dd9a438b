import { Global, Module } from '@nestjs/common';
import { MessageMetrics } from './message.metrics.js';
import { Metrics } from './metrics.js';

/** {@link Metrics} for every module. */
@Global()
@Module({
  providers: [Metrics, MessageMetrics],
  exports: [Metrics],
})
export class MetricsModule {}
