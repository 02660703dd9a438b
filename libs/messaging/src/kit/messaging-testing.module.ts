import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { JobIntervals } from '../jobs/job-intervals.js';
import { MessagingModule } from '../messaging.module.js';
import { MESSAGING_DATA_SOURCE } from '../messaging.module-definition.js';
import { MESSAGING_CLOCK } from '../ports/clock.js';
import type { MessagingExtras } from '../ports/messaging-extras.js';
import type { MessagingOptions } from '../ports/messaging-options.js';
import { KitParts } from './kit-parts.js';
import { inMemoryDatabase } from './memory-database.js';
import { MessagingTester } from './messaging-tester.js';
import type { Outbox } from './outbox.js';

/**
 * The options of the app. Its transports, clock, engine, store and callback endpoints are replaced;
 * names of providers, routes, policies, channels and templates count.
 */
export type MessagingTestingOptions = MessagingOptions & MessagingExtras;

/** A test may advance the clock by weeks without losing a lane. */
const LEASE = '90d';

/** A test that fails before it closes its app does not keep the runner from ending. */
@Injectable()
class UnrefIntervals extends JobIntervals {
  override add(name: string, interval: NodeJS.Timeout): void {
    super.add(name, interval.unref());
  }
}

/**
 * `MessagingModule` for tests, without a database server and without a provider: the real policies,
 * statuses and listeners on SQLite in memory, providers that accept every message, and a clock that
 * tests advance. It is global, and {@link MessagingTester} is injectable.
 * @example
 * Test.createTestingModule({ imports: [MessagingTestingModule.forRoot(), OrdersModule] })
 */
@Module({})
export class MessagingTestingModule {
  /**
   * @param options of the app, if it has any that matter to its tests; `dataSource` names a data
   * source made with {@link inMemoryDatabase}, so that sends join its transactions
   * @throws MessagingConfigError for a wrong option, and without `node-sqlite3-wasm`
   */
  static forRoot(options: MessagingTestingOptions = {}): DynamicModule {
    const parts = new KitParts(options.dataSource === undefined);
    const memory = { provide: MESSAGING_DATA_SOURCE, useFactory: openMemory };
    return {
      module: MessagingTestingModule,
      global: true,
      imports: [
        MessagingModule.forRoot({
          ...options,
          ...transportsOf(options, parts.outbox),
          isGlobal: true,
          callbackPath: options.callbacks ? options.callbackPath : false,
          dispatch: {
            ...options.dispatch,
            enabled: true,
            engine: () => parts.engine,
            lease: LEASE,
          },
          store: { ...options.store, migrate: true },
          overrides: [
            ...(parts.ownsDatabase ? [memory] : []),
            ...(options.overrides ?? []),
            { provide: MESSAGING_CLOCK, useValue: parts.clock },
            { provide: JobIntervals, useClass: UnrefIntervals },
          ],
        }),
      ],
      providers: [{ provide: KitParts, useValue: parts }, MessagingTester],
      exports: [MessagingTester],
    };
  }
}

function openMemory(): Promise<DataSource> {
  return new DataSource(inMemoryDatabase()).initialize();
}

/** Each provider keeps its name and its rate limit. */
function transportsOf(
  { providers }: MessagingTestingOptions,
  outbox: Outbox,
): Pick<MessagingOptions, 'transport' | 'providers'> {
  if (!providers) return { transport: outbox.transport('testing') };
  return {
    transport: undefined,
    providers: Object.fromEntries(
      Object.entries(providers).map(([name, provider]) => [
        name,
        { ...('transport' in provider && provider), transport: outbox.transport(name) },
      ]),
    ),
  };
}
