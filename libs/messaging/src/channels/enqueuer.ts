import { setImmediate as turn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ContactsService } from '../contacts/contacts.service.js';
import { Dispatcher } from '../dispatch/dispatcher.js';
import type { ReadRecipients } from '../message/address.js';
import type { ChannelDefinition } from '../message/channel-definition.js';
import { ChannelRegistry } from '../message/channel-registry.js';
import { MessageValidationError, validated } from '../message/errors.js';
import type { Personal } from '../message/email-content.js';
import type { InboundReceived } from '../message/events.js';
import { denialsOf, PolicyError } from '../policy/policy.service.js';
import { type AppliedDecision, PolicyPipeline } from '../policy/policy-pipeline.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import type { LaneWaker } from '../ports/dispatch-engine.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../ports/messaging-options.js';
import { MESSAGING_TRACING, type MessagingTracing } from '../ports/tracing.js';
import { Router } from '../routing/router.js';
import { MessageStore } from '../store/message-store.js';
import type { EnqueuedBatch, NewBatch, OwnRows } from '../store/rows/new-batch.js';
import type { Sql, Transaction } from '../store/database/store-database.js';
import { retryWhileUnavailable } from '../store/database/retry.js';
import {
  checkCount,
  checkedSend,
  isLarge,
  type LibraryMessage,
  MAX_RECIPIENTS,
  readInSlices,
  type Receipt,
  type SendOptions,
} from './send.js';

/**
 * Enqueues the sends of every channel:
 *
 * ```
 * check → expand groups → ask the policies → store (or replay) → wake the lane
 * ```
 */
@Injectable()
export class Enqueuer {
  constructor(
    @Inject(ChannelRegistry) private readonly channels: ChannelRegistry,
    @Inject(Router) private readonly router: Router,
    @Inject(MessageStore) private readonly store: MessageStore,
    @Inject(Dispatcher) private readonly waker: LaneWaker,
    @Inject(PolicyPipeline) private readonly policy: PolicyPipeline,
    @Inject(ContactsService) private readonly contacts: ContactsService,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
    @Inject(MESSAGING_TRACING) private readonly tracing: MessagingTracing | undefined,
  ) {}

  /** Resolves once durable or in the caller's transaction; throws as `SmsService.send()`. */
  async enqueue(
    channel: ChannelDefinition,
    message: LibraryMessage,
    options: SendOptions,
  ): Promise<Receipt> {
    this.router.providerOf({ channel: channel.name });
    const read = await readInSlices(channel, message);
    const { tx, batch, groups, replays } = this.#checked(channel, message, options, read);
    for (const replay of replays) {
      const first = await this.#replayOf(replay, tx);
      if (first) return first;
    }
    if (isLarge(batch.recipients)) await turn();
    try {
      const expanded =
        groups.size > 0 && channel.groups === 'expand'
          ? await this.#expanded(channel, batch, groups, tx)
          : batch;
      return await (this.tracing
        ? this.#traced(this.tracing, expanded, tx)
        : this.#accept(expanded, tx));
    } catch (error) {
      // The first send under this key stands where groups or policies have changed since.
      const isRefused = error instanceof MessageValidationError || error instanceof PolicyError;
      const first = isRefused && (await this.#replayOf(batch, tx));
      if (!first) throw error;
      return first;
    }
  }

  /**
   * Enqueues a repetition of a stored message in the caller's transaction.
   * @throws NoRouteError
   * @throws PolicyError where policy denies its recipient
   */
  async repeat(batch: NewBatch, manager: EntityManager): Promise<Receipt> {
    this.router.providerOf({ channel: batch.channel });
    const tx = this.store.database.join(manager);
    return this.tracing ? this.#traced(this.tracing, batch, tx) : this.#accept(batch, tx);
  }

  /** A checked send to one recipient, for {@link storeWith}. @throws as {@link enqueue} */
  prepare(channel: ChannelDefinition, message: LibraryMessage, options: SendOptions): NewBatch {
    this.router.providerOf({ channel: channel.name });
    return this.#checked(channel, message, options, undefined).batch;
  }

  /** Has the batch accepted in a child span of the caller's. */
  accepting<T>(batch: NewBatch, accept: (batch: NewBatch) => Promise<T>): Promise<T> {
    const { tracing } = this;
    if (!tracing) return accept(batch);
    const { id, channel } = batch;
    const step = { operation: 'send', type: 'send', kind: 'producer', channel, id } as const;
    return tracing.step({ ...step, messages: 1 }, (trace) => accept({ ...batch, trace }));
  }

  /** Policy's denial of the recipient of a batch of {@link prepare}. */
  async denialOf({
    tenant,
    channel,
    sender,
    content,
    recipients,
  }: NewBatch): Promise<PolicyError | undefined> {
    const message = { tenant, channel, sender, content };
    const decisions = await this.policy.review([{ message, recipients }], 'send');
    const [first, ...others] = denialsOf(recipients, decisions);
    return first && new PolicyError([first, ...others]);
  }

  /** Stores batches of {@link prepare}. Call {@link wake} afterwards. @throws ConcurrentChangeError */
  async storeWith(batches: readonly NewBatch[], own: OwnRows): Promise<void> {
    await this.store.newBatches.storeWith(batches, own);
  }

  wake({ lane }: NewBatch): void {
    this.waker.wake(lane);
  }

  /** The first receipt under this idempotency key, also where policy would now deny the send. */
  async replayOf(
    channel: ChannelDefinition,
    message: LibraryMessage,
    options: SendOptions,
  ): Promise<Receipt | undefined> {
    const read = await readInSlices(channel, message);
    const { tx, batch, replays } = this.#checked(channel, message, options, read);
    for (const one of [batch, ...replays]) {
      const first = await this.#replayOf(one, tx);
      if (first) return first;
    }
    return undefined;
  }

  /**
   * Sends the reply to a STOP or START that changed a consent, once; a crash of this process loses
   * it. The reply to a STOP bypasses the opt-out that it confirms, but no other policy.
   */
  async replyTo(received: InboundReceived): Promise<void> {
    const { tenant, channel, from, to, consent } = received;
    if (consent === null || from === null) return;
    const text = await this.settings.inbound.reply?.(received);
    if (text === undefined) return;
    const confirms = consent === 'opted_out' ? consent : undefined;
    const reply = { from: to, to: from, content: { kind: 'text', text }, confirms } as const;
    await this.enqueue(this.channels.get(channel), reply, { tenant, class: 'high' }).catch(
      (error: unknown) => {
        if (!(error instanceof PolicyError)) throw error;
      },
    );
  }

  #checked(
    channel: ChannelDefinition,
    message: LibraryMessage,
    options: SendOptions,
    read: ReadRecipients | undefined,
  ) {
    const { manager } = options;
    const { lane } = this.settings.dispatch;
    const tx = manager && this.store.database.join(manager);
    const { digests } = this.store;
    const { senders } = this.router.capabilitiesOf({ channel: channel.name });
    return {
      tx,
      ...checkedSend(channel, message, options, this.clock, lane, digests, senders, read),
    };
  }

  /** The batch with the members of its groups, looked up in one query. */
  async #expanded(
    { maxRecipients = MAX_RECIPIENTS, addressKinds }: ChannelDefinition,
    batch: NewBatch,
    groups: ReadonlyMap<string, string>,
    tx: Transaction | undefined,
  ): Promise<NewBatch> {
    const read = (sql: Pick<Sql, 'all'>) =>
      this.contacts.groups.expand(sql, batch.tenant, groups, maxRecipients, addressKinds);
    const members = await (tx ? read(tx) : retryWhileUnavailable(() => read(this.store.database)));
    const unique = new Map<string, Personal | undefined>();
    for (const [index, recipient] of batch.recipients.entries()) {
      const own = members.get(recipient);
      for (const member of own ?? [recipient])
        if (!unique.has(member)) unique.set(member, own ? undefined : batch.personal?.[index]);
      if (own) await turn();
    }
    const recipients = [...unique.keys()];
    const [path] = [...groups.values()].map((place) => place.slice(0, place.indexOf('[')));
    validated((errors) => checkCount(recipients.length, maxRecipients, errors, path));
    return { ...batch, recipients, personal: batch.personal && [...unique.values()] };
  }

