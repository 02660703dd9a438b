import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  simulator,
  SmsService,
} from '@dundun/messaging';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OnEvent } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventEmitter, once } from 'node:events';
import { exampleDatabase } from '../database.js';

@Injectable()
class Deliveries extends EventEmitter {
  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus({ recipient, status }: MessageStatusChanged): void {
    console.log(`${recipient} is ${status}`);
    this.emit(status);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot(exampleDatabase()),
    MessagingModule.forRoot({ transport: simulator() }),
  ],
  providers: [Deliveries],
})
class AppModule {}

/** Sends one SMS and waits until it is delivered. */
export async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  const delivered = once(app.get(Deliveries), 'delivered');

  const sms = app.get(SmsService);
  const { id, recipients } = await sms.send({
    from: 'ACME',
    to: '+234 801 234 5678',
    body: 'Good morning',
  });
  console.log(`accepted for ${recipients} recipient`);

  await delivered;
  console.log('counts', (await sms.batch(id)).counts);
  await app.close();
}
