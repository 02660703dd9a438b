import { MESSAGE_STATUS_CHANGED, type MessageStatusChanged, SmsService } from '@dundun/messaging';
import { Body, Controller, Get, Injectable, Module, Post } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';

@Injectable()
export class OrdersService {
  readonly delivered: string[] = [];

  constructor(private readonly sms: SmsService) {}

  async ship(to: string): Promise<string> {
    const { id } = await this.sms.send({ from: 'ACME', to, body: 'Your order is on its way' });
    return id;
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

  @Get('delivered')
  delivered(): readonly string[] {
    return this.orders.delivered;
  }
}

@Module({ controllers: [OrdersController], providers: [OrdersService] })
export class OrdersModule {}
