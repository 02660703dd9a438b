import type {
  MessageTransport,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
} from '../ports/message-transport.js';
import type { MessagingTracing } from '../ports/tracing.js';
import type { ProviderRate } from './provider-rate.js';
import type { WakeSignal } from './signals.js';

/** One provider as all lanes of the process see it: its transport, its rate and connections, and when it last answered. */
export class ProviderState {
  readonly slots: RequestSlots;
  /** When the provider last served a request of any lane, on the monotonic clock. */
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

  /** The provider recognises a repeated submission by its key. */
  get honoursKeys(): boolean {
    return this.transport.capabilities.idempotencyWindow > 0;
  }

  /** With tracing, the request is a step of the trace in which the message was sent. */
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
 * Limits the requests that all lanes of a process have in flight to the transport's connections. A request
 * that the transport queued itself would start when a connection is free, whatever rate and policy say by
 * then. Lanes that find no free slot take turns.
 */
export class RequestSlots {
  #taken = 0;
  /** In the order of their calls. */
  readonly #waiting = new Set<WakeSignal>();
  /** Lanes that were woken. A slot is reserved for each; a lane that asks policy first would find it taken. */
  readonly #called = new Set<WakeSignal>();

  constructor(private readonly most = Infinity) {}

  /** False: the slots are taken; `lane` is woken when its turn comes. */
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

  /** The lane no longer waits for a slot; its turn, if it had one, goes to the next lane. */
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
