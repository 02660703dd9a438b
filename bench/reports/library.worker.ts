import 'reflect-metadata';
import { MessagingModule, simulator } from '@dundun/messaging';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../harness/data.source.js';
import { serve } from '../harness/worker.serve.js';
import { seedCampaign } from './campaign.js';

class ReportsModule {}

let app: INestApplication;
let batch: string;

/** An app on Fastify that takes the library's callbacks. */
serve({
  start: async ({ url }: { url: string }) => {
    app = await NestFactory.create(
      {
        module: ReportsModule,
        imports: [
          TypeOrmModule.forRoot(dataSourceOptions(url)),
          MessagingModule.forRoot({
            transport: simulator(),
            store: { migrate: true },
            dispatch: { enabled: false },
            callbackPath: 'reports',
            callbacks: { insecure: true },
          }),
        ],
      },
      new FastifyAdapter(),
      { logger: ['error'], abortOnError: false },
    );
    await app.listen(0, '127.0.0.1');
    batch = await seedCampaign(app.get(DataSource));
  },
  batch: async () => batch,
  address: () => app.getUrl(),
  stop: () => app.close(),
});
