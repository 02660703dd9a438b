import { Logger } from '@nestjs/common';
import { doubledWait } from '../message/doubled-wait.js';
import type { DispatchEngine, Drain } from '../ports/dispatch-engine.js';
import type { Listening, WakeChannel } from '../store/postgres/wake-channel.js';
import { DatabaseEngine } from './database.engine.js';
import { LaneTimer } from './lane-timer.js';
import { WakeOutbox } from './wake-outbox.js';

/**
 * Waits between two tries to listen, in milliseconds; the first and the longest. A connection hears
 * nothing behind a pooler, or for a moment on a database under load.
 */
const RECONNECT = { first: 1_000, longest: 30_000, unheard: 600_000 };

/**
 * The embedded engine on PostgreSQL. A process that does not dispatch wakes those that do by NOTIFY;
 * of these, the one that takes the lease drains the lane. Where LISTEN is not heard, as behind a
 * pooler in transaction mode, the wake job of another process finds the lane.
 */
export class ListeningEngine implements DispatchEngine {
  readonly name = 'database';
  readonly #logger = new Logger('Dispatch');
  readonly #local = new DatabaseEngine();
  readonly #outbox: WakeOutbox;
  readonly #later = new LaneTimer((lane, at) => this.wake(lane, at));
  #dispatches = false;
  readonly #stop = new AbortController();
  #listening: Promise<Listening | undefined> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #warned: string | undefined;

  constructor(private readonly channel: WakeChannel) {
    this.#outbox = new WakeOutbox({
      send: (lanes) => channel.notify(lanes),
      onSent: () => undefined,
      // The wake job of a process that dispatches finds the lane.
      onUnsent: () => undefined,
    });
  }

  async start(drain: Drain): Promise<void> {
    this.#dispatches = true;
    await this.#local.start(drain);
    this.#listening = this.#listen(0);
  }

  wake(lane: string, at?: number): void {
    if (this.#stop.signal.aborted) return;
    // Before the start this process may be one that never dispatches.
    this.#local.wake(lane, at);
    if (this.#dispatches) return;
    if (at !== undefined && at > Date.now()) this.#later.set(lane, at);
    else void this.#outbox.add(lane);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#retry);
    this.#later.stop();
    await (await this.#listening)?.close();
    await this.#local.stop();
    await this.#outbox.idle();
  }

  async #listen(tries: number): Promise<Listening | undefined> {
    try {
      const listening = await this.channel.listen(
        (lane) => this.#local.wake(lane),
        () => this.#listenAgain(0),
        this.#stop.signal,
      );
      if (listening || this.#stop.signal.aborted) return listening;
      this.#warn(
        'LISTEN is not heard at the address of the database, as behind a pooler in transaction mode: work of other processes is found within 2 s',
      );
      this.#listenAgain(tries + 1, doubledWait(RECONNECT.first, tries, RECONNECT.unheard));
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#warn(`The database takes no LISTEN, tried again: ${(error as Error).name}`);
      this.#listenAgain(tries + 1);
    }
    return undefined;
  }

  /** Once for each reason. */
  #warn(reason: string): void {
    if (reason !== this.#warned) this.#logger.warn(reason);
    this.#warned = reason;
  }

  #listenAgain(tries: number, wait = doubledWait(RECONNECT.first, tries, RECONNECT.longest)): void {
    if (this.#stop.signal.aborted) return;
    this.#retry = setTimeout(() => {
      this.#listening = this.#listen(tries);
    }, wait);
    this.#retry.unref();
  }
}