  /** Enqueues in a child span of the caller's; the batch stores the span's context. */
  #traced(
    tracing: MessagingTracing,
    batch: NewBatch,
    tx: Transaction | undefined,
  ): Promise<Receipt> {
    const { id, channel, recipients } = batch;
    const step = { operation: 'send', type: 'send', kind: 'producer', channel, id } as const;
    return tracing.step({ ...step, messages: recipients.length }, (trace) =>
      this.#accept({ ...batch, trace }, tx),
    );
  }

  /** @throws PolicyError where policy denies all recipients */
  async #accept(given: NewBatch, tx: Transaction | undefined): Promise<Receipt> {
    const { tenant, channel, sender, content, recipients, lane, sendAt, createdAt } = given;
    const message = { tenant, channel, sender, content };
    const decisions = await this.policy.review([{ message, recipients }], 'send', tx);
    const batch = decisions.size === 0 ? given : withDenials(given, decisions);
    const { afterCommit, newBatches } = this.store;
    const due = sendAt !== null && sendAt > createdAt ? sendAt : undefined;
    const wake = () => this.waker.wake(lane, due);
    if (!tx) {
      const accepted = await newBatches.enqueue(batch);
      if (!accepted.replayed) wake();
      return receiptOf(accepted);
    }
    const accepted = await newBatches.enqueueWithin(tx, batch);
    afterCommit.on(tx.manager.queryRunner!, () => {
      wake();
      newBatches.publish(accepted);
    });
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

/**
 * Denied recipients come first, so that their `rejected` messages take the first positions.
 * @throws PolicyError where all recipients are denied
 */
function withDenials(batch: NewBatch, decisions: ReadonlyMap<number, AppliedDecision>): NewBatch {
  const { recipients, personal } = batch;
  const denials = denialsOf(recipients, decisions);
  const [first, ...others] = denials;
  if (!first) return batch;
  if (denials.length === recipients.length) throw new PolicyError([first, ...others]);
  const isAllowed = (_: unknown, index: number) => decisions.get(index)?.decision !== 'deny';
  return {
    ...batch,
    recipients: [...denials.map(({ recipient }) => recipient), ...recipients.filter(isAllowed)],
    personal: personal && [...denials.map(() => undefined), ...personal.filter(isAllowed)],
    denied: denials.map(({ code }) => code),
  };
}

function receiptOf({ id, recipients, createdAt, replayed }: EnqueuedBatch): Receipt {
  return { id, recipients, createdAt: new Date(createdAt), replayed };
}
