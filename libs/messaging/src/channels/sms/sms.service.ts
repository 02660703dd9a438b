import { Inject, Injectable } from '@nestjs/common';
import { ContactsService } from '../../contacts/contacts.service.js';
import { MessageStore } from '../../store/message-store.js';
import type { Transaction } from '../../store/store-database.js';
import { retryWhileUnavailable } from '../../store/unavailable-retry.js';
import { MessageValidationError } from '../../message/errors.js';
import type { SmsMessage } from '../../message/message.js';
import { type Clock, MESSAGING_CLOCK } from '../../ports/clock.js';
import { LANE_WAKER, type LaneWaker } from '../../ports/lane-waker.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../../ports/messaging-settings.js';
import { MESSAGING_RATE_CARD, type RateCard } from '../../ports/rate-card.js';
import { ChannelService } from '../channel.service.js';
import { type EstimateOptions, type SmsEstimate, smsEstimate } from '../estimates.js';
import { lookUpGroups, namesGroups } from '../group-recipients.js';
import { Intake } from '../intake.js';
import type { Receipt } from '../receipt.js';
import type { SendOptions } from '../send-options.js';
import { type SmsBatch, smsBatch } from './sms-batch.js';

/**
 * Sends SMS and follows them.
 *
 * @example
 * const { id } = await sms.send({ from: 'ACME', to: '+234 801 234 5678', body: 'Hello' });
 * const { counts } = await sms.batch(id); // { delivered: 1 }
 */
@Injectable()
export class SmsService extends ChannelService {
  protected readonly channel = 'sms';

  constructor(
    @Inject(MessageStore) store: MessageStore,
    @Inject(LANE_WAKER) waker: LaneWaker,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
    @Inject(Intake) private readonly intake: Intake,
    @Inject(ContactsService) private readonly contacts: ContactsService,
    @Inject(MESSAGING_RATE_CARD) private readonly rates: RateCard,
  ) {
    super(store, waker);
  }

  /**
   * Accepts a message for one or many recipients. Resolves once it is durable, or, with `manager`, once
   * it is part of that transaction; what happens then is told by status, event and report.
   *
   * @throws MessageValidationError naming each wrong field; nothing was stored
   * @throws PolicyError where policy denies every recipient; nothing was stored. Where it denies some,
   *   theirs are `rejected` messages with the code
   * @throws IdempotencyKeyReusedError where the key was used for other content
   * @throws IdempotencyKeyInUseError where somebody's open transaction holds the key; try again
   * @throws TransactionRequiredError where `manager` is in no transaction of the module's data source
   */
  async send(message: SmsMessage, options: SendOptions = {}): Promise<Receipt> {
    const { manager } = options;
    const tx = manager && this.store.database.join(manager);
    let asked: SmsBatch;
    try {
      const members = namesGroups(message.to)
        ? await this.#members(message, options, tx)
        : undefined;
      asked = smsBatch(message, options, members, this.settings, this.clock);
    } catch (error) {
      const first = await this.#firstAnswer(error, message, options, tx);
      if (!first) throw error;
      return first;
    }
    // Awaited here: a promise that is returned as it is takes three more turns to arrive.
    return await this.intake.take(asked.batch, asked.content, tx);
  }

  /** What one message with this text would take and cost; nothing is sent or stored. */
  estimate(text: string, options: EstimateOptions = {}): Promise<SmsEstimate> {
    return smsEstimate(text, this.rates, options);
  }

  async #members(
    { to }: SmsMessage,
    { tenant = '' }: SendOptions,
    tx: Transaction | undefined,
  ): Promise<ReadonlyMap<string, readonly string[]> | undefined> {
    const { upstreamGroups, maxRecipients } = this.settings.sms;
    if (upstreamGroups) return undefined;
    const { groups } = this.contacts;
    return tx
      ? lookUpGroups(groups, tx, tenant, to, maxRecipients)
      : retryWhileUnavailable(() =>
          lookUpGroups(groups, this.store.database, tenant, to, maxRecipients),
        );
  }

  /** A group may have gone, or grown too big, since its message was accepted under the same key. */
  async #firstAnswer(
    error: unknown,
    message: SmsMessage,
    options: SendOptions,
    tx: Transaction | undefined,
  ): Promise<Receipt | undefined> {
    if (!(error instanceof MessageValidationError) || options.idempotencyKey === undefined)
      return undefined;
    // With its groups as they stand, which is how a key remembers them.
    const settings = { ...this.settings, upstreamGroups: true };
    const { batch } = smsBatch(message, options, undefined, settings, this.clock);
    return this.intake.replayOf(batch, tx);
  }
}
