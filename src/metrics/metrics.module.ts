import { Global, Module } from '@nestjs/common';
import { MessageMetrics } from './message.metrics.js';
import { Metrics } from './metrics.js';

/** Provides {@link Metrics} to every module. */
@Global()
@Module({
  providers: [Metrics, MessageMetrics],
  exports: [Metrics],
})
export class MetricsModule {}
