import { type BatchView, type ListedBatch, MessagingError } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import type { BatchItem, ListAnswer, ResendBatchAnswer } from './api.js';
import { type ApiCall, csvPiece, type TextAnswer } from './api-call.js';
import type { AuditManager, SendCheck } from './dashboard.options.js';
import { unknownId } from './dashboard.error.js';
import { outlineOf } from './masking.js';
import { MessagingParts } from './messaging-parts.js';
import { type Outcome, outcomeOf } from './outcomes.js';
import { Fields, type Given, iso } from './query.js';

const STATUSES = ['scheduled', 'queued', 'sending', 'completed', 'cancelled'] as const;

/** Messages of a request that are sent again: each is a transaction. */
const RESENT_AT_ONCE = 100;

/** Most rows of an export, and batches of one read. */
const MOST_ROWS = 10_000;
const READ = 1_000;
/** Reads of an export: a page may end early. */
const MOST_PAGES = 200;

@Injectable()
export class BatchesApi {
  constructor(@Inject(MessagingParts) private readonly parts: MessagingParts) {}

  async list(call: ApiCall, query: Given): Promise<ListAnswer<BatchItem>> {
    const fields = new Fields(query);
    const filter = { ...filterOf(call, fields), limit: fields.limit() };
    fields.done();
    const { data, nextCursor } = await this.parts.history.batches(filter);
    return { data: await this.#items(call, data), nextCursor };
  }

  /** CSV of the newest batches that match; it has no address. */
  async export(call: ApiCall, query: Given): Promise<TextAnswer> {
    const fields = new Fields(query);
    const { cursor: from, ...filter } = filterOf(call, fields);
    const most = fields.limit(MOST_ROWS, MOST_ROWS);
    fields.done();
    const rows: ListedBatch[] = [];
    let cursor: string | null | undefined = from;
    for (let page = 0; page < MOST_PAGES && cursor !== null && rows.length < most; page++) {
      const { data, nextCursor } = await this.parts.history.batches({
        ...filter,
        limit: Math.min(READ, most - rows.length),
        ...(cursor !== undefined && { cursor }),
      });
      rows.push(...data);
      cursor = nextCursor;
      // On SQLite nothing else here waits.
      await turn();
    }
    const lines = (await this.#items(call, rows)).map((batch) => {
      const { id, tenant, channel, sender, status, createdAt, sendAt, tags } = batch;
      const { recipients, done, counts } = batch;
      const ended = (['delivered', 'failed'] as const).map(
        (outcome) => counts && this.#sumOf(channel, counts, outcome),
      );
      const figures = [recipients, done, ...ended].map((one) =>
        one === null ? null : String(one),
      );
      return [id, tenant, channel, sender, status, createdAt, sendAt, tags.join(' '), ...figures];
    });
    const header =
      'id,tenant,channel,sender,status,created_at,send_at,tags,recipients,done,delivered,failed';
    return csvPiece('batches', [header.split(','), ...lines], cursor);
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

  /**
   * Sends a piece of the messages with a failed status again. A message has one repetition, so a repeated
   * request sends none twice.
   */
  async resend(call: ApiCall, id: string, body: unknown): Promise<ResendBatchAnswer> {
    call.require('act');
    const fields = new Fields(body);
    const status = fields.need('status', 32);
    const cursor = fields.text('cursor', 600);
    fields.done();
    const { history, channels, operations } = this.parts;
    const { tenant, channel, sender, content } = await this.#read(call, id);
    if (outcomeOf(channels, channel, status) !== 'failed')
      fields.refuse('status', 'must be a failed status of the channel');
    fields.done();
    if (content === null || channels.find(channel)?.irrevocable !== undefined)
      throw unknownId('batch with messages that can be sent again');
    const check = { tenant, channel, from: sender || undefined };
    await call.checkSend({ ...check, content: content as SendCheck['content'] });
    const { tenants, by } = call.access;
    const { data, nextCursor } = await history.messages({
      tenants,
      status,
      reference: id,
      limit: RESENT_AT_ONCE,
      ...(cursor !== undefined && { cursor }),
    });
    const refused = new Map<string, ResendBatchAnswer['refused'][number]>();
    let [resent, repeated] = [0, 0];
    for (const { id: subject } of data) {
      const entry = { action: 'message.resent', tenant, subject } as const;
      const also = (manager: AuditManager) => call.audit(entry, manager);
      try {
        const { replayed } = await operations.resend(subject, { tenants, by, also });
        if (replayed) repeated++;
        else resent++;
      } catch (error) {
        if (!(error instanceof MessagingError)) throw error;
        const { code, message } = error;
        const messages = (refused.get(code)?.messages ?? 0) + 1;
        refused.set(code, { code, messages, message });
      }
    }
    return { resent, repeated, refused: [...refused.values()], nextCursor };
  }

  #sumOf(channel: string, counts: Readonly<Record<string, number>>, outcome: Outcome): number {
    const { channels } = this.parts;
    return Object.entries(counts)
      .filter(([status]) => outcomeOf(channels, channel, status) === outcome)
      .reduce((sum, [, messages]) => sum + messages, 0);
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
        // A status without messages is no key of it.
        counts: counts as BatchItem['counts'],
        done: counts && recipients - queued - sending,
        tags: batch.tags,
        content: outlineOf(content),
        canCancel: access.act && isWaiting && status !== 'cancelled',
        canReschedule: access.act && (status === 'scheduled' || status === 'queued'),
      };
    });
  }
}

function filterOf(call: ApiCall, fields: Fields) {
  const cursor = fields.text('cursor', 600);
  return {
    tenants: call.tenantsOf(fields.text('tenant', 255)),
    channel: fields.text('channel', 16),
    status: fields.oneOf('status', STATUSES),
    ...(cursor !== undefined && { cursor }),
  };
}
