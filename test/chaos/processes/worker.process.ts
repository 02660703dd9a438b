import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { http, MessagingModule, SmsService } from '../../../libs/messaging/src/index.js';
import { dataSourceOptions } from './data-source-options.js';
import { Points, tell } from './points.js';
import { moment } from './protocol.js';

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
  providers: [Points],
})
class WorkerModule {}

const app = await NestFactory.createApplicationContext(WorkerModule, { logger: false });
if (hooks === 'nest') app.enableShutdownHooks(['SIGTERM']);
else process.once('SIGTERM', () => void app.close());

const sms = app.get(SmsService);
const MESSAGES = 20;
let last = '';
for (let n = 0; n < MESSAGES; n++) {
  const body = `Hello ${n}`;
  tell({ event: 'calling', key: body, at: moment() });
  const { id } = await sms.send({ from: 'ACME', to: '2348012345678', body });
  tell({ event: 'accepted', key: body, id, at: moment() });
  last = id;
}
while ((await sms.batch(last)).counts.sent !== 1)
  await new Promise((resolve) => setTimeout(resolve, 20));
process.stdout.write('sent\n');
