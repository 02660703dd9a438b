/** PDUs of one peer that a server takes in a turn of the event loop. */
const OF_PEER = 50;

/** Milliseconds of a turn after which no peer takes more. */
const OF_ALL = 1;

/**
 * Shares the turns of the event loop between the peers of a server, so that floods of many peers
 * leave turns to others: libuv accepts one connection of each listener in a turn.
 */
export class PduTurns {
  #end: number | undefined;
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Takes the place of a PDU in this turn. @param own PDUs that the peer has taken in it */
  take(own: number): boolean {
    if (own >= OF_PEER) return false;
    const now = this.now();
    this.#end ??= now + OF_ALL;
    this.#schedule();
    return now < this.#end;
  }

  /** Calls `goOn` in another turn, after the peers that wait already. */
  wait(goOn: () => void): void {
    this.#waiting.push(goOn);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    const end = (this.#end = this.now() + OF_ALL);
    // Peers that have more wait again, behind those that have had no turn.
    for (let n = this.#waiting.length; n > 0 && this.now() < end; n--) this.#waiting.shift()?.();
    this.#end = undefined;
    if (this.#waiting.length > 0) this.#schedule();
  }
}
