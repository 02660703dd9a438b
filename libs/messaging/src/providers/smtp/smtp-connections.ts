import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { SmtpSettings } from './smtp.options.js';

export interface SmtpEnvelope {
  readonly from: string;
  readonly to: string;
  readonly dsn?: {
    readonly ret: string;
    readonly envid: string;
    readonly notify: string[];
    readonly orcpt: string;
  };
}

/** The stage at which a transaction failed. Before `sent`, the server does not have the whole message. */
export type SmtpStage = 'connect' | 'auth' | 'session' | 'data' | 'sent';

/** A failed transaction. The message of the error contains no address. */
export class SmtpError extends Error {
  constructor(
    readonly stage: SmtpStage,
    /** The server's answer, where it gave one. */
    readonly answer: string | null,
    /** The refused command: `MAIL FROM`, `RCPT TO`, `DATA`, or an AUTH command. */
    readonly command: string,
    /** Code of nodemailer, such as `ETLS`, `ETIMEDOUT`; or one of ours. */
    readonly reason: string,
  ) {
    super(`${reason} at ${command}`);
  }
}

const CHUNK = 65_536;

interface Open {
  readonly connection: SMTPConnection;
  /** Extensions of the server, in upper case. */
  readonly extensions: string;
  messages: number;
  /** A refused transaction is open on the server. */
  isDirty: boolean;
  isClosed: boolean;
  idle?: NodeJS.Timeout | undefined;
}

/**
 * Connections to one server, reused one message after the other. The lanes bound their number.
 * A reused connection that the server has closed meanwhile is replaced by a new one, once.
 */
export class SmtpConnections {
  readonly #idle: Open[] = [];
  readonly #all = new Set<Open>();

  constructor(private readonly settings: SmtpSettings) {}

