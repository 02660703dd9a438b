import {
  encodeText,
  SmppNotSentError,
  type SmppSession,
  splitMessage,
  writeReceipt,
} from '@dundun/smpp';
import {
  type Clock,
  INBOUND_RECEIVED,
  type InboundReceived,
  MESSAGE_STATUS_CHANGED,
  MESSAGING_CLOCK,
  type MessageStatusChanged,
} from '@dundun/messaging';
import {
  DeliveryLane,
  doubledWait,
  type DueWork,
  type LaneTask,
  type LeasedLane,
  type MessagingJob,
  type WorkQueue,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { SmppBinds } from './smpp-binds.js';
import { type DueDelivery, SmppDeliveryStore } from './smpp-delivery.store.js';
import { isOverSmpp, systemIdOf } from './smpp-receipts.js';

const SECOND = 1_000;

/** Deliveries that a lane sends before it records their answers. */
const PAGE = 100;

/** Time for which a lane is kept after its last delivery, and after which it finds those of other processes. */
const LINGER = 100;

/** Pause where a session takes nothing any more, and has not ended. */
const UNSENT_PAUSE = 100;

const LONGEST_PAUSE = 30 * SECOND;

/** One lane per pair, leased by a process with a receiver or transceiver of the pair. */
@Injectable()
export class SmppSender implements WorkQueue, OnModuleInit {
  readonly name = 'smpp';
  /** Short: a takeover may only repeat receipts. */
  readonly lease: number;
  readonly shutdownTimeout = 5 * SECOND;
  readonly jobs: readonly MessagingJob[] = [
    {
      name: 'purge smpp',
      every: 60 * SECOND,
      run: (signal) => this.deliveries.purge(signal),
    },
  ];
  #wakeWork: ((key: string) => void) | undefined;

  constructor(
    private readonly queues: WorkQueues,
    readonly deliveries: SmppDeliveryStore,
    readonly binds: SmppBinds,
    @Inject(MESSAGING_CLOCK) readonly clock: Pick<Clock, 'now' | 'monotonic'>,
    @Inject(ENVIRONMENT) { LEASE }: Pick<Environment, 'LEASE'>,
  ) {
    this.lease = Math.min(LEASE, 10 * SECOND);
  }

  onModuleInit(): void {
    this.#wakeWork = this.queues.add(this);
    this.binds.onReceiver((systemId) => this.#wake(systemId));
  }

  start(leased: LeasedLane, systemId: string): LaneTask {
    return new SmppLane(leased, systemId, this);
  }

  /** Lanes that this process can work on: of pairs with a receiver here. */
  async due(horizon: number): Promise<readonly DueWork[]> {
    const now = this.clock.now();
    const first = await this.deliveries.firstDue(this.binds.receiving);
    return first
      .filter(({ dueAt }) => dueAt <= now + horizon)
      .map(({ systemId, dueAt }) => ({ key: systemId, dueIn: dueAt - now }));
  }

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatusCommitted(change: MessageStatusChanged): void {
    const systemId = systemIdOf(change);
    if (systemId !== undefined) this.#wake(systemId);
  }

  @OnEvent(INBOUND_RECEIVED)
  onInboundCommitted(received: InboundReceived): void {
    if (!isOverSmpp(received)) return;
    for (const { principal } of this.binds.all)
      if (principal.accountId === received.tenant) this.#wake(principal.systemId);
  }

  #wake(systemId: string): void {
    // Elsewhere the wake job of a process with a receiver finds it.
    if (this.binds.receivers(systemId).length > 0) this.#wakeWork?.(systemId);
  }
}

/** `unsent`: the session ended, which says nothing about the delivery. */
type Outcome = 'delivered' | 'refused' | 'unsent';

/**
 * Sends due deliveries in order, a page at a time, and records their answers. A refusal pauses the lane;
 * then the first one that was refused goes first again.
 */
class SmppLane extends DeliveryLane {
  #inFlight = 0;
  /** Pages in a row of which something was refused. */
  #refusals = 0;
  /** The receivers of the pair take turns. */
  #turn = 0;

  constructor(
    leased: LeasedLane,
    private readonly systemId: string,
    private readonly sender: SmppSender,
  ) {
    super(leased);
  }

  get underWay(): string {
    return `${this.#inFlight} deliveries without an answer`;
  }

  async pump(): Promise<void> {
    const { deliveries } = this.sender;
    while (this.mayGoOn) {
      this.more = false;
      const page = await deliveries.due(this.systemId, PAGE);
      const session = this.#nextReceiver();
      if (!session || !this.mayGoOn) return;
      if (page.length > 0) await this.#send(session, page);
      else if (!this.more && (await this.leased.changed.sleep(LINGER))) {
        // Events come in bursts, also from other processes.
        if ((await deliveries.due(this.systemId, 1)).length === 0) return;
      }
    }
  }

  async nextDueIn(): Promise<number> {
    const { binds, deliveries, clock } = this.sender;
    if (binds.receivers(this.systemId).length === 0) return Infinity;
    const [first] = await deliveries.firstDue([this.systemId]);
    return first ? Math.max(0, first.dueAt - clock.now()) : Infinity;
  }

  #nextReceiver(): SmppSession | undefined {
    const receivers = this.sender.binds.receivers(this.systemId);
    return receivers[this.#turn++ % receivers.length];
  }

  async #send(session: SmppSession, page: readonly DueDelivery[]): Promise<void> {
    this.#inFlight += page.length;
    const outcomes = await Promise.all(page.map((delivery) => this.#deliver(session, delivery)));
    this.#inFlight -= page.length;
    // The session is about to end.
    if (outcomes.every((one) => one === 'unsent') && !session.isClosed)
      return void (await this.leased.changed.sleep(UNSENT_PAUSE));
    const those = (outcome: Outcome) => page.filter((_, index) => outcomes[index] === outcome);
    const refused = those('refused');
    const delivered = those('delivered');
    await this.recorded(
      () => this.sender.deliveries.settle(delivered, refused),
      'answers to receipts not recorded yet',
    );
    this.#refusals = refused.length > 0 ? this.#refusals + 1 : 0;
    if (refused.length > 0) await this.#pause();
  }

  async #deliver(session: SmppSession, delivery: DueDelivery): Promise<Outcome> {
    try {
      const { signal } = this;
      const pdus = pdusOf(delivery);
      const answers = await Promise.all(
        pdus.map((pdu) => session.request('deliver_sm', pdu, { signal })),
      );
      return answers.every(({ status }) => status === 0) ? 'delivered' : 'refused';
    } catch (error) {
      if (error instanceof SmppNotSentError || session.isClosed || this.signal.aborted)
        return 'unsent';
      return 'refused';
    }
  }

  async #pause(): Promise<void> {
    const { clock } = this.sender;
    const wait = doubledWait(SECOND, this.#refusals - 1, LONGEST_PAUSE);
    const until = clock.monotonic() + wait;
    for (let rest = wait; rest > 0 && this.mayGoOn; rest = until - clock.monotonic())
      await this.leased.changed.sleep(rest);
  }
}

/** One PDU, or of a long inbound message one for each part. */
function pdusOf(delivery: DueDelivery) {
  const { position, messageId, state, error, submittedAt, doneAt, text } = delivery;
  const addresses = {
    source: addressOf(delivery.source),
    destination: addressOf(delivery.destination),
  };
  if (state === null)
    return splitMessage(encodeText(text ?? ''), { reference: position & 0xff }).map((part) => ({
      ...addresses,
      ...part,
    }));
  const times = { submitDate: submittedAt, doneDate: doneAt };
  return [{ ...addresses, ...writeReceipt({ messageId, state, error, ...times }) }];
}

/** A number with country code, a short code, or a name, of which an address holds Latin-1 alone. */
function addressOf(address: string) {
  if (/^\d{7,}$/.test(address)) return { ton: 1, npi: 1, address };
  if (/^\d+$/.test(address)) return { ton: 3, npi: 0, address };
  return { ton: 5, npi: 0, address: address.replaceAll(/[^\x20-\xff]/gu, '?') };
}
