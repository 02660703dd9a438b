import type {
  MessageTransport,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
} from '../ports/message-transport.js';
import type { MessagingTracing } from '../ports/tracing.js';
import type { ProviderRate } from './provider-rate.js';
import type { WakeSignal } from './signals.js';

/**
 * State of one provider, shared by all lanes of the process: its transport, its rate and connections, and the time of
 * its last answer.
 */
export class ProviderState {
  readonly slots: RequestSlots;
  /** Time when the provider last served a request of any lane, on the monotonic clock. */
  servedAt = -Infinity;

  constructor(
    readonly name: string,
    private readonly transport: MessageTransport,
    /** Limit over all lanes and replicas, if one is set. */
    readonly rate: ProviderRate | undefined,
    private readonly tracing: MessagingTracing | undefined,
  ) {
    this.slots = new RequestSlots(transport.capabilities.connections);
  }

  get capabilities(): TransportCapabilities {
    return this.transport.capabilities;
  }

  /** Whether the provider recognises a repeated submission by its key. */
  get honoursKeys(): boolean {
    return this.transport.capabilities.idempotencyWindow > 0;
  }

  /** Submits one submission. With tracing, the request is a step of the trace in which the message was sent. */
  submit(submission: Submission, signal: AbortSignal): Promise<SubmissionAccepted> {
    const { transport, tracing } = this;
    const { id, channel, recipients, attempt, trace } = submission;
    if (!tracing || !trace) return transport.submit(submission, signal);
    return tracing.step(
      {
        operation: 'submit',
        type: 'send',
        kind: 'client',
        channel,
        id,
        messages: recipients.length,
        attributes: { 'dundun.transport': this.name, 'dundun.attempt': attempt },
        parent: trace,
        quiet: transport.capabilities.passesTraceOn ?? false,
      },
      (own) => transport.submit({ ...submission, trace: own ?? trace }, signal),
    );
  }
}

/**
 * Limits the requests that all lanes of a process have in flight to the transport's connections. A request queued
 * inside the transport would start once a connection is free, even where rate or policy then forbid it. Lanes that
 * find no free slot take turns.
 */
export class RequestSlots {
  #taken = 0;
  /** Waiting lanes, in call order. */
  readonly #waiting = new Set<WakeSignal>();
  /** Woken lanes. Each has a reserved slot, because a lane that asks policies first would otherwise find it taken. */
  readonly #called = new Set<WakeSignal>();

  constructor(private readonly most = Infinity) {}

  /** @returns false where all slots are taken; `lane` is then woken on its turn */
  free(lane: WakeSignal): boolean {
    if (this.#called.has(lane) || this.#left > 0) return true;
    this.#waiting.add(lane);
    return false;
  }

  take(lane: WakeSignal): void {
    this.#taken++;
    this.leave(lane);
  }

  giveBack(): void {
    this.#taken--;
    this.#call();
  }

  /** Ends the lane's wait for a slot; the next lane gets its turn. */
  leave(lane: WakeSignal): void {
    this.#waiting.delete(lane);
    this.#called.delete(lane);
    this.#call();
  }

  /** Slots neither taken nor reserved. */
  get #left(): number {
    return this.most - this.#taken - this.#called.size;
  }

  #call(): void {
    for (const lane of this.#waiting) {
      if (this.#left <= 0) return;
      this.#waiting.delete(lane);
      this.#called.add(lane);
      lane.wake();
    }
  }
}
