import type { BatchView, ListedBatch } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { BatchItem, ListAnswer } from './api.js';
import type { ApiCall } from './api-call.js';
import { outlineOf } from './masking.js';
import { MessagingParts } from './messaging-parts.js';
import { Fields, type Given, iso } from './query.js';

const STATUSES = ['scheduled', 'queued', 'sending', 'completed', 'cancelled'] as const;

@Injectable()
export class BatchesApi {
  constructor(@Inject(MessagingParts) private readonly parts: MessagingParts) {}

  async list(call: ApiCall, query: Given): Promise<ListAnswer<BatchItem>> {
    const fields = new Fields(query);
    const cursor = fields.text('cursor', 600);
    const filter = {
      tenants: call.tenantsOf(fields.text('tenant', 255)),
      channel: fields.text('channel', 16),
      status: fields.oneOf('status', STATUSES),
      limit: fields.limit(),
      ...(cursor !== undefined && { cursor }),
    };
    fields.done();
    const { data, nextCursor } = await this.parts.history.batches(filter);
    return { data: await this.#items(call, data), nextCursor };
  }

  async detail(call: ApiCall, id: string): Promise<BatchItem> {
    return this.#item(call, await this.#read(call, id));
  }

  async cancel(call: ApiCall, id: string): Promise<BatchItem> {
    call.require('act');
    const { tenant, channel } = await this.#read(call, id);
    const entry = { action: 'batch.cancelled', tenant, subject: id } as const;
    const service = this.parts.messaging.channel(channel);
    const batch = await service.cancel(id, {
      tenant,
      also: (manager) => call.audit(entry, manager),
    });
    return this.#item(call, batch);
  }

  async reschedule(call: ApiCall, id: string, body: unknown): Promise<BatchItem> {
    call.require('act');
    const fields = new Fields(body);
    const sendAt = fields.time('sendAt');
    if (sendAt === undefined)
      fields.refuse('sendAt', 'must be a time such as 2026-01-31T08:15:00Z');
    fields.done();
    const { tenant, channel } = await this.#read(call, id);
    const service = this.parts.messaging.channel(channel);
    const entry = { action: 'batch.rescheduled', tenant, subject: id } as const;
    const batch = await service.reschedule(id, sendAt as Date, {
      tenant,
      also: (manager) => call.audit(entry, manager),
    });
    return this.#item(call, batch);
  }

  #read(call: ApiCall, id: string): Promise<BatchView> {
    return this.parts.history.batch(id, { tenants: call.access.tenants });
  }

  async #item(call: ApiCall, batch: BatchView): Promise<BatchItem> {
    const [item] = await this.#items(call, [batch]);
    return item as BatchItem;
  }

  async #items({ access }: ApiCall, batches: readonly ListedBatch[]): Promise<BatchItem[]> {
    return batches.map((batch) => {
      const { id, status, counts, recipients, content } = batch;
      const { queued = 0, sending = 0 } = counts ?? {};
      const isWaiting = counts ? queued > 0 : status !== 'completed';
      return {
        id,
        tenant: batch.tenant,
        channel: batch.channel,
        sender: batch.sender,
        status,
        createdAt: iso(batch.createdAt),
        sendAt: iso(batch.sendAt),
        validUntil: iso(batch.validUntil),
        recipients,
        parts: batch.parts,
        counts,
        done: counts && recipients - queued - sending,
        tags: batch.tags,
        content: outlineOf(content),
        canCancel: access.act && isWaiting && status !== 'cancelled',
        canReschedule: access.act && (status === 'scheduled' || status === 'queued'),
      };
    });
  }
}
