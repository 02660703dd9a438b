import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { SmppValueError } from '../errors.js';
import type { BindMode } from './message-rights.js';
import { SmppSession } from './session.js';
import { SmppBindError, SmppConnectError, SmppNoAnswerError } from './session-errors.js';
import { checkInteger, type SessionOptions, sessionSettings } from './session-options.js';

export interface ConnectOptions extends SessionOptions {
  readonly host: string;
  /** @default 2775 */
  readonly port?: number;
  /** `true`, or options of Node's `tls.connect()`, such as a `ca`. @default false */
  readonly tls?: boolean | ConnectionOptions;
  /** @default 'transceiver' */
  readonly mode?: BindMode;
  /** Up to 15 characters. */
  readonly systemId: string;
  /** Up to 8 characters. */
  readonly password: string;
  /** Up to 12 characters. @default '' */
  readonly systemType?: string;
  /** @default 0x34 */
  readonly interfaceVersion?: number;
  /** Numbers that a receiver serves: type, plan, and a pattern of up to 40 characters. */
  readonly addressTon?: number;
  readonly addressNpi?: number;
  readonly addressRange?: string;
  /** Time for the connection and its TLS, in milliseconds. @default 10000 */
  readonly connectTimeout?: number;
  /** Ends the attempt, and afterwards the session, at once. */
  readonly signal?: AbortSignal;
}

const BIND = {
  transmitter: 'bind_transmitter',
  receiver: 'bind_receiver',
  transceiver: 'bind_transceiver',
} as const;

/**
 * Connects and binds. It does not connect again: at `close`, call it again after a wait.
 * @throws SmppBindError where the peer refuses the bind
 * @throws SmppConnectError without a connection, or an answer to the bind
 * @throws SmppValueError naming an option that SMPP cannot carry
 * @example
 * const session = await connectSmpp({ host: 'smsc.example.com', systemId: 'me', password: 'secret',
 *   handlers: { deliver_sm: async (pdu) => { await store(pdu); return {}; } } });
 * await session.request('submit_sm', { source, destination, ...part });
 */
export async function connectSmpp(options: ConnectOptions): Promise<SmppSession> {
  const { mode = 'transceiver', signal } = options;
  if (!(mode in BIND)) throw new SmppValueError('mode', `use ${Object.keys(BIND).join(', ')}`);
  const settings = sessionSettings(options);
  const socket = await openSocket(options);
  const session = new SmppSession('client', socket, settings);
  const abort = (): void => session.close();
  signal?.addEventListener('abort', abort, { once: true });
  session.once('close', () => signal?.removeEventListener('abort', abort));
  if (signal?.aborted) session.close();
  try {
    const answer = await session.control(BIND[mode], {
      systemId: options.systemId,
      password: options.password,
      systemType: options.systemType ?? '',
      interfaceVersion: options.interfaceVersion ?? 0x34,
      addressTon: options.addressTon ?? 0,
      addressNpi: options.addressNpi ?? 0,
      addressRange: options.addressRange ?? '',
    });
    if (answer.status !== 0 || answer.command === 'generic_nack')
      throw new SmppBindError(answer.status);
    return session;
  } catch (error) {
    session.end(error instanceof SmppBindError ? 'bind_refused' : 'closed');
    if (error instanceof SmppBindError || error instanceof SmppValueError) throw error;
    const reason = error instanceof SmppNoAnswerError ? error.reason : 'closed';
    throw new SmppConnectError(`No answer to the bind (${reason})`, { cause: error });
  }
}

/** @throws SmppConnectError */
async function openSocket(options: ConnectOptions): Promise<Socket> {
  const { host, port = 2775, tls = false, connectTimeout = 10_000, signal } = options;
  checkInteger('port', port, 1);
  checkInteger('connectTimeout', connectTimeout, 1);
  if (signal?.aborted) throw new SmppConnectError('The signal aborted the connection');
  const socket = tls
    ? connectTls({
        ...(isIP(host) === 0 && { servername: host }),
        ...(tls === true ? {} : tls),
        host,
        port,
      })
    : connect({ host, port });
  let timer: NodeJS.Timeout | undefined;
  let abort: (() => void) | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      abort = () => reject(new SmppConnectError('The signal aborted the connection'));
      timer = setTimeout(
        () => reject(new SmppConnectError(`No connection to ${host}:${port} in time`)),
        connectTimeout,
      );
      signal?.addEventListener('abort', abort, { once: true });
      socket.once(tls ? 'secureConnect' : 'connect', resolve);
      socket.once('close', () =>
        reject(new SmppConnectError(`${host}:${port} closed the connection`)),
      );
      socket.once('error', (error) =>
        reject(
          new SmppConnectError(`No connection to ${host}:${port} (${codeOf(error)})`, {
            cause: error,
          }),
        ),
      );
    });
    return socket;
  } catch (error) {
    socket.on('error', () => undefined);
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    if (abort) signal?.removeEventListener('abort', abort);
  }
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? error.name;
}
