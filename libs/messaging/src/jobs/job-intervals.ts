import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';

/** Members of `SchedulerRegistry` of `@nestjs/schedule`, which need not be installed. */
interface Registry {
  addInterval(name: string, interval: NodeJS.Timeout): void;
  doesExist(type: 'interval', name: string): boolean;
  deleteInterval(name: string): void;
}

/**
 * The intervals of the jobs: those of the app's `ScheduleModule` where it has one, so that operators
 * see all intervals in one place.
 */
@Injectable()
export class JobIntervals {
  readonly #own = new Map<string, NodeJS.Timeout>();

  /** @internal */
  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  add(name: string, interval: NodeJS.Timeout): void {
    const registry = this.#registry();
    if (registry) registry.addInterval(name, interval);
    else this.#own.set(name, interval);
  }

  delete(name: string): void {
    clearInterval(this.#own.get(name));
    this.#own.delete(name);
    const registry = this.#registry();
    if (registry?.doesExist('interval', name)) registry.deleteInterval(name);
  }

  #registry(): Registry | undefined {
    const found = this.discovery
      .getProviders()
      .find(
        ({ instance }) => (instance as object | null)?.constructor?.name === 'SchedulerRegistry',
      );
    return found?.instance as Registry | undefined;
  }
}
