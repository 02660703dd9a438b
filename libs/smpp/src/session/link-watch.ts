import type { ReadingClock } from './reading-clock.js';
import type { SessionSettings } from './session-options.js';

export interface LinkWatchHooks {
  /** Sends `enquire_link`; settles with its answer or its time-out. */
  readonly enquire: () => Promise<unknown>;
  /** Whether a request of either side is in work. */
  readonly isActive: () => boolean;
  /** Ends a session without messages. */
  readonly leave: () => void;
}

/** The timers of a bound session: `enquire_link` after silence, and the end after inactivity. */
export class LinkWatch {
  #lastReceived: number;
  #lastMessage: number;
  #enquiry: NodeJS.Timeout | undefined;
  #inactivity: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(
    private readonly settings: Pick<SessionSettings, 'enquireLinkInterval' | 'inactivityTimeout'>,
    private readonly clock: ReadingClock,
    private readonly hooks: LinkWatchHooks,
  ) {
    this.#lastReceived = clock.now();
    this.#lastMessage = this.#lastReceived;
  }

  get lastReceived(): number {
    return this.#lastReceived;
  }

  /** A PDU came. */
  received(): void {
    this.#lastReceived = this.clock.now();
  }

  /** A message came or went; `enquire_link` is none. */
  message(): void {
    this.#lastMessage = this.clock.now();
  }

  start(): void {
    this.message();
    this.#armEnquiry();
    this.#armInactivity();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#enquiry);
    clearTimeout(this.#inactivity);
  }

  readonly #armEnquiry = (): void => {
    const { enquireLinkInterval } = this.settings;
    if (enquireLinkInterval === 0 || this.#isStopped) return;
    const wait = this.#lastReceived + enquireLinkInterval - this.clock.now();
    this.#enquiry = setTimeout(() => this.#enquire(), Math.max(1, wait));
  };

  #enquire(): void {
    const silence = this.clock.now() - this.#lastReceived;
    if (this.clock.isStopped || silence < this.settings.enquireLinkInterval)
      return this.#armEnquiry();
    this.hooks.enquire().then(this.#armEnquiry, this.#armEnquiry);
  }

  #armInactivity(): void {
    const { inactivityTimeout } = this.settings;
    if (inactivityTimeout === 0) return;
    const wait = this.#lastMessage + inactivityTimeout - this.clock.now();
    this.#inactivity = setTimeout(
      () => {
        const isQuiet = this.clock.now() - this.#lastMessage >= inactivityTimeout;
        if (isQuiet && !this.hooks.isActive()) this.hooks.leave();
        else this.#armInactivity();
      },
      Math.max(1, wait),
    );
  }
}
