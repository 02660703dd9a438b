import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { http, MessagingModule, SmsService } from '../../../libs/messaging/src/index.js';
import { dataSourceOptions } from './data-source-options.js';

/** A worker like an app's: no HTTP server and no call of `process.exit()`. */
const [database = '', upstream = '', hooks = ''] = process.argv.slice(2);

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSourceOptions(database), retryAttempts: 0 }),
    MessagingModule.forRoot({
      callbackPath: false,
      transport: http({ baseUrl: upstream, apiToken: 'tok_worker' }),
    }),
  ],
})
class WorkerModule {}

const app = await NestFactory.createApplicationContext(WorkerModule, { logger: false });
if (hooks === 'nest') app.enableShutdownHooks(['SIGTERM']);
else process.once('SIGTERM', () => void app.close());

const sms = app.get(SmsService);
const { id } = await sms.send({ from: 'ACME', to: '2348012345678', body: 'Hello' });
while ((await sms.batch(id)).counts.sent !== 1)
  await new Promise((resolve) => setTimeout(resolve, 20));
process.stdout.write('sent\n');
