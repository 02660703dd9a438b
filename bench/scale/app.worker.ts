import {
  BATCH_COMPLETED,
  http,
  type DispatchOptions,
  MessagingService,
  SmsService,
} from '@dundun/messaging';
import { bullMq } from '@dundun/messaging/bullmq';
import type { INestApplicationContext } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { inFlight } from '../harness/in.flight.js';
import { startApp } from '../harness/messaging.app.js';
import { moment } from '../harness/moment.js';
import type { Count } from '../harness/rounds.js';
import { serve } from '../harness/worker.serve.js';

export interface AppWorkerOptions {
  readonly url: string;
  readonly sink: string;
  /** If given, BullMQ is the engine. */
  readonly redis?: { readonly connection: string; readonly queue: string };
  readonly dispatch?: Pick<DispatchOptions, 'enabled' | 'concurrency'>;
}

const MESSAGE = { from: 'ACME', body: 'Your code is 123456', deliveryReport: false } as const;
const SEEDERS = 500;

let app: INestApplicationContext;
let completed = 0;
let awaited: { count: number; resolve: () => void } | undefined;

/** An app that accepts, sends, or both. */
serve({
  start: async ({ url, sink, redis, dispatch }: AppWorkerOptions) => {
    app = await startApp({
      url,
      messaging: {
        transport: http({ baseUrl: sink, apiToken: 'tok_bench' }),
        sms: { deliveryReport: false },
        reports: { pollAfter: '1h' },
        dispatch: { ...dispatch, ...(redis && { engine: bullMq(redis) }) },
      },
    });
    app.get(EventEmitter2).on(BATCH_COMPLETED, () => {
      if (++completed >= (awaited?.count ?? Infinity)) awaited?.resolve();
    });
  },
  /** Accepts `n` scheduled messages in `lanes` lanes, makes them due, and measures until the last outcome is recorded. */
  drain: async ({ n, lanes }: { n: number; lanes: number }): Promise<Count> => {
    const sms = app.get(SmsService);
    const sendAt = new Date(Date.now() + 3_600_000);
    const ids = Array<string>(n);
    await inFlight(n, SEEDERS, async (i) => {
      const tenant = `bench-${i % lanes}`;
      ids[i] = (await sms.send({ ...MESSAGE, to: numberOf(i), sendAt }, { tenant })).id;
    });
    const done = new Promise<void>((resolve) => {
      awaited = { count: completed + n + lanes, resolve };
    });
    await app
      .get(MessagingService)
      .transaction((manager) =>
        manager.query(
          'UPDATE messaging_batch SET send_at = NULL, available_at = $1 WHERE id = ANY($2)',
          [Date.now() * 1_000, ids],
        ),
      );
    const begun = performance.now();
    await inFlight(lanes, SEEDERS, async (lane) => {
      await sms.send({ ...MESSAGE, to: numberOf(lane) }, { tenant: `bench-${lane}` });
    });
    await done;
    return { count: n + lanes, ms: performance.now() - begun };
  },
  /** One message: the times of the `send()` call and of its resolution. */
  one: async (): Promise<{ key: string; given: number; accepted: number }> => {
    const given = moment();
    const { id } = await app.get(SmsService).send({ ...MESSAGE, to: numberOf(0) });
    return { key: `${id}-s0`, given, accepted: moment() };
  },
  stop: () => app.close(),
});

function numberOf(index: number): string {
  return `23480${10_000_000 + index}`;
}
