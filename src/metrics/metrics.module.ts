import { Global, Module } from '@nestjs/common';
import { Metrics } from './metrics.js';

/** Provides {@link Metrics} to every module. */
@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}
