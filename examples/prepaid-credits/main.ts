import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  simulator,
  SmsService,
} from '@dundun/messaging';
import { MESSAGING_SPEND_GUARD, SpendRefusedError } from '@dundun/messaging/ports';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OnEvent } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventEmitter, once } from 'node:events';
import { DataSource } from 'typeorm';
import { exampleDatabase } from '../database.js';
import { CreditsGuard } from './credits.guard.js';
import { CreditAccount, CreditBatch } from './credits.tables.js';

@Injectable()
class Statuses extends EventEmitter {
  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus({ recipient, status }: MessageStatusChanged): void {
    console.log(`${recipient} is ${status}`);
    this.emit(status);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot(exampleDatabase([CreditAccount, CreditBatch])),
    MessagingModule.forRoot({ transport: simulator() }),
  ],
  providers: [Statuses, { provide: MESSAGING_SPEND_GUARD, useClass: CreditsGuard }],
})
class AppModule {}

/** A tenant with two credits sends a message, loses none by a refused number, and has then too few. */
export async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  const [sms, statuses, { manager }] = [
    app.get(SmsService),
    app.get(Statuses),
    app.get(DataSource),
  ];
  const shop = { tenant: 'shop' };
  await manager.insert(CreditAccount, { ...shop, credits: 2 });
  const credits = async () =>
    console.log(`credits: ${(await manager.findOneByOrFail(CreditAccount, shop)).credits}`);

  // The simulator rejects this number.
  const rejected = once(statuses, 'rejected');
  await sms.send({ from: 'ACME', to: '2348012349903', body: 'Hello' }, shop);
  await credits();
  await rejected;
  await credits();

  const delivered = once(statuses, 'delivered');
  const long = 'A text of more than 160 characters has two parts. '.repeat(4);
  await sms.send({ from: 'ACME', to: '2348012345678', body: long }, shop);
  await delivered;
  await credits();

  try {
    await sms.send({ from: 'ACME', to: '2348012345678', body: 'Hello' }, shop);
  } catch (error) {
    if (!(error instanceof SpendRefusedError)) throw error;
    console.log(`${error.code}: ${error.message}`);
  }
  await app.close();
}
