import { type Attributes, metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';

class ManualReader extends MetricReader {
  protected onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

/** OpenTelemetry's own SDK of metrics, registered for this file. */
export class RecordedMetrics {
  readonly #reader = new ManualReader();

  private constructor() {}

  /** Before the app is made, as an app's `--import` would. */
  static register(): RecordedMetrics {
    const recorded = new RecordedMetrics();
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [recorded.#reader] }));
    return recorded;
  }

  /** The attributes and the value of each data point. */
  async read(name: string): Promise<[Attributes, unknown][]> {
    const { resourceMetrics } = await this.#reader.collect();
    return resourceMetrics.scopeMetrics
      .flatMap((scope) => scope.metrics)
      .filter(({ descriptor }) => descriptor.name === name)
      .flatMap(({ dataPoints }) =>
        dataPoints.map((point): [Attributes, unknown] => [point.attributes, point.value]),
      );
  }

  /** Errors of the functions that are called when metrics are collected. */
  async errors(): Promise<unknown[]> {
    return (await this.#reader.collect()).errors;
  }

  unregister(): void {
    metrics.disable();
  }
}
