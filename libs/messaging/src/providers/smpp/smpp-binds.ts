import { Logger } from '@nestjs/common';
import {
  type BindMode,
  COMMAND_STATUS,
  commandStatusName,
  connectSmpp,
  type LateAnswer,
  type RequestHandlers,
  SmppBindError,
  type SmppSession,
} from '@dundun/smpp';
import { doubledWait } from '../../message/doubled-wait.js';
import { PausedFailure, RetryableFailure } from '../../message/errors.js';
import type { SmppSettings } from './smpp.options.js';
import { pauseCode } from './smpp-refusals.js';

/** First wait before the next connection, in milliseconds; it doubles up to `reconnect`. */
const FIRST_WAIT = 1_000;

export interface BindHooks {
  readonly handlers: RequestHandlers;
  readonly late: (session: SmppSession, answer: LateAnswer) => void;
}

/** Keeps the binds of one process open: each connects again after a growing, jittered wait. */
export class SmppBinds {
  readonly #logger = new Logger('SmppTransport');
  #stop = new AbortController();
  readonly #sessions = new Set<SmppSession>();
  readonly #loops: Promise<void>[] = [];
  #changed: (() => void)[] = [];
  #failure: Error | undefined;
  #isAllowed: () => boolean;

  constructor(
    private readonly settings: SmppSettings,
    private readonly hooks: BindHooks,
  ) {
    this.#isAllowed = () => settings.maxBinds === undefined;
  }

