import 'reflect-metadata';
import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  simulator,
  SmsService,
} from '@dundun/messaging';
import { Global, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { EventEmitter, once } from 'node:events';
import { createRequire } from 'node:module';
import { DataSource } from 'typeorm';
import { SqliteDriver } from '../../src/config/sqlite-driver.js';

/** Sends one message through the library on Nest 11 and prints its status. */

@Injectable()
class Deliveries extends EventEmitter {
  heard = 0;

  @OnEvent(MESSAGE_STATUS_CHANGED)
  changed(change: MessageStatusChanged): void {
    if (change.status !== 'delivered') return;
    this.heard++;
    this.emit('delivered');
  }
}

@Global()
@Module({
  providers: [
    {
      provide: DataSource,
      useFactory: () =>
        new DataSource({
          type: 'better-sqlite3',
          database: process.argv[2] ?? '',
          driver: SqliteDriver,
        }).initialize(),
    },
  ],
  exports: [DataSource],
})
class DatabaseModule {}

@Module({
  imports: [
    DatabaseModule,
    EventEmitterModule.forRoot(),
    MessagingModule.forRoot({
      transport: simulator(),
      callbacks: { secrets: ['whsec_dGFsa2luZyBkcnVtcyBhcmUgbG91ZCBlbm91Z2g='] },
    }),
  ],
  providers: [Deliveries],
})
class AppModule {}

const app = await NestFactory.create(AppModule, {
  rawBody: true,
  logger: ['fatal', 'error', 'warn'],
});
await app.init();
const deliveries = app.get(Deliveries);
const delivered = once(deliveries, 'delivered');
const sms = app.get(SmsService);
const { id } = await sms.send({ from: 'ACME', to: '2348012345678', body: 'Good morning' });
await delivered;
const { counts } = await sms.batch(id);
await app.close();
await app.get(DataSource).destroy();

const nestOf = (importer: string): unknown =>
  (createRequire(importer)('@nestjs/common/package.json') as { version: string }).version;
const nest = [import.meta.url, import.meta.resolve('@dundun/messaging')].map(nestOf);
console.log(JSON.stringify({ nest, counts, heard: deliveries.heard }));
