import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingService,
  SmsService,
} from '@dundun/messaging';
import { Body, Controller, Get, HttpCode, Injectable, Module, Post } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { DataSource } from 'typeorm';
import { Order } from './order.entity.js';

export const DECLINED = '+234 801 234 5670';

@Injectable()
export class OrdersService {
  readonly delivered: string[] = [];

  constructor(
    private readonly sms: SmsService,
    private readonly messaging: MessagingService,
    private readonly dataSource: DataSource,
  ) {}

  async ship(to: string): Promise<string> {
    const { id } = await this.sms.send({ from: 'ACME', to, body: 'Your order is on its way' });
    return id;
  }

  /** Stores the order with its message; a declined one has neither. */
  async place(phone: string): Promise<void> {
    await this.messaging.transaction(async (manager) => {
      await manager.insert(Order, { phone });
      await this.sms.send({ from: 'ACME', to: phone, body: 'Thank you' }, { manager });
      if (phone === DECLINED) throw new Error('The card was declined');
    });
  }

  async stored(): Promise<{ orders: number; messages: number }> {
    const { data } = await this.sms.list();
    return { orders: await this.dataSource.getRepository(Order).count(), messages: data.length };
  }

  @OnEvent(MESSAGE_STATUS_CHANGED)
  changed({ status, batchId }: MessageStatusChanged): void {
    if (status === 'delivered') this.delivered.push(batchId);
  }
}

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  async ship(@Body() { to }: { to: string }): Promise<{ id: string }> {
    return { id: await this.orders.ship(to) };
  }

  @Post('placed')
  @HttpCode(204)
  place(@Body() { phone }: { phone: string }): Promise<void> {
    return this.orders.place(phone);
  }

  @Get()
  stored(): Promise<{ orders: number; messages: number }> {
    return this.orders.stored();
  }

  @Get('delivered')
  delivered(): readonly string[] {
    return this.orders.delivered;
  }
}

@Module({ controllers: [OrdersController], providers: [OrdersService] })
export class OrdersModule {}