  /**
   * @returns the server's answer to the message
   * @throws SmtpError
   */
  async send(
    envelope: SmtpEnvelope,
    message: Buffer,
    needsUtf8: boolean,
    signal: AbortSignal,
  ): Promise<string> {
    for (;;) {
      signal.throwIfAborted();
      const reused = await this.#takeIdle(signal);
      const open = reused ?? (await this.#open(signal));
      try {
        return await this.#transact(open, envelope, message, needsUtf8, signal);
      } catch (error) {
        const isStale =
          reused &&
          error instanceof SmtpError &&
          error.stage === 'session' &&
          error.answer === null &&
          error.reason !== 'ETIMEDOUT' &&
          !signal.aborted;
        if (!isStale) throw error;
      }
    }
  }

  /** Opens a session that the next message uses. @throws SmtpError */
  async prove(signal: AbortSignal): Promise<void> {
    this.#release(await this.#open(signal));
  }

  close(): void {
    this.#idle.length = 0;
    for (const open of this.#all) {
      clearTimeout(open.idle);
      if (open.isDirty || open.isClosed) open.connection.close();
      else open.connection.quit();
    }
  }

  /** A connection that still answers, where there is one. */
  async #takeIdle(signal: AbortSignal): Promise<Open | undefined> {
    for (;;) {
      const open = this.#idle.pop();
      if (!open) return undefined;
      clearTimeout(open.idle);
      if (open.isClosed) continue;
      if (!open.isDirty) return open;
      try {
        await this.#step(open, signal, 'session', this.settings.timeouts.answer, (done) => {
          open.connection.reset((error) => done(error ?? undefined));
        });
      } catch {
        signal.throwIfAborted();
        continue;
      }
      open.isDirty = false;
      return open;
    }
  }

  #release(open: Open): void {
    if (open.isClosed) return;
    if (open.messages >= this.settings.messagesPerConnection) return open.connection.quit();
    this.#idle.push(open);
    open.idle = setTimeout(() => {
      const index = this.#idle.indexOf(open);
      if (index >= 0) this.#idle.splice(index, 1);
      open.connection.quit();
    }, this.settings.timeouts.idle);
    open.idle.unref();
  }

  async #open(signal: AbortSignal): Promise<Open> {
    const { url, tls, ca, timeouts, helo } = this.settings;
    const connection = new SMTPConnection({
      host: url.host,
      port: url.port,
      secure: url.secure,
      requireTLS: tls === 'required' && !url.secure,
      opportunisticTLS: tls === 'opportunistic',
      ignoreTLS: tls === 'off',
      ...(ca !== undefined && { tls: { ca } }),
      name: helo,
      connectionTimeout: timeouts.connect + timeouts.greeting,
      greetingTimeout: timeouts.greeting,
      // The timers of each message are shorter; this one ends a connection that they miss.
      socketTimeout: timeouts.accept + timeouts.answer,
      maxResponseSize: CHUNK,
    });
    const open: Open = { connection, extensions: '', messages: 0, isDirty: false, isClosed: false };
    this.#all.add(open);
    connection.on('end', () => {
      open.isClosed = true;
      this.#all.delete(open);
    });
    connection.on('error', () => {
      open.isClosed = true;
    });
    await this.#step(open, signal, 'connect', timeouts.connect + timeouts.greeting, (done) => {
      connection.once('error', done);
      connection.connect(done);
    });
    const extensions = String(connection.lastServerResponse || '').toUpperCase();
    const ready = Object.assign(open, { extensions });
    if (url.auth) {
      if (!connection.allowsAuth)
        throw this.#broken(open, new SmtpError('auth', null, 'AUTH', 'no_auth_offered'));
      const { user, pass } = url.auth;
      await this.#step(open, signal, 'auth', timeouts.answer, (done) => {
        connection.login({ user, pass }, (error) => done(error ?? undefined));
      });
    }
    return ready;
  }

  /** One step of a session; a failure, a time-out or an abort closes the connection. */
  async #step(
    open: Open,
    signal: AbortSignal,
    stage: SmtpStage,
    timeout: number,
    run: (done: (error?: unknown) => void) => void,
  ): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let abort: () => void = () => undefined;
    let end: () => void = () => undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        abort = () => reject(new SmtpError(stage, null, 'CONN', 'aborted'));
        signal.addEventListener('abort', abort, { once: true });
        timer = setTimeout(() => reject(new SmtpError(stage, null, 'CONN', 'ETIMEDOUT')), timeout);
        end = () => reject(new SmtpError(stage, null, 'CONN', 'ECONNECTION'));
        open.connection.once('end', end);
        run((error) => (error ? reject(errorOf(error, stage)) : resolve()));
      });
    } catch (error) {
      throw this.#broken(open, error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      open.connection.off('end', end);
    }
  }

  #broken(open: Open, error: unknown): unknown {
    open.isClosed = true;
    open.connection.close();
    this.#all.delete(open);
    return error;
  }

  async #transact(
    open: Open,
    { from, to, dsn }: SmtpEnvelope,
    message: Buffer,
    needsUtf8: boolean,
    signal: AbortSignal,
  ): Promise<string> {
    const { connection, extensions } = open;
    const { answer, accept } = this.settings.timeouts;
    if (needsUtf8 && !/[ -]SMTPUTF8\b/.test(extensions)) {
      this.#release(open);
      throw new SmtpError('session', null, 'MAIL FROM', 'no_smtputf8');
    }
    open.messages++;
    const body = new MessageBody(message);
    let timer: NodeJS.Timeout | undefined;
    let abort: () => void = () => undefined;
    try {
      const said = await new Promise<string>((resolve, reject) => {
        const lost = (reason: string) => reject(new SmtpError(stageOf(body), null, 'CONN', reason));
        abort = () => lost('aborted');
        signal.addEventListener('abort', abort, { once: true });
        const wait = (timeout: number) => {
          clearTimeout(timer);
          timer = setTimeout(() => lost('ETIMEDOUT'), timeout);
        };
        wait(3 * answer);
        body.on('chunk', () => wait(body.isSent ? accept : answer));
        const done = (error: Error | null, info?: { readonly response: string }) =>
          error || !info ? reject(errorOf(error, stageOf(body))) : resolve(info.response);
        const size = message.length;
        const use8BitMime = needsUtf8;
        connection.send({ from, to: [to], size, use8BitMime, ...(dsn && { dsn }) }, body, done);
      });
      this.#release(open);
      return said;
    } catch (error) {
      // A definite refusal leaves the session usable.
      if (error instanceof SmtpError && isRefusal(error) && !open.isClosed) {
        open.isDirty = true;
        this.#release(open);
      } else this.#broken(open, error);
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }
}

/**
 * The message, which knows whether it was read to its end, so that the final dot may be sent. It emits
 * `chunk` at each part that is read.
 */
class MessageBody extends Readable {
  /** The server has asked for the message. */
  isAsked = false;
  isSent = false;
  #at = 0;

  constructor(private readonly message: Buffer) {
    super({ highWaterMark: CHUNK });
  }

  override pipe<T extends NodeJS.WritableStream>(to: T): T {
    this.isAsked = true;
    return super.pipe(to);
  }

  override _read(): void {
    const chunk = this.message.subarray(this.#at, this.#at + CHUNK);
    this.#at += chunk.length;
    this.push(chunk);
    if (this.#at >= this.message.length) {
      this.isSent = true;
      this.push(null);
    }
    this.emit('chunk');
  }
}

function stageOf({ isAsked, isSent }: MessageBody): SmtpStage {
  if (isSent) return 'sent';
  return isAsked ? 'data' : 'session';
}

function isRefusal({ answer }: SmtpError): boolean {
  return answer !== null && !answer.startsWith('421');
}

function errorOf(error: unknown, stage: SmtpStage): SmtpError {
  if (error instanceof SmtpError) return error;
  const { response, command, code, originalCode } = (error ?? {}) as {
    readonly response?: unknown;
    readonly command?: unknown;
    readonly code?: unknown;
    readonly originalCode?: unknown;
  };
  const isTls = /CERT|ISSUER|SIGNATURE|^ERR_(TLS|SSL)/.test(String(originalCode));
  return new SmtpError(
    stage,
    typeof response === 'string' ? response : null,
    typeof command === 'string' ? command : 'CONN',
    isTls ? 'ETLS' : typeof code === 'string' ? code : 'ECONNECTION',
  );
}
