import { Inject, Injectable } from '@nestjs/common';
import { ContactsService } from '../contacts/contacts.service.js';
import { isGroupId } from '../contacts/groups.js';
import type { ChannelDefinition } from '../message/channel-definition.js';
import { MessageValidationError } from '../message/errors.js';
import { PolicyError, type RecipientDenial } from '../policy/policy.service.js';
import { PolicyPipeline } from '../policy/policy-pipeline.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import { LANE_WAKER, type LaneWaker } from '../ports/dispatch-engine.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../ports/messaging-settings.js';
import { MESSAGING_TRACING, type MessagingTracing } from '../ports/tracing.js';
import type { EnqueuedBatch } from '../store/rows/new-batch.js';
import { MessageStore } from '../store/message-store.js';
import type { NewBatch } from '../store/rows/new-batch.js';
import type { Transaction } from '../store/database/store-database.js';
import { withTrace } from '../store/rows/stored-content.js';
import { retryWhileUnavailable } from '../store/database/retry.js';
import {
  checkedSend,
  type CheckedSend,
  type LibraryMessage,
  type Members,
  namesGroups,
  type Receipt,
  type SendOptions,
} from './send.js';

/**
 * Enqueues the sends of every channel:
 *
 * ```
 * expand groups → check → ask the policies → store (or replay) → wake the lane
 * ```
 */
@Injectable()
export class Enqueuer {
  constructor(
    @Inject(MessageStore) private readonly store: MessageStore,
    @Inject(LANE_WAKER) private readonly waker: LaneWaker,
    @Inject(PolicyPipeline) private readonly policy: PolicyPipeline,
    @Inject(ContactsService) private readonly contacts: ContactsService,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
    @Inject(MESSAGING_TRACING) private readonly tracing: MessagingTracing | undefined,
  ) {}

