import type { PduOf } from '../codec/pdu.js';
import type { MessageRequest } from './session-options.js';

/** The requests of the peer: `window` of them in work, the others queued, in order. */
export class PeerRequests {
  readonly #queued: PduOf<MessageRequest>[] = [];
  #working = 0;

  constructor(
    public window: number,
    private readonly work: (pdu: PduOf<MessageRequest>) => Promise<void>,
  ) {}

  get isWorking(): boolean {
    return this.#working > 0;
  }

  get isEmpty(): boolean {
    return this.#working === 0 && this.#queued.length === 0;
  }

  /** Reading must pause. */
  get isFull(): boolean {
    return this.#queued.length >= this.window;
  }

  queue(pdu: PduOf<MessageRequest>): void {
    this.#queued.push(pdu);
  }

  /** @param mayStart asked before each request */
  start(mayStart: () => boolean): void {
    while (this.#working < this.window && mayStart()) {
      const pdu = this.#queued.shift();
      if (!pdu) return;
      this.#working++;
      void this.work(pdu);
    }
  }

  /** A request was answered. */
  finish(): void {
    this.#working--;
  }

  clear(): void {
    this.#queued.length = 0;
  }
}
