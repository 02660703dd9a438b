import { setImmediate as turn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { MessagingTracing } from '../ports/tracing.js';
import { ContactsService } from '../contacts/contacts.service.js';
import { Dispatcher } from '../dispatch/dispatcher.js';
import { readRecipients, type ReadRecipients } from '../message/address.js';
import type { ChannelDefinition } from '../message/channel-definition.js';
import { MessageValidationError, NoRouteError, validated } from '../message/errors.js';
import type { Personal } from '../message/content/email-content.js';
import type { InboundReceived } from '../message/events.js';
import { addressIdentity } from '../message/phone-identity.js';
import { denialsOf, PolicyError } from '../policy/policy.service.js';
import { type AppliedDecision, PolicyPipeline } from '../policy/policy-pipeline.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import type { LaneWaker } from '../ports/dispatch-engine.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../ports/messaging-settings.js';
import { Telemetry } from '../ports/telemetry.js';
import { Router } from '../routing/router.js';
import { MessageStore } from '../store/message-store.js';
import type { EnqueuedBatch, NewBatch, OwnRows } from '../store/rows/new-batch.js';
import type { StatusChange } from '../store/rows/status.js';
import type { Sql, Transaction } from '../store/database/store-database.js';
import { retryWhileUnavailable } from '../store/database/retry.js';
import {
  checkCount,
  type CheckedSend,
  checkedSend,
  isLarge,
  type LibraryMessage,
  MAX_RECIPIENTS,
  readInSlices,
  type Receipt,
  type SendOptions,
  type SendRules,
} from './send.js';

interface JoinedSend extends CheckedSend {
  /** The caller's transaction. */
  readonly tx: Transaction | undefined;
}

/**
 * Enqueues the sends of every channel:
 *
 * ```
 * check → expand groups → ask the policies → store (or replay) → wake the lane
 * ```
 */
@Injectable()
export class Enqueuer {
  readonly #rules: SendRules;

  constructor(
    @Inject(Router) private readonly router: Router,
    @Inject(MessageStore) private readonly store: MessageStore,
    @Inject(Dispatcher) private readonly waker: LaneWaker,
    @Inject(PolicyPipeline) private readonly policy: PolicyPipeline,
    @Inject(ContactsService) private readonly contacts: ContactsService,
    @Inject(MESSAGING_CLOCK) clock: Clock,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
    @Inject(Telemetry) private readonly telemetry: Telemetry,
  ) {
    const { lane } = settings.dispatch;
    this.#rules = { clock, lane, digests: store.digests, router };
  }

  /** Resolves once durable or in the caller's transaction; throws as `SmsService.send()`. */
  async enqueue(
    channel: ChannelDefinition,
    message: LibraryMessage,
    options: SendOptions,
  ): Promise<Receipt> {
    const reading = readInSlices(channel, message);
    const send = this.#checked(channel, message, options, reading && (await reading));
    const { tx, batch, replays } = send;
    if (replays.length > 0) {
      const first = await this.#firstOf(replays, tx);
      if (first) return first;
    }
    if (isLarge(batch.recipients)) await turn();
    try {
      const isExpanded = send.groups.size > 0 && channel.groups === 'expand';
      const whole = isExpanded ? await this.#expanded(channel, send) : batch;
      this.#checkRoutes(whole, (recipients) => pathsOf(channel, message, recipients));
      return await this.#accept(whole, tx);
    } catch (error) {
      // The first send under this key stands where groups or policies have changed since.
      const isRefused = error instanceof MessageValidationError || error instanceof PolicyError;
      const first = isRefused && (await this.#firstOf([batch], tx));
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
    this.router.sendersOf(batch);
    this.#checkRoutes(batch);
    return this.#accept(batch, this.store.database.join(manager));
  }

  /** As {@link repeat}, and stores nothing; the spend guard is not asked. @throws as {@link repeat} */
  async checkRepeat(batch: NewBatch, manager: EntityManager): Promise<void> {
    this.router.sendersOf(batch);
    this.#checkRoutes(batch);
    const [denial] = await this.denialsOf([batch], manager);
    if (denial) throw denial;
  }

  /** A checked send to one recipient, for {@link storeWith}. @throws as {@link enqueue} */
  prepare(channel: ChannelDefinition, message: LibraryMessage, options: SendOptions): NewBatch {
    const { batch } = this.#checked(channel, message, options, undefined);
    this.#checkRoutes(batch);
    return batch;
  }

  /** Has the batch accepted in a child span of the caller's. */
  accepting<T>(batch: NewBatch, accept: (batch: NewBatch) => Promise<T>): Promise<T> {
    const { tracing } = this.telemetry;
    if (!tracing) return accept(batch);
    const { id, channel } = batch;
    const step = { operation: 'send', type: 'send', kind: 'producer', channel, id } as const;
    return tracing.step({ ...step, messages: 1 }, (trace) => accept({ ...batch, trace }));
  }

  /** Policy's denial of the recipient of a batch of {@link prepare}. */
  async denialOf(batch: NewBatch): Promise<PolicyError | undefined> {
    return (await this.denialsOf([batch]))[0];
  }

  /** As {@link denialOf}, of several batches at once, in the caller's transaction if there is one. */
  async denialsOf(
    batches: readonly NewBatch[],
    manager?: EntityManager,
  ): Promise<(PolicyError | undefined)[]> {
    const tx = manager && this.store.database.join(manager);
    const asked = batches.map(({ tenant, channel, sender, content, recipients }) => ({
      message: { tenant, channel, sender, content },
      recipients,
    }));
    const decisions = await this.policy.review(asked, 'send', tx);
    return batches.map(({ recipients: [recipient = ''] }, place) => {
      const own = decisions.get(place);
      const [denial] = own ? denialsOf([recipient], new Map([[0, own]])) : [];
      return denial && new PolicyError([denial]);
    });
  }

  /** Stores batches of {@link prepare}. Call {@link wake} afterwards. @throws ConcurrentChangeError */
  async storeWith(batches: readonly NewBatch[], own: OwnRows): Promise<void> {
    await this.store.newBatches.storeWith(batches, own);
    for (const { channel, recipients } of batches)
      this.telemetry.metrics?.accepted(channel, recipients.length);
  }

  /**
   * As {@link storeWith}, in a transaction. Call {@link begin} after its commit.
   * @param refused `stored`: a batch that the spend guard refuses is stored with its message rejected
   * @returns the changes of rejected messages, to publish after the commit
   */
  async storeWithin(
    tx: Transaction,
    batches: readonly NewBatch[],
    refused?: 'stored',
  ): Promise<readonly StatusChange[]> {
    return this.store.newBatches.enqueueAllWithin(tx, batches, refused);
  }

  /** Counts and wakes a batch of {@link storeWithin}. */
  begin(batch: NewBatch): void {
    this.telemetry.metrics?.accepted(batch.channel, batch.recipients.length);
    this.wake(batch);
  }

  wake({ lane, sendAt, createdAt }: NewBatch): void {
    this.waker.wake(lane, sendAt !== null && sendAt > createdAt ? sendAt : undefined);
  }

  /** The first receipt under this idempotency key, also where policy would now deny the send. */
  async replayOf(
    channel: ChannelDefinition,
    message: LibraryMessage,
    options: SendOptions,
  ): Promise<Receipt | undefined> {
    const reading = readInSlices(channel, message);
    const send = this.#checked(channel, message, options, reading && (await reading));
    return this.#firstOf([send.batch, ...send.replays], send.tx);
  }

  /**
   * Sends the reply to a STOP or START that changed a consent, once; a crash of this process loses
   * it. The reply to a STOP bypasses the opt-out that it confirms, but no other policy.
   */
  async replyTo(received: InboundReceived): Promise<void> {
    const { tenant, channel, from, bsuid, to, consent } = received;
    const recipient = from ?? (bsuid === null ? null : `platform:${bsuid}`);
    if (consent === null || recipient === null) return;
    const text = await this.settings.inbound.reply?.(received);
    if (text === undefined) return;
    const confirms = consent === 'opted_out' ? consent : undefined;
    const reply = { from: to, to: recipient, content: { kind: 'text', text }, confirms } as const;
    await this.enqueue(this.store.database.channels.get(channel), reply, {
      tenant,
      class: 'high',
    }).catch((error: unknown) => {
      if (!(error instanceof PolicyError)) throw error;
    });
  }

  #checked(
    channel: ChannelDefinition,
    message: LibraryMessage,
    options: SendOptions,
    read: ReadRecipients | undefined,
  ): JoinedSend {
    const { manager } = options;
    const tx = this.store.database.callersTransaction(manager);
    return { tx, ...checkedSend(channel, message, options, this.#rules, read) };
  }

  /** @throws NoRouteError naming the recipients without a route, by the paths that `pathsOf` gives */
  #checkRoutes(
    batch: NewBatch,
    pathsOf: (recipients: readonly string[]) => readonly string[] = () => ['to'],
  ): void {
    const unrouted = this.router.unrouted(batch, batch.recipients);
    if (!unrouted) return;
    const { recipients, provider } = unrouted;
    throw new NoRouteError(batch.channel, provider, [...new Set(pathsOf(recipients))]);
  }

  /** The batch with the members of its groups, looked up in one query. */
  async #expanded(
    { maxRecipients = MAX_RECIPIENTS, addressKinds }: ChannelDefinition,
    { batch, groups, tx }: JoinedSend,
  ): Promise<NewBatch> {
    const read = (sql: Pick<Sql, 'all'>) =>
      this.contacts.groups.expand(sql, batch.tenant, groups, maxRecipients, addressKinds);
    const members = await (tx ? read(tx) : retryWhileUnavailable(() => read(this.store.database)));
    const unique = new Map<string, readonly [recipient: string, Personal?]>();
    for (const [index, recipient] of batch.recipients.entries()) {
      const own = members.get(recipient);
      for (const member of own ?? [recipient]) {
        const identity = addressIdentity(member);
        if (!unique.has(identity))
          unique.set(identity, [member, own ? undefined : batch.personal?.[index]]);
      }
      if (own) await turn();
    }
    const recipients = Array.from(unique.values(), ([recipient]) => recipient);
    const [path] = [...groups.values()].map((place) => place.slice(0, place.indexOf('[')));
    validated((errors) => checkCount(recipients.length, maxRecipients, errors, path));
    return {
      ...batch,
      recipients,
      personal: batch.personal && Array.from(unique.values(), ([, personal]) => personal),
    };
  }

  /** @throws PolicyError where policy denies all recipients */
  #accept(batch: NewBatch, tx: Transaction | undefined): Promise<Receipt> {
    const { tracing } = this.telemetry;
    return tracing ? this.#traced(tracing, batch, tx) : this.#decide(batch, tx);
  }

  /** In a child span of the caller's; the batch stores the span's context. */
  #traced(
    tracing: MessagingTracing,
    batch: NewBatch,
    tx: Transaction | undefined,
  ): Promise<Receipt> {
    const { id, channel, recipients } = batch;
    const step = { operation: 'send', type: 'send', kind: 'producer', channel, id } as const;
    return tracing.step({ ...step, messages: recipients.length }, (trace) =>
      this.#decide({ ...batch, trace }, tx),
    );
  }

  #decide(batch: NewBatch, tx: Transaction | undefined): Promise<Receipt> {
    return this.policy.concernsSends(batch.channel)
      ? this.#review(batch, tx)
      : this.#store(batch, tx);
  }

  async #review(batch: NewBatch, tx: Transaction | undefined): Promise<Receipt> {
    const { tenant, channel, sender, content, recipients } = batch;
    const message = { tenant, channel, sender, content };
    const decisions = await this.policy.review([{ message, recipients }], 'send', tx);
    return this.#store(decisions.size === 0 ? batch : withDenials(batch, decisions), tx);
  }

  async #store(batch: NewBatch, tx: Transaction | undefined): Promise<Receipt> {
    const { afterCommit, newBatches } = this.store;
    if (!tx) {
      const accepted = await newBatches.enqueue(batch);
      if (!accepted.replayed) {
        this.wake(batch);
        this.telemetry.metrics?.accepted(batch.channel, accepted.recipients);
      }
      return receiptOf(accepted);
    }
    const accepted = await newBatches.enqueueWithin(tx, batch);
    afterCommit.on(tx.manager.queryRunner!, () => {
      this.wake(batch);
      newBatches.publish(accepted);
      if (!accepted.replayed) this.telemetry.metrics?.accepted(batch.channel, accepted.recipients);
    });
    return receiptOf(accepted);
  }

  /** The receipt of the first batch that was accepted under one of the keys. */
  async #firstOf(
    batches: readonly NewBatch[],
    tx: Transaction | undefined,
  ): Promise<Receipt | undefined> {
    const { newBatches, database } = this.store;
    for (const batch of batches) {
      const first = await (tx
        ? newBatches.replayOf(batch, tx)
        : retryWhileUnavailable(() => newBatches.replayOf(batch, database)));
      if (first) return receiptOf(first);
    }
    return undefined;
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

/** The field of each of these recipients of a send, such as `to[3]`; of a group's member `to`. */
function pathsOf(
  { addressKinds, maxRecipients }: ChannelDefinition,
  { to }: LibraryMessage,
  recipients: readonly string[],
): string[] {
  if (!Array.isArray(to) || maxRecipients === 1) return ['to'];
  const missing = new Set(recipients);
  const paths: string[] = [];
  for (const [place, entry] of (to as readonly unknown[]).entries()) {
    if (missing.size === 0) return paths;
    const own: unknown =
      Object(entry) === entry ? ((entry as { to?: unknown }).to ?? entry) : entry;
    const [key = ''] = readRecipients([own], addressKinds).recipients;
    if (missing.delete(key)) paths.push(`to[${place}]${own === entry ? '' : '.to'}`);
  }
  return missing.size > 0 ? [...paths, 'to'] : paths;
}

function receiptOf({ id, recipients, createdAt, replayed }: EnqueuedBatch): Receipt {
  return { id, recipients, createdAt: new Date(createdAt), replayed };
}
