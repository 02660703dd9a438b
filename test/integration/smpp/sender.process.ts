import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MessagingModule, SmsService } from '../../../libs/messaging/src/index.js';
import { smpp } from '../../../libs/messaging/src/providers/smpp/index.js';
import { dataSourceOptions } from '../../chaos/processes/data-source-options.js';

const [database = '', url = '', to = '', body = ''] = process.argv.slice(2);

/** Sends one text over SMPP, and lives until it is killed. */
@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSourceOptions(database), retryAttempts: 0 }),
    MessagingModule.forRoot({
      providers: { smsc: smpp({ url }) },
      dispatch: { lease: '1s' },
      reports: { pollAfter: '1s' },
      callbackPath: false,
    }),
  ],
})
class SenderModule {}

const app = await NestFactory.createApplicationContext(SenderModule, { logger: false });
const { id } = await app.get(SmsService).send({ from: 'ACME', to, body });
process.send?.({ id });
