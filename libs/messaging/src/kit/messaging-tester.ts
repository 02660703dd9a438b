import { setImmediate as turn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { addressKey, type AddressKind, readAddress } from '../message/address.js';
import { ChannelRegistry } from '../message/channel-registry.js';
import { MessageValidationError, MessagingError } from '../message/errors.js';
import type { DeliveryReport, ReportDetails } from '../message/events.js';
import type { InboundContent } from '../message/content/inbound-content.js';
import type { Channel } from '../message/message.js';
import type { ChannelStatus } from '../message/status.js';
import { InboundRecorder } from '../contacts/inbound.js';
import { Dispatcher } from '../dispatch/dispatcher.js';
import { MessagingRuntime } from '../messaging.runtime.js';
import { MESSAGE_TRANSPORTS, type Transports } from '../ports/message-transport.js';
import { type Duration, milliseconds } from '../ports/option-schema.js';
import { MessageStore } from '../store/message-store.js';
import { KitParts } from './kit-parts.js';
import { MemoryDatabase } from './memory-database.js';
import type { SentMessage } from './outbox.js';

/** The message has not reached a provider of the kit, so that no report about it can arrive. */
export class NotSentYetError extends MessagingError {
  constructor(readonly messageId: string) {
    super(
      'not_sent_yet',
      `Message ${String(messageId).slice(0, 64)} has not been sent: it is queued for later, was denied by a policy, or its transaction was rolled back; advance the clock, or read its status and error code with SmsService.messages()`,
    );
  }
}

/** A message from a customer. */
export interface ReceivedMessage {
  /** The customer's address. */
  readonly from: string;
  /** @default none, or the caption of the `content` */
  readonly text?: string;
  /**
   * Media, a location and the like. The `source` of a file is a `data:` URL with its bytes, such as
   * `data:image/png;base64,…`, which `InboundService.media()` then gives.
   * @default the text
   */
  readonly content?: InboundContent;
  /** The name that the customer shows on the platform. @default none */
  readonly profileName?: string;
  /** The provider's id of the message that the customer answers. @default none */
  readonly repliesTo?: string;
  /** @default the channel of the last message sent to this address, else `whatsapp` */
  readonly channel?: Channel;
  /** The number or address that it was sent to. @default the sender of that message */
  readonly to?: string;
  /** @default that of the option `inbound.tenant`, else `''` */
  readonly tenant?: string;
}

export interface TestReport {
  readonly errorCode?: string;
  readonly details?: ReportDetails;
}

/** The clock of the module under test. It runs, and a test can advance it. */
export interface TesterClock {
  /** The present time of the module. */
  now(): Date;
  /**
   * Advances the time, in steps from one scheduled wake to the next, and runs the due work at each:
   * scheduled sends, retries, redials, quiet hours, expiry, and the library's jobs. Resolves when
   * the module is idle.
   * @param duration such as `'1h'`, or milliseconds
   * @throws MessagingConfigError where it is no duration
   */
  advance(duration: Duration): Promise<void>;
  /**
   * Advances to a time, such as the next night.
   * @throws MessagingConfigError where the time is past
   */
  advanceTo(time: Date): Promise<void>;
}

/** Most rounds of {@link MessagingTester.idle}; each ends when every drain has ended. */
const MOST_ROUNDS = 10_000;
/** Statuses by which a channel tells that a message arrived. */
const ARRIVED = ['delivered', 'completed'];
const RECEIVER = '2348000000001';

/**
 * Reads and drives a module of {@link MessagingTestingModule} in tests.
 * @example
 * const { id } = await sms.send({ from: 'ACME', to: '2348012345678', body: 'Hello' });
 * await messaging.deliver(id);
 * expect(messaging).toHaveSent({ channel: 'sms', to: '2348012345678', body: 'Hello' });
 */
@Injectable()
export class MessagingTester {
  readonly clock: TesterClock = {
    now: () => new Date(this.parts.clock.now()),
    advance: async (duration) => this.#advance(milliseconds('duration', duration)),
    advanceTo: async (time) => this.#advance(milliseconds('time', +time - this.parts.clock.now())),
  };
  #store!: MessageStore;
  #database!: MemoryDatabase;
  #dispatcher!: Dispatcher;
  #inbound!: InboundRecorder;
  #runtime!: MessagingRuntime;
  #channels!: ChannelRegistry;
  #transports!: Transports;

  /** @internal */
  constructor(
    @Inject(ModuleRef) private readonly modules: ModuleRef,
    @Inject(KitParts) private readonly parts: KitParts,
  ) {}

  /** @internal */
  onModuleInit(): void {
    const options = { strict: false };
    this.#store = this.modules.get(MessageStore, options);
    this.#dispatcher = this.modules.get(Dispatcher, options);
    this.#inbound = this.modules.get(InboundRecorder, options);
    this.#runtime = this.modules.get(MessagingRuntime, options);
    this.#channels = this.modules.get(ChannelRegistry, options);
    this.#transports = this.modules.get(MESSAGE_TRANSPORTS, options);
    this.#database = MemoryDatabase.of(this.#store.database.dataSource);
    this.#database.useClock(this.parts.clock);
  }

  /** @internal */
  async onApplicationShutdown(): Promise<void> {
    if (this.parts.ownsDatabase) await this.#store.database.dataSource.destroy();
  }

  /** The messages that providers have accepted, in the order of their start. */
  sent(): SentMessage[] {
    return this.parts.outbox.all;
  }

  /** Forgets what {@link sent} returns, for the next test. The messages keep their statuses. */
  clear(): void {
    this.parts.outbox.clear();
  }

  /** Whether work that is due is not done yet; {@link idle} waits for it. */
  get busy(): boolean {
    return this.parts.engine.running > 0 || this.#store.afterCommit.isDue;
  }

  /** When the dispatch has work next, where it is known, such as a scheduled send. */
  get next(): Date | undefined {
    return this.parts.engine.next === undefined ? undefined : new Date(this.parts.engine.next);
  }

  /**
   * Resolves when the module has done everything that is due now: messages are sent or denied,
   * statuses recorded, events published, and messages of their listeners sent.
   * @throws the error of a drain, such as one of a policy
   */
  async idle(): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      if (await this.#isDispatching()) continue;
      const before = this.parts.outbox.count;
      // Jobs begin work that is due by its own time, such as the next step of a notification.
      await this.#runtime.runJobs();
      if (!(await this.#isDispatching()) && this.parts.outbox.count === before) return;
    }
    throw new MessagingError(
      'never_idle',
      'The module does not come to rest: listeners send message after message, or a lane stays due; look at MessagingOperations.lanes()',
    );
  }

  /**
   * Reports a message, or all messages of a batch, as delivered (calls as completed).
   * @param id of a send's receipt, or `{batchId}-{position}`
   * @throws NotSentYetError where it has not been sent
   */
  async deliver(id: string): Promise<void> {
    await this.#report(id, ({ channel }) => {
      const { statuses } = this.#channels.get(channel);
      const status = ARRIVED.find((one) => Object.hasOwn(statuses, one));
      if (status === undefined)
        throw new MessagingError(
          'no_delivery_status',
          `Channel ${channel} has no status delivered; use report(id, status) with one of ${Object.keys(statuses).join(', ')}`,
        );
      return { status, errorCode: null };
    });
  }

  /**
   * Reports a message, or all messages of a batch, as failed with the provider's error code.
   * @param id of a send's receipt, or `{batchId}-{position}`
   * @throws NotSentYetError where it has not been sent
   */
  async fail(id: string, code: string): Promise<void> {
    await this.#report(id, () => ({ status: 'failed', errorCode: code }));
  }

  /**
   * Reports any status or event of the channel, such as `read`, `bounced` or `busy`.
   * @param id of a send's receipt, or `{batchId}-{position}`
   * @throws NotSentYetError where it has not been sent
   */
  async report(id: string, status: ChannelStatus, report: TestReport = {}): Promise<void> {
    const { errorCode = null, details } = report;
    await this.#report(id, () => ({ status, errorCode, details }));
  }

  /**
   * Receives a message from a customer, once everything due is sent: it opens the WhatsApp window for
   * 24 hours, its consent words count, and listeners hear of it. Resolves when the module is idle.
   * @throws MessageValidationError where `from` is no address of the channel
   */
  async receive({ from, content, ...given }: ReceivedMessage): Promise<void> {
    // What was sent just before decides about the channel.
    await this.idle();
    const last = this.#lastSentTo(from);
    const channel = given.channel ?? last?.channel ?? 'whatsapp';
    const kinds = this.#channels.get(channel).addressKinds;
    const address = addressOfText(from, kinds);
    if (address === undefined)
      throw new MessageValidationError([
        { path: 'from', message: `must be an address of ${channel} (${kinds.join(', ')})` },
      ]);
    const to = given.to ?? (last?.channel === channel ? last.from : undefined) ?? RECEIVER;
    const { profileName, repliesTo } = given;
    const caption = content?.kind === 'media' ? content.caption : null;
    const [provider = 'testing'] = this.#transports.keys();
    await this.#inbound.record(
      [
        {
          messageId: this.parts.clock.id(),
          channel,
          from: address,
          bsuid: null,
          to: to === '' ? RECEIVER : to,
          text: given.text ?? caption,
          ...(content && { content }),
          ...(profileName !== undefined && { profileName }),
          ...(repliesTo !== undefined && { repliesTo }),
          sentAt: new Date(this.parts.clock.now()),
          ...(given.tenant !== undefined && { tenant: given.tenant }),
        },
      ],
      { transport: last?.provider ?? provider },
    );
    await this.idle();
  }

  async #report(
    id: string,
    reportOf: (message: SentMessage) => Pick<DeliveryReport, 'status' | 'errorCode' | 'details'> & {
      readonly status: ChannelStatus;
    },
  ): Promise<void> {
    await this.idle();
    const messages = this.parts.outbox.messages(id);
    if (messages.length === 0) throw new NotSentYetError(id);
    const providerTime = new Date(this.parts.clock.now());
    for (const message of messages) {
      const { status, errorCode, details } = reportOf(message);
      const { submissionId, reference, id: messageId, to, provider } = message;
      const one = { submissionId, reference, messageId, recipient: to, status, rawStatus: status };
      await this.#store.reports.record([{ ...one, errorCode, providerTime, details }], {
        provider,
      });
    }
    await this.idle();
  }

  async #advance(duration: number): Promise<void> {
    await this.idle();
    const end = this.parts.clock.now() + duration;
    for (
      let next = this.parts.engine.next;
      next !== undefined && next <= end;
      next = this.parts.engine.next
    ) {
      this.parts.clock.advanceTo(next);
      this.parts.engine.wakeDue();
      await this.idle();
    }
    this.parts.clock.advanceTo(end);
    await this.idle();
  }

  /** Waits for the dispatch. @returns whether lanes had due work, which are awake now */
  async #isDispatching(): Promise<boolean> {
    await this.#settle();
    const holds = await this.#store.holds.index();
    const due = await this.#store.queues.due(0);
    const free = due.filter(({ lane }) => !holds.of(lane));
    for (const { lane } of free) this.#dispatcher.wake(lane);
    return free.length > 0 || this.parts.engine.running > 0;
  }

  /** Until neither a drain, nor a commit, nor a listener that uses the database goes on. */
  async #settle(): Promise<void> {
    for (let before = -1; before !== this.#database.statements;) {
      await this.parts.engine.idle();
      before = this.#database.statements;
      await this.#inbound.idle();
      // Listeners go on after their await in later turns of the event loop.
      for (let turns = 0; turns < 3; turns++) await turn();
    }
  }

  #lastSentTo(from: string): SentMessage | undefined {
    return this.parts.outbox.all.findLast(({ channel, to }) => {
      const kinds = this.#channels.find(channel)?.addressKinds;
      return kinds !== undefined && addressOfText(from, kinds) === to;
    });
  }
}

function addressOfText(given: string, kinds: readonly AddressKind[]): string | undefined {
  const address = readAddress(given, kinds);
  return address && addressKey(address);
}
