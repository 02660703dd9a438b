import { type ChannelContext } from '../channels/channel.service.js';
import type { ChannelDefinition } from '../message/channel-definition.js';
import {
  ContentErasedError,
  type FieldError,
  MessageNotFoundError,
  MessageStatusError,
  MessageValidationError,
  validated,
} from '../message/errors.js';
import { messageIdOf } from '../message/ids.js';
import type { SecretContent } from '../message/message.js';
import { STATUS_RANK } from '../message/status.js';
import type { TenantsOption } from '../message/views.js';
import type { AlsoOption, Transaction } from '../store/database/sql.js';
import type { MessageStore } from '../store/message-store.js';
import { PRIORITY } from '../store/rows/batch-state.js';
import type { NewBatch } from '../store/rows/new-batch.js';
import type { MessagePosition } from '../store/verbs/operator-changes.js';

const WORD = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

export interface ResendOptions extends TenantsOption, AlsoOption {
  /** The operator, in 1 to 255 characters; the timelines of both messages show it. @default not recorded */
  readonly by?: string | undefined;
  /**
   * Sends a message that is `unknown` as well: its recipient gets it twice where the provider had
   * accepted it. It needs `by`. @default false
   */
  readonly acceptDoubles?: boolean | undefined;
}

/** The repetition of a message. */
export interface Resent {
  /** Id of its batch. */
  readonly id: string;
  /** Id of the new message. */
  readonly messageId: string;
  /** The message was sent again before: this is its repetition. */
  readonly replayed: boolean;
}

/** Sends messages again, each at most once. */
export class Repetitions {
  constructor(private readonly context: ChannelContext) {}

  /** @throws as `MessagingOperations.resend()` */
  send(id: string, options: ResendOptions): Promise<Resent> {
    const { by, also } = options;
    const { store, enqueuer } = this.context;
    return this.#repeat(id, options, async (batch, place, tx) => {
      const receipt = await enqueuer.repeat(batch, tx.manager);
      await store.operators.link(tx, place, receipt.id, by ?? null);
      await also?.(tx.manager);
    });
  }

  /** What `send()` would answer; it writes nothing. @throws as `send()` */
  check(id: string, options: ResendOptions): Promise<Resent> {
    const { enqueuer } = this.context;
    return this.#repeat(id, options, (batch, _place, tx) =>
      enqueuer.checkRepeat(batch, tx.manager),
    );
  }

  /**
   * @param repeat called in a transaction with the lock of a message that may be repeated
   * @throws as `MessagingOperations.resend()`
   */
  async #repeat(
    id: string,
    options: ResendOptions,
    repeat: (batch: NewBatch, place: MessagePosition, tx: Transaction) => Promise<void>,
  ): Promise<Resent> {
    const { by, tenants, acceptDoubles = false } = options;
    validated((errors) => checkWord('by', acceptDoubles ? (by ?? '') : by, errors));
    const place = await placeOf(this.context.store, id, tenants);
    const message = await this.#repetitionOf(place, acceptDoubles);
    const { clock, store } = this.context;
    return store.database.callerTransaction(async (manager) => {
      const tx = store.database.join(manager);
      const locked = await store.operators.lockForResend(tx, place);
      const first = await store.operators.repetitionOf(tx, place);
      if (first !== undefined) return { id: first, messageId: `${first}-0`, replayed: true };
      this.#requireFailed(place, message, locked?.status, acceptDoubles);
      if (!locked?.recipient) throw new ContentErasedError(idOf(place));
      const batch = { ...message, id: clock.id(), recipients: [locked.recipient] };
      await repeat(batch, place, tx);
      return { id: batch.id, messageId: `${batch.id}-0`, replayed: false };
    });
  }

  /** The batch that repeats a message, without its id and recipient. */
  async #repetitionOf(
    place: MessagePosition,
    acceptDoubles: boolean,
  ): Promise<Omit<NewBatch, 'id' | 'recipients'>> {
    const { clock, store, channels } = this.context;
    const batch = await store.operators.batchOf(place);
    if (!batch) throw new MessageNotFoundError(idOf(place));
    const { tenant, channel, availableAt, validUntil } = batch;
    const { status } = await store.reads.message(idOf(place), { tenant, channel });
    this.#requireFailed(place, batch, channels.rankOf(status), acceptDoubles);
    if (batch.content === null) throw new ContentErasedError(idOf(place));
    const read = await store.data.reader([{ batch: place.batchId, content: batch.content }]);
    const stored = read(place.batchId, batch.content);
    if (!stored) throw new ContentErasedError(idOf(place));
    const { content, labels, hasPersonal } = stored;
    refuseUnrepeatable(channels.get(channel), content as SecretContent);
    const { batchId, position } = place;
    const [own] = hasPersonal ? await store.data.personal([{ batch: batchId, position }]) : [];
    return {
      tenant,
      channel,
      lane: batch.lane,
      class: batch.priority === PRIORITY.high ? 'high' : 'normal',
      sender: batch.sender,
      content,
      labels,
      hasPersonal: own && true,
      personal: own && [own],
      deliveryReport: batch.deliveryReport === 1,
      parts: batch.parts,
      denied: [],
      createdAt: clock.now(),
      sendAt: null,
      validFor:
        validUntil === null ? null : Math.round((Number(validUntil) - Number(availableAt)) / 1_000),
      idempotencyKey: null,
      fingerprint: null,
    };
  }

  #requireFailed(
    place: MessagePosition,
    { channel }: { readonly channel: string },
    rank: number | undefined,
    acceptDoubles: boolean,
  ): void {
    const { channels } = this.context;
    const failed = channels
      .statusesOf(channel)
      .filter(([name, one]) => one.failed && one.terminal && name !== 'cancelled');
    if (failed.some(([, one]) => one.rank === rank)) return;
    if (acceptDoubles && rank === STATUS_RANK.unknown) return;
    const status = rank === undefined ? 'queued' : channels.nameOf(rank);
    throw new MessageStatusError(
      idOf(place),
      status,
      `only one that is ${failed.map(([name]) => name).join(', ')} can be sent again`,
    );
  }
}

export async function placeOf(
  { records }: MessageStore,
  id: string,
  tenants: TenantsOption['tenants'] = 'all',
): Promise<MessagePosition> {
  const found = typeof id === 'string' ? await records.find(id) : undefined;
  const position = found?.position;
  if (!found || position === undefined || !(await records.scopeOf(found.batchId, tenants)))
    throw new MessageNotFoundError(id);
  return { batchId: found.batchId, position };
}

export function idOf({ batchId, position }: MessagePosition): string {
  return messageIdOf(batchId, position);
}

export function checkWord(path: string, word: unknown, errors: FieldError[]): void {
  if (word === undefined || (typeof word === 'string' && WORD.test(word))) return;
  errors.push({ path, message: 'must be 1 to 255 characters, without control characters' });
}

/** @throws MessageValidationError */
function refuseUnrepeatable(
  { name, irrevocable }: ChannelDefinition,
  { secret }: SecretContent,
): void {
  const refusal = irrevocable
    ? `is of the channel ${name}, whose messages are never repeated; place a new order`
    : secret && 'has a one-time code; start a new verification';
  if (refusal) throw new MessageValidationError([{ path: 'id', message: refusal }]);
}
