import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { ApiError } from '../http/api-error.js';
import { WebhookDeliveryStore } from './webhook-delivery.store.js';
import { isWebhookId, WebhookEndpointsService } from './webhook-endpoints.service.js';

/** The deliveries to send again; with neither field, the undelivered ones. */
export interface Redelivery {
  /** All deliveries created at or after this time, delivered or not. */
  readonly since?: Date | undefined;
  /** One delivery, by its `webhook-id`. */
  readonly deliveryId?: string | undefined;
}

/** Sends callbacks again, under the same `webhook-id` and with a new schedule. */
@Injectable()
export class WebhookRedeliveryService {
  constructor(
    private readonly deliveries: WebhookDeliveryStore,
    private readonly endpoints: WebhookEndpointsService,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /**
   * Makes deliveries of an endpoint due at once. A disabled endpoint receives them after it is
   * enabled.
   *
   * @returns the number of deliveries
   * @throws ApiError 404 where the account has no such endpoint, or the endpoint no such delivery
   */
  async redeliver(accountId: string, endpointId: string, wanted: Redelivery = {}): Promise<number> {
    const { id } = await this.endpoints.get(accountId, endpointId);
    const now = this.clock.now();
    if (wanted.deliveryId === undefined)
      return this.deliveries.redeliver(id, wanted.since?.getTime(), now);
    const deliveryId = wanted.deliveryId.toLowerCase();
    const found = isWebhookId(deliveryId) ? await this.deliveries.find(id, deliveryId) : undefined;
    if (found === undefined)
      throw new ApiError('not_found', `This webhook has no delivery ${deliveryId.slice(0, 64)}`);
    await this.deliveries.makeDue([found], now);
    return 1;
  }
}
