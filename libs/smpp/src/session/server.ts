import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { COMMAND_STATUS } from '../command-status.js';
import type { BindMode } from './message-rights.js';
import { SmppSession } from './session.js';
import {
  type BindRequest,
  checkInteger,
  type SessionLimits,
  type SessionOptions,
  type SessionSettings,
  sessionSettings,
} from './session-options.js';

/** The peer of a connection. */
export interface SmppPeer {
  readonly address: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** A server's answer to a bind: status 0 accepts it, with limits of its own. */
export interface BindDecision extends SessionLimits {
  readonly status: number;
}

export interface SmppServerOptions extends SessionOptions {
  /**
   * Decides on a bind, by its `systemId` and `password`: `{ status: 0 }`, or a status such as
   * `COMMAND_STATUS.ESME_RINVPASWD`. Where it throws, the answer is `ESME_RBINDFAIL`.
   */
  readonly authenticate: (
    bind: BindRequest,
    peer: SmppPeer,
  ) => BindDecision | Promise<BindDecision>;
  /** The name of this side in answers to binds, up to 15 characters. @default '' */
  readonly systemId?: string;
  /** Options of Node's `tls.createServer()`: `key` and `cert`. @default plain TCP */
  readonly tls?: TlsOptions;
  /** Connections at a time, bound or not; a further one is closed. @default 1000 */
  readonly maxConnections?: number;
  /** Time for the bind of a connection, its TLS included, in milliseconds. @default 10000 */
  readonly bindTimeout?: number;
}

export interface SmppServerEvents {
  /** A peer is bound; with the decision that `authenticate` returned. */
  session: [session: SmppSession, decision: BindDecision];
  refused: [
    refused: { readonly systemId: string; readonly status: number; readonly peer: SmppPeer },
  ];
  /** A connection failed before it was a session, or `authenticate` threw. */
  failure: [error: Error];
}

const MODES = {
  bind_transmitter: 'transmitter',
  bind_receiver: 'receiver',
  bind_transceiver: 'transceiver',
} as const satisfies Record<BindRequest['command'], BindMode>;

const INTERFACE_VERSION = 0x34;

/**
 * Listens for binds. Requests of the peers go to `handlers`.
 *
 * @example
 * const server = new SmppServer({
 *   authenticate: ({ systemId, password }) => ({ status: isKnown(systemId, password) ? 0 : 0x0e }),
 *   handlers: { submit_sm: async (pdu, session) => ({ messageId: await accept(session.systemId, pdu) }) },
 * });
 * const { port } = await server.listen({ host: '127.0.0.1', port: 2775 });
 */
export class SmppServer extends EventEmitter<SmppServerEvents> {
  readonly #server: Server;
  readonly #settings: SessionSettings;
  readonly #bindTimeout: number;
  readonly #open = new Set<SmppSession>();
  readonly #sockets = new Set<Socket>();

  /** @throws SmppValueError naming the option */
  constructor(private readonly options: SmppServerOptions) {
    super();
    const { tls, maxConnections = 1_000, bindTimeout = 10_000 } = options;
    this.#settings = sessionSettings(options);
    checkInteger('maxConnections', maxConnections, 1);
    checkInteger('bindTimeout', bindTimeout, 1);
    this.#bindTimeout = bindTimeout;
    this.#server = tls
      ? createTlsServer({ handshakeTimeout: bindTimeout, ...tls }, (socket) => this.#accept(socket))
      : createServer((socket) => this.#accept(socket));
    this.#server.maxConnections = maxConnections;
    this.#server.on('tlsClientError', (error: Error, socket: Socket) => {
      // Also after a handshake that took too long, of which Node only tells.
      socket.destroy();
      this.emit('failure', error);
    });
    this.#server.on('connection', (socket: Socket) => this.#track(socket));
  }

  /** The peers that are bound. */
  get sessions(): readonly SmppSession[] {
    return [...this.#open].filter(({ isBound }) => isBound);
  }

  /**
   * @param where.port 0 for a free one
   * @throws the system's error, such as `EADDRINUSE`
   */
  async listen(where: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
    this.#server.listen(where.port, where.host);
    await once(this.#server, 'listening');
    this.#server.on('error', (error) => this.emit('failure', error));
    return this.#server.address() as AddressInfo;
  }

  /** Takes no more connections, unbinds every session, and ends when all are closed. */
  async close(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined;
    if (closed) this.#server.close();
    await Promise.all([...this.#open].map((session) => session.unbind()));
    // The remaining sockets have not become sessions, such as those in a TLS handshake.
    for (const socket of this.#sockets) socket.destroySoon();
    await closed;
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #accept(socket: Socket): void {
    const peer: SmppPeer = {
      address: socket.remoteAddress ?? '',
      port: socket.remotePort ?? 0,
      isTls: this.options.tls !== undefined,
    };
    let isAsked = false;
    const session: SmppSession = new SmppSession('server', socket, this.#settings, (bind) => {
      if (isAsked) return session.answer(bind, COMMAND_STATUS.ESME_RALYBND);
      isAsked = true;
      return void this.#bind(session, bind, peer, timer);
    });
    const timer = setTimeout(() => session.end('bind_timeout'), this.#bindTimeout);
    this.#open.add(session);
    session.once('close', () => {
      clearTimeout(timer);
      this.#open.delete(session);
    });
  }

  async #bind(
    session: SmppSession,
    bind: BindRequest,
    peer: SmppPeer,
    timer: NodeJS.Timeout,
  ): Promise<void> {
    const { systemId } = bind;
    const decision = await this.#decide(bind, peer);
    if (session.isClosed) return;
    clearTimeout(timer);
    const { status } = decision;
    const body = { systemId: this.options.systemId ?? '' };
    const isVersioned = status === 0 && bind.interfaceVersion >= INTERFACE_VERSION;
    const tlvs = isVersioned ? { tlvs: { scInterfaceVersion: INTERFACE_VERSION } } : {};
    session.answer(bind, status, { ...body, ...tlvs });
    if (status !== 0) {
      session.end('bind_refused');
      return void this.emit('refused', { systemId, status, peer });
    }
    session.bound(MODES[bind.command], systemId, decision);
    this.emit('session', session, decision);
  }

  async #decide(bind: BindRequest, peer: SmppPeer): Promise<BindDecision> {
    try {
      return await this.options.authenticate(bind, peer);
    } catch (error) {
      this.emit('failure', error instanceof Error ? error : new Error(String(error)));
      return { status: COMMAND_STATUS.ESME_RBINDFAIL };
    }
  }
}
