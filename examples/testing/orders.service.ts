import { MESSAGE_STATUS_CHANGED, type MessageStatusChanged, SmsService } from '@dundun/messaging';
import { Injectable, Module } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';

/** The part of an app that is under test. */
@Injectable()
export class OrdersService {
  readonly delivered: string[] = [];

  constructor(private readonly sms: SmsService) {}

  /** Announces the order at once, and asks for a rating an hour later. */
  async ship(phone: string, now: Date): Promise<string> {
    const { id } = await this.sms.send({
      from: 'ACME',
      to: phone,
      body: 'Your order is on its way',
    });
    const sendAt = new Date(now.getTime() + 60 * 60 * 1_000);
    await this.sms.send({ from: 'ACME', to: phone, body: 'How was it?', sendAt });
    return id;
  }

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus({ batchId, status }: MessageStatusChanged): void {
    if (status === 'delivered') this.delivered.push(batchId);
  }
}

@Module({ providers: [OrdersService], exports: [OrdersService] })
export class OrdersModule {}