  /**
   * Makes the connections; again it does nothing.
   * @param isAllowed of a process with a place: whether it still has it. It may start after a stop
   */
  start(isAllowed?: () => boolean): void {
    if (isAllowed) {
      this.#isAllowed = isAllowed;
      this.#stop = new AbortController();
      this.#failure = undefined;
    }
    if (this.#loops.length > 0 || this.#stop.signal.aborted || !this.isAllowed) return;
    for (const [mode, count] of Object.entries(this.settings.binds))
      for (let n = 0; n < count; n++) this.#loops.push(this.#keep(mode as BindMode));
  }

  /**
   * Uses the sending bind with the fewest messages; waits for one as long as one may come.
   * @param use is called at once where there is a bind, so that the next call sees its message
   */
  async send<T>(signal: AbortSignal, use: (session: SmppSession) => Promise<T>): Promise<T> {
    this.start();
    const deadline = performance.now() + this.settings.connectTimeout;
    for (;;) {
      if (signal.aborted) throw new RetryableFailure('aborted', 'The request was given up');
      const session = this.#leastBusy();
      if (session) return use(session);
      const wait = deadline - performance.now();
      const isOver = this.#failure || wait <= 0 || this.#stop.signal.aborted;
      if (isOver || !this.isAllowed) throw this.#unavailable();
      await this.#change(wait, signal);
    }
  }

  /** Whether the process may have binds; false without its places where `maxBinds` limits them. */
  get isAllowed(): boolean {
    return this.#isAllowed();
  }

  /** A bind sends. */
  get isBound(): boolean {
    return this.#leastBusy() !== undefined;
  }

  /** Why no message can leave: no bind sends, and the last try failed. */
  get trouble(): string | undefined {
    if (this.#leastBusy() || !this.#failure || this.#stop.signal.aborted) return undefined;
    const { code, message } = this.#unavailable();
    return `${code}: ${message}`;
  }

  /**
   * Binds once and unbinds, where no bind of this process sends. What the SMSC delivers meanwhile it
   * delivers again. @throws PausedFailure
   */
  async prove(signal: AbortSignal): Promise<void> {
    if (this.isBound) return;
    const { transceiver } = this.settings.binds;
    const refused = () => ({ status: COMMAND_STATUS.ESME_RX_T_APPN });
    const handlers = { deliver_sm: refused, data_sm: refused };
    try {
      const mode = transceiver > 0 ? 'transceiver' : 'transmitter';
      const session = await this.#connect(mode, handlers, signal);
      await session.unbind();
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  /**
   * Unbinds all, after the answers that are missing.
   * @param limit milliseconds until the connections are closed without
   */
  async stop(limit?: number): Promise<void> {
    this.#stop.abort();
    this.#notify();
    const close = (): void => this.#sessions.forEach((session) => session.close());
    const timer = limit === undefined ? undefined : setTimeout(close, limit);
    await Promise.all([...this.#sessions].map((session) => session.unbind()));
    await Promise.all(this.#loops.splice(0));
    clearTimeout(timer);
  }

  #leastBusy(): SmppSession | undefined {
    if (!this.isAllowed) return undefined;
    let best: SmppSession | undefined;
    for (const session of this.#sessions)
      if (session.isBound && session.mode !== 'receiver' && (!best || load(session) < load(best)))
        best = session;
    return best;
  }

  async #keep(mode: BindMode): Promise<void> {
    const { signal } = this.#stop;
    for (let tries = 0; !signal.aborted; tries++) {
      const since = performance.now();
      // A place that lapsed is about to be given up.
      if (this.isAllowed) await this.#bind(mode);
      if (signal.aborted) return;
      // A bind that held is no sign of an outage.
      if (performance.now() - since > this.settings.reconnect) tries = 0;
      await pause(doubledWait(FIRST_WAIT, tries, this.settings.reconnect, [0.5, 1]), signal);
    }
  }

  /** One connection, until it ends. */
  async #bind(mode: BindMode): Promise<void> {
    const { host, port } = this.settings.url;
    const attempt = new AbortController();
    const abort = (): void => attempt.abort();
    this.#stop.signal.addEventListener('abort', abort);
    try {
      const session = await this.#connect(mode, this.hooks.handlers, attempt.signal);
      this.#stop.signal.removeEventListener('abort', abort);
      if (this.#stop.signal.aborted) return await session.unbind();
      const closed = new Promise<string>((resolve) =>
        session.once('close', ({ reason }) => resolve(reason)),
      );
      session.on('late', (answer) => this.hooks.late(session, answer));
      session.on('handlerError', () =>
        this.#logger.warn('A receipt or message could not be stored; the SMSC sends it again'),
      );
      this.#sessions.add(session);
      this.#failure = undefined;
      this.#notify();
      this.#logger.log(`Bound to ${host}:${port} as ${mode}`);
      const reason = session.isClosed ? 'connection_lost' : await closed;
      this.#sessions.delete(session);
      if (!this.#stop.signal.aborted)
        this.#logger.warn(`The bind to ${host}:${port} as ${mode} ended: ${reason}`);
    } catch (error) {
      this.#failure = error as Error;
      this.#notify();
      if (!this.#stop.signal.aborted)
        this.#logger.warn(`No bind to ${host}:${port} as ${mode}: ${(error as Error).message}`);
    } finally {
      this.#stop.signal.removeEventListener('abort', abort);
    }
  }

  #connect(mode: BindMode, handlers: RequestHandlers, signal: AbortSignal): Promise<SmppSession> {
    const { url, window, systemType, answerTimeout, connectTimeout, enquireLink, ca } =
      this.settings;
    const { host, port, isTls, systemId, password } = url;
    return connectSmpp({
      signal,
      host,
      port,
      systemId,
      password,
      mode,
      window,
      systemType,
      connectTimeout,
      tls: isTls && (ca === undefined ? true : { ca }),
      responseTimeout: answerTimeout,
      enquireLinkInterval: enquireLink,
      handlers,
    });
  }

  /** Pauses the provider, or this process alone where it has no place; no message was sent. */
  #unavailable(): PausedFailure | RetryableFailure {
    if (!this.isAllowed)
      return new RetryableFailure('no_place', 'Other processes have all binds of the SMSC');
    return this.#failureOf(this.#failure);
  }

  #failureOf(failure: unknown): PausedFailure {
    const { host, port } = this.settings.url;
    if (failure instanceof SmppBindError) {
      const { status } = failure;
      const code = status === 0x0d ? 'bind_refused' : pauseCode(status);
      return new PausedFailure(
        code,
        `The SMSC at ${host}:${port} refused the bind (${commandStatusName(status)})`,
      );
    }
    return new PausedFailure('unreachable', `No SMPP bind to ${host}:${port}`);
  }

  #change(limit: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, limit);
      signal.addEventListener('abort', done, { once: true });
      this.#changed.push(done);
    });
  }

  #notify(): void {
    for (const tell of this.#changed.splice(0)) tell();
  }
}

function load({ unanswered, queued }: SmppSession): number {
  return unanswered + queued;
}

/** Ends early where the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
  });
}
