import {
  BATCH_COMPLETED,
  http,
  type DispatchOptions,
  type MessagingOptions,
  MessagingService,
  type Route,
  SmsService,
  type TransportFactory,
} from '@dundun/messaging';
import { smpp, type SmppOptions } from '@dundun/messaging/smpp';
import type { INestApplicationContext } from '@nestjs/common';
import { HttpService } from '@nestjs/axios';
import { EventEmitter2 } from '@nestjs/event-emitter';
import axios from 'axios';
import { inFlight } from '../harness/in.flight.js';
import { startApp } from '../harness/messaging.app.js';
import { moment } from '../harness/moment.js';
import type { Count } from '../harness/rounds.js';
import { serve } from '../harness/worker.serve.js';
import { LoggedTransport } from './logged.transport.js';
import { StatementCounter } from './statement.counter.js';

export interface StoreWorkerOptions {
  readonly url: string;
  /** The provider over HTTP. */
  readonly sink?: string;
  /** Providers over SMPP by name, instead of `sink`. */
  readonly smpp?: Readonly<Record<string, SmppOptions>>;
  readonly routes?: readonly Route[];
  /** Each request goes through `HttpService`. */
  readonly httpService?: boolean;
  readonly countStatements?: boolean;
  /** File for the starts. */
  readonly startLog?: string;
  /** Messages per second of a lane; warm-up lanes have no limit. */
  readonly rate?: number;
  /** Messages per second of the provider, over all processes. */
  readonly providerRate?: number;
  readonly dispatch?: Pick<DispatchOptions, 'enabled' | 'concurrency' | 'lease'>;
}

const MESSAGE = { from: 'ACME', body: 'Your code is 123456', deliveryReport: false } as const;
const SEEDERS = 500;
const WARMERS = 64;
/** Prefix of the warm-up tenants. */
const WARMING = 'warming-';

let app: INestApplicationContext;
let completed = 0;
let awaited: { count: number; resolve: () => void } | undefined;
const counter = new StatementCounter();

/** An app that sends through the store to the sink. */
serve({
  start: async (options: StoreWorkerOptions) => {
    app = await startApp({
      url: options.url,
      messaging: {
        ...providersOf(options),
        sms: { deliveryReport: false },
        reports: { pollAfter: '1h' },
        dispatch: {
          ...(options.rate !== undefined && { rateLimit: limitOf(options.rate) }),
          ...options.dispatch,
        },
      },
      ...(options.countStatements && { logger: counter }),
    });
    app.get(EventEmitter2).on(BATCH_COMPLETED, () => {
      completed++;
      if (awaited && completed >= awaited.count) awaited.resolve();
    });
  },
  /** Accepts `n` scheduled single messages, makes them due, and measures until the last outcome is recorded. */
  drain: async (n: number): Promise<Count> => {
    await reserve(n);
    const done = untilCompleted(n + 1);
    await makeDue();
    const begun = performance.now();
    await send(n);
    await done;
    return { count: n + 1, ms: performance.now() - begun };
  },
  /** Sends `n` single messages in a lane of their own and resolves when all have left. */
  warm: async ({ n, as }: { n: number; as: number }) => {
    const sms = app.get(SmsService);
    const tenant = `${WARMING}${as}`;
    await inFlight(n, WARMERS, (i) => sms.send({ ...MESSAGE, to: recipient(i) }, { tenant }));
    while ((await openBatches(tenant)) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  },
  reserve,
  /** Makes the reserved messages due; one more message wakes the lane. */
  release: async (): Promise<number> => {
    await makeDue();
    const at = moment();
    await send(0);
    return at;
  },
  /** Accepts `n` single messages while they leave; statements of both. */
  live: async ({
    n,
    width,
  }: {
    n: number;
    width: number;
  }): Promise<Count & { statements: number }> => {
    const sms = app.get(SmsService);
    counter.take();
    const begun = performance.now();
    const done = untilCompleted(n);
    await inFlight(n, width, (i) => sms.send({ ...MESSAGE, to: recipient(i) }));
    await done;
    return { count: n, ms: performance.now() - begun, statements: counter.take() };
  },
  /** One batch of `n` recipients, from `send()` to its last outcome. */
  batch: async (n: number): Promise<Count & { statements: number }> => {
    const to = Array.from({ length: n }, (_, i) => recipient(i));
    counter.take();
    const begun = performance.now();
    const done = untilCompleted(1);
    await app.get(SmsService).send({ ...MESSAGE, to });
    await done;
    return { count: n, ms: performance.now() - begun, statements: counter.take() };
  },
  /** One message: the times of the `send()` call and of its resolution. */
  one: async (): Promise<{ key: string; given: number; accepted: number }> => {
    const done = untilCompleted(1);
    const given = moment();
    const { id } = await app.get(SmsService).send({ ...MESSAGE, to: recipient(0) });
    const accepted = moment();
    await done;
    return { key: `${id}-s0`, given, accepted };
  },
  stop: () => app.close(),
});

function providersOf(
  options: StoreWorkerOptions,
): Pick<MessagingOptions, 'transport' | 'providers' | 'routes'> {
  const { smpp: carriers, routes } = options;
  const { providerRate } = options;
  if (!carriers && providerRate !== undefined) {
    const rateLimit = { max: providerRate, per: '1s' } as const;
    return { providers: { main: { transport: transportOf(options), rateLimit } } };
  }
  if (!carriers) return { transport: transportOf(options) };
  const providers = Object.entries(carriers).map(([name, carrier]) => [
    name,
    smpp({ reports: 'message', ...carrier }),
  ]);
  return { providers: Object.fromEntries(providers), ...(routes && { routes }) };
}

function transportOf({ sink = '', httpService, startLog }: StoreWorkerOptions): TransportFactory {
  return (context) => {
    const service = httpService ? new HttpService(axios.create()) : undefined;
    const transport = http({ baseUrl: sink, apiToken: 'tok_bench' })({ ...context, http: service });
    return startLog === undefined ? transport : new LoggedTransport(transport, startLog);
  };
}

function limitOf(rate: number): NonNullable<DispatchOptions['rateLimit']> {
  return (lane) => (lane.startsWith(WARMING) ? undefined : { max: rate, per: '1s' });
}

function send(index: number, sendAt?: Date): Promise<unknown> {
  return app.get(SmsService).send({ ...MESSAGE, to: recipient(index), ...(sendAt && { sendAt }) });
}

/** Accepts `n` scheduled single messages. */
async function reserve(n: number): Promise<void> {
  const sendAt = new Date(Date.now() + 3_600_000);
  await inFlight(n, SEEDERS, (i) => send(i, sendAt));
}

async function makeDue(): Promise<void> {
  await query(
    `UPDATE messaging_batch SET send_at = NULL, available_at = ${Date.now() * 1_000} WHERE send_at IS NOT NULL`,
  );
}

async function openBatches(tenant: string): Promise<number> {
  const [row] = await query<{ open: string | number }[]>(
    `SELECT count(*) AS open FROM messaging_batch WHERE completed_at IS NULL AND tenant = '${tenant}'`,
  );
  return Number(row?.open);
}

function query<T>(sql: string): Promise<T> {
  return app.get(MessagingService).transaction((manager) => manager.query<T>(sql));
}

function untilCompleted(n: number): Promise<void> {
  return new Promise((resolve) => {
    awaited = { count: completed + n, resolve };
  });
}

function recipient(index: number): string {
  return `23480${10_000_000 + index}`;
}
