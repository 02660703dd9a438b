import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MessagingModule } from '../../../libs/messaging/src/index.js';
import { smpp } from '../../../libs/messaging/src/providers/smpp/index.js';
import { dataSourceOptions } from '../../chaos/processes/data-source-options.js';

const [database = '', url = '', maxBinds = '', lease = ''] = process.argv.slice(2);

/** Sends what others accept, over two of the `maxBinds` binds, until SIGTERM or SIGKILL. */
@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSourceOptions(database), retryAttempts: 0 }),
    MessagingModule.forRoot({
      providers: {
        smsc: smpp({
          url,
          binds: { transmitter: 1, receiver: 1 },
          maxBinds: Number(maxBinds),
          reconnect: 50,
        }),
      },
      dispatch: { lease: Number(lease), backoff: 20 },
      callbackPath: false,
    }),
  ],
})
class WorkerModule {}

const app = await NestFactory.createApplicationContext(WorkerModule, { logger: false });
app.enableShutdownHooks(['SIGTERM']);
process.send?.('started');
