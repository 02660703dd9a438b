import { MessagingDashboardModule } from '@dundun/dashboard';
import { BATCH_COMPLETED, MessagingModule, simulator, SmsService } from '@dundun/messaging';
import { FREQUENCY_CAP_MIGRATIONS, MESSAGING_MIGRATIONS } from '@dundun/messaging/migrations';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { dataSourceOptions } from '../harness/data.source.js';
import type { Count } from '../harness/rounds.js';
import { serve } from '../harness/worker.serve.js';

class PortalBenchModule {}

const RECIPIENTS = 50;

let app: NestFastifyApplication;
let completed = 0;
let awaited: { readonly count: number; readonly resolve: () => void } | undefined;

/** An app with a dashboard, which sends to the simulator. */
serve({
  start: async ({ url }: { readonly url: string }) => {
    app = await NestFactory.create<NestFastifyApplication>(
      {
        module: PortalBenchModule,
        imports: [
          TypeOrmModule.forRoot({
            ...dataSourceOptions(url),
            migrations: [...MESSAGING_MIGRATIONS, ...FREQUENCY_CAP_MIGRATIONS],
          }),
          MessagingModule.forRoot({
            transport: simulator({ reportDelay: '10ms' }),
            // The batches of the filled store are old.
            store: {
              migrate: true,
              recipientIndex: true,
              retention: { content: false, messages: false },
            },
            callbackPath: false,
          }),
          MessagingDashboardModule.forRoot({
            path: 'dashboard',
            guard: { canActivate: () => true },
          }),
        ],
      },
      new FastifyAdapter(),
      { logger: ['error'] },
    );
    await app.listen(0, '127.0.0.1');
    app.get(EventEmitter2, { strict: false }).on(BATCH_COMPLETED, () => {
      completed++;
      if (awaited && completed >= awaited.count) awaited.resolve();
    });
  },
  address: async () => `${await app.getUrl()}/dashboard/`,
  /** Sends so many messages, in batches, and resolves when all batches have completed. */
  drain: async ({ n }: { readonly n: number }): Promise<Count> => {
    const sms = app.get(SmsService, { strict: false });
    const batches = n / RECIPIENTS;
    completed = 0;
    const all = new Promise<void>((resolve) => (awaited = { count: batches, resolve }));
    const to = Array.from({ length: RECIPIENTS }, (_, i) => `23480${12_345_600 + i}`);
    const start = performance.now();
    for (let sent = 0; sent < batches; sent++)
      await sms.send({ from: 'ACME', to, body: 'Your code is 123456' }, { tenant: 'acme' });
    await all;
    return { count: n, ms: performance.now() - start };
  },
  stop: () => app.close(),
});