  /**
   * Resolves once the batch is durable, or part of the caller's transaction.
   *
   * @throws MessageValidationError naming each wrong field
   * @throws PolicyError where policy denies every recipient; nothing was stored
   * @throws IdempotencyKeyReusedError where the key was used for other content
   * @throws IdempotencyKeyInUseError where another open transaction holds the key
   * @throws TransactionRequiredError where `manager` is in no transaction of the module's data source
   */
  async enqueue(
    channel: ChannelDefinition,
    message: LibraryMessage,
    options: SendOptions,
  ): Promise<Receipt> {
    const { manager } = options;
    const tx = manager && this.store.database.join(manager);
    let send: CheckedSend;
    try {
      const members =
        channel.groups === 'expand' && namesGroups(message.to)
          ? await this.#members(channel, message.to, options, tx)
          : undefined;
      send = checkedSend(channel, message, options, members, this.#context);
    } catch (error) {
      const first = await this.#replayWithoutGroups(error, channel, message, options, tx);
      if (!first) throw error;
      return first;
    }
    // `return await` resolves three microtasks earlier than returning the promise.
    return await (this.tracing ? this.#traced(send, tx, this.tracing) : this.#enqueue(send, tx));
  }

  /**
   * The receipt of the first send under `options.idempotencyKey`, also where policy would now deny
   * the send.
   * @throws MessageValidationError naming each wrong field
   * @throws IdempotencyKeyReusedError where the key was used for other content
   */
  async replayOf(
    channel: ChannelDefinition,
    message: LibraryMessage,
    options: SendOptions,
  ): Promise<Receipt | undefined> {
    const { manager } = options;
    const tx = manager && this.store.database.join(manager);
    const { batch } = checkedSend(channel, message, options, undefined, this.#context);
    return this.#replayOf(batch, tx);
  }

  get #context() {
    return { clock: this.clock, lane: this.settings.dispatch.lane };
  }

  /** Looks up the groups among the recipients, all in one query. */
  #members(
    { maxRecipients = 100_000, addressKinds }: ChannelDefinition,
    to: unknown,
    { tenant = '' }: SendOptions,
    tx: Transaction | undefined,
  ): Promise<Members> {
    const paths = new Map<string, string>();
    const named: readonly unknown[] = Array.isArray(to) ? to : [to];
    named.forEach((entry, index) => {
      if (isGroupId(entry) && !paths.has(entry)) paths.set(entry, `to[${index}]`);
    });
    const { groups } = this.contacts;
    return tx
      ? groups.expand(tx, tenant, paths, maxRecipients, addressKinds)
      : retryWhileUnavailable(() =>
          groups.expand(this.store.database, tenant, paths, maxRecipients, addressKinds),
        );
  }

  /**
   * Since the first send under this key, a group may have been deleted or grown above the limit.
   */
  async #replayWithoutGroups(
    error: unknown,
    channel: ChannelDefinition,
    message: LibraryMessage,
    options: SendOptions,
    tx: Transaction | undefined,
  ): Promise<Receipt | undefined> {
    if (!(error instanceof MessageValidationError) || options.idempotencyKey === undefined)
      return undefined;
    if (!channel.groups || !namesGroups(message.to)) return undefined;
    const passed = { ...channel, groups: 'pass' } as const;
    const { batch } = checkedSend(passed, message, options, undefined, this.#context);
    return this.#replayOf(batch, tx);
  }

  /**
   * Enqueues within a span that is a child of the caller's; the batch stores the span's context.
   */
  #traced(
    { batch, content }: CheckedSend,
    tx: Transaction | undefined,
    tracing: MessagingTracing,
  ): Promise<Receipt> {
    const { id, channel, recipients } = batch;
    return tracing.step(
      {
        operation: 'send',
        type: 'send',
        kind: 'producer',
        channel,
        id,
        messages: recipients.length,
      },
      (trace) =>
        this.#enqueue(
          {
            batch: trace ? { ...batch, content: withTrace(batch.content, trace) } : batch,
            content,
          },
          tx,
        ),
    );
  }

  #enqueue(send: CheckedSend, tx: Transaction | undefined): Promise<Receipt> {
    return !tx && this.policy.isSilent(send.batch.channel)
      ? this.#store(send.batch)
      : this.#enqueueAllowed(send, tx);
  }

  async #enqueueAllowed(send: CheckedSend, tx: Transaction | undefined): Promise<Receipt> {
    const allowed = this.policy.isSilent(send.batch.channel)
      ? send.batch
      : await this.#allowed(send, tx);
    if (allowed instanceof PolicyError) {
      const first = await this.#replayOf(send.batch, tx);
      if (first) return first;
      throw allowed;
    }
    return tx ? this.#storeWithin(tx, allowed) : this.#store(allowed);
  }

  /**
   * The batch without its denied recipients. Denied recipients come first, so that their `rejected`
   * messages take the first positions. Returns the error where policy denies all recipients.
   */
  async #allowed(
    { batch, content }: CheckedSend,
    tx: Transaction | undefined,
  ): Promise<NewBatch | PolicyError> {
    const { tenant, channel, sender, recipients } = batch;
    const message = { tenant, channel, sender, content };
    const decisions = await this.policy.review([{ message, recipients }], 'send', tx);
    if (decisions.size === 0) return batch;
    const denials: RecipientDenial[] = [];
    const allowed: string[] = [];
    recipients.forEach((recipient, index) => {
      const decision = decisions.get(index);
      if (decision?.decision !== 'deny') allowed.push(recipient);
      else {
        const { code, reason, policy } = decision;
        denials.push({ recipient, code, reason, policy });
      }
    });
    const [first, ...others] = denials;
    if (!first) return batch;
    if (allowed.length === 0) return new PolicyError([first, ...others]);
    return {
      ...batch,
      recipients: [...denials.map(({ recipient }) => recipient), ...allowed],
      denied: denials.map(({ code }) => code),
    };
  }

  async #store(batch: NewBatch): Promise<Receipt> {
    const accepted = await this.store.newBatches.enqueue(batch);
    if (!accepted.replayed) this.waker.wake(batch.lane, dueOf(batch));
    return receiptOf(accepted);
  }

  async #storeWithin(tx: Transaction, batch: NewBatch): Promise<Receipt> {
    const due = dueOf(batch);
    const { afterCommit, newBatches } = this.store;
    const accepted = await newBatches.enqueueWithin(tx, batch);
    const runner = tx.manager.queryRunner!;
    afterCommit.on(runner, `${batch.lane} ${due ?? ''}`, () => this.waker.wake(batch.lane, due));
    if (accepted.changes.length > 0)
      afterCommit.on(runner, accepted.id, () => newBatches.publish(accepted));
    return receiptOf(accepted);
  }

  async #replayOf(batch: NewBatch, tx: Transaction | undefined): Promise<Receipt | undefined> {
    const { newBatches, database } = this.store;
    const first = await (tx
      ? newBatches.replayOf(batch, tx)
      : retryWhileUnavailable(() => newBatches.replayOf(batch, database)));
    return first && receiptOf(first);
  }
}

/** `undefined`: due at once. */
function dueOf({ sendAt, createdAt }: NewBatch): number | undefined {
  return sendAt !== null && sendAt > createdAt ? sendAt : undefined;
}

function receiptOf({ id, recipients, createdAt, replayed }: EnqueuedBatch): Receipt {
  return { id, recipients, createdAt: new Date(createdAt), replayed };
}
