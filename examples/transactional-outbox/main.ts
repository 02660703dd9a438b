import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  MessagingService,
  simulator,
  SmsService,
} from '@dundun/messaging';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OnEvent } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventEmitter, once } from 'node:events';
import { DataSource } from 'typeorm';
import { exampleDatabase } from '../database.js';
import { Order } from './order.entity.js';

class SoldOutError extends Error {}

@Injectable()
class OrdersService extends EventEmitter {
  constructor(
    private readonly messaging: MessagingService,
    private readonly sms: SmsService,
  ) {
    super();
  }

  /** The order and its message commit together, or neither exists. */
  place(phone: string, item: string): Promise<Order> {
    return this.messaging.transaction(async (manager) => {
      const order = await manager.save(Order, { phone, item });
      await this.sms.send(
        { from: 'ACME', to: phone, body: `Order ${order.id}: ${item} is on its way` },
        { manager, idempotencyKey: `order-${order.id}` },
      );
      if (item === 'drum') throw new SoldOutError('the drum is sold out');
      return order;
    });
  }

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus({ recipient, status }: MessageStatusChanged): void {
    console.log(`${recipient} is ${status}`);
    this.emit(status);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot(exampleDatabase([Order])),
    MessagingModule.forRoot({ transport: simulator() }),
  ],
  providers: [OrdersService],
})
class AppModule {}

/** Places an order that commits, and one that rolls back: its message is never sent. */
export async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  const orders = app.get(OrdersService);
  const delivered = once(orders, 'delivered');

  try {
    await orders.place('2348012345670', 'drum');
  } catch (error) {
    if (!(error instanceof SoldOutError)) throw error;
    console.log(`rolled back: ${error.message}`);
  }
  const order = await orders.place('2348012345678', 'shaker');
  console.log(`committed: order ${order.id}`);

  await delivered;
  const { data } = await app.get(SmsService).list();
  console.log(`orders: ${await app.get(DataSource).manager.count(Order)}`);
  console.log(`messages: ${data.map(({ recipient }) => recipient).join(', ')}`);
  await app.close();
}
