import { type MessageStatusChanged, VasService } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { CallbackData, ChannelCallback } from '../../channel.js';
import { CallbackEvent, StatusEventData } from '../../http/callback.dto.js';
import { Field, Price, Text } from '../../http/fields.js';

class OrderEventData extends StatusEventData {
  @Text({ description: 'Empty: an order has no sender.', examples: [''] })
  declare readonly from: string;

  @Text({ nullable: true, examples: ['shop-1001'] }) readonly client_reference!: string | null;
  @Price({
    description:
      'What the account pays, or may still pay; where it is not charged, what the operator charged. null: not known.',
    examples: [97],
  })
  declare readonly cost: number | null;

  @Text({ nullable: true, description: 'Of the order.', examples: ['NGN'] })
  declare readonly currency: string | null;

  @Text({ nullable: true, description: 'What arrived.', examples: ['100'] })
  readonly delivered_amount!: string | null;

  @Text({ nullable: true, examples: ['SIM-1'] }) readonly operator_reference!: string | null;
}

class OrderEvent extends CallbackEvent {
  @Field({ type: OrderEventData }) readonly data!: OrderEventData;
}

@Injectable()
class OrderCallbackData implements CallbackData {
  constructor(@Inject(VasService) private readonly vas: Pick<VasService, 'findAll'>) {}

  async of(changes: readonly MessageStatusChanged[], manager: EntityManager) {
    const ids = changes.map(({ batchId }) => batchId);
    const orders = await this.vas.findAll(ids, { manager });
    return ({ batchId }: MessageStatusChanged) => {
      const order = orders.get(batchId);
      return {
        client_reference: order?.clientReference ?? null,
        cost: order?.cost == null ? null : Number(order.cost),
        currency: order?.currency ?? null,
        delivered_amount: order?.deliveredAmount ?? null,
        operator_reference: order?.operatorReference ?? null,
      };
    };
  }
}

export const VAS_CALLBACK: ChannelCallback = {
  statusEvent: 'vas.order_status',
  identifiedBy: 'batch',
  event: OrderEvent,
  data: OrderCallbackData,
};
