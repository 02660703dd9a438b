import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type Server as TlsServer,
  type TlsOptions,
} from 'node:tls';
import { COMMAND_STATUS } from '../command-status.js';
import type { BindMode } from './message-rights.js';
import { PduTurns } from './pdu-turns.js';
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
  /** Connections of a network that are not bound; a further one is closed. @default 20 */
  readonly maxUnboundPerNetwork?: number;
  /** Binds of a network; a further one is answered `ESME_RBINDFAIL`. @default 50 */
  readonly maxBoundPerNetwork?: number;
  /**
   * The network of an address that these two limits count by.
   * @default an IPv4 address, an IPv6 /64
   */
  readonly networkOf?: (address: string) => string;
  /**
   * PDUs in a second that are answered before the bind, it included; a further one ends the connection.
   * @default 10
   */
  readonly maxUnboundRequests?: number;
  /**
   * PDUs in a second that a bound peer may send beside messages and answers: `enquire_link`, unknown and
   * unreadable ones, commands without a handler or that its bind does not allow, answers to no request.
   * A further one ends the session.
   * @default 100
   */
  readonly maxControlRequests?: number;
  /** Time for the TLS handshake, then as much for the bind, in milliseconds. @default 10000 */
  readonly bindTimeout?: number;
}

export interface SmppServerEvents {
  /** A peer is bound; with the decision that `authenticate` returned. */
  session: [session: SmppSession, decision: BindDecision];
  refused: [
    refused: { readonly systemId: string; readonly status: number; readonly peer: SmppPeer },
  ];
  /** A connection was closed, or a bind refused, because of the others of its network. */
  limited: [
    limited: {
      readonly limit: 'maxUnboundPerNetwork' | 'maxBoundPerNetwork';
      readonly peer: SmppPeer;
    },
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

type Limits = ReturnType<typeof limitsOf>;

function limitsOf(options: SmppServerOptions) {
  const limits = {
    maxConnections: options.maxConnections ?? 1_000,
    maxUnboundPerNetwork: options.maxUnboundPerNetwork ?? 20,
    maxBoundPerNetwork: options.maxBoundPerNetwork ?? 50,
    maxUnboundRequests: options.maxUnboundRequests ?? 10,
    maxControlRequests: options.maxControlRequests ?? 100,
    bindTimeout: options.bindTimeout ?? 10_000,
  };
  for (const [name, value] of Object.entries(limits)) checkInteger(name, value, 1);
  return limits;
}

/**
 * Connections that the system accepts while the process is in one turn of its event loop. Of more it
 * drops the first packet, and their peers wait one second, then three. Node's own number is 511.
 */
const BACKLOG = 4_096;

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
  /** Takes the connections of `#server` and listens nowhere. */
  readonly #handshakes: TlsServer | undefined;
  readonly #settings: SessionSettings;
  readonly #limits: Limits;
  readonly #networks: Networks;
  readonly #turns = new PduTurns();
  readonly #open = new Set<SmppSession>();
  readonly #sockets = new Set<Socket>();

  /** @throws SmppValueError naming the option */
  constructor(private readonly options: SmppServerOptions) {
    super();
    const { tls, networkOf = smallNetworkOf } = options;
    this.#settings = sessionSettings(options);
    this.#limits = limitsOf(options);
    const { maxConnections, bindTimeout } = this.#limits;
    this.#networks = new Networks(networkOf);
    this.#handshakes =
      tls &&
      createTlsServer({ handshakeTimeout: bindTimeout, ...tls }, (socket) => this.#accept(socket));
    this.#handshakes?.on('tlsClientError', (error: Error, socket: Socket) => {
      // Also after a handshake that took too long, of which Node only tells.
      socket.destroy();
      this.emit('failure', error);
    });
    this.#server = createServer(tls ?? {}, (socket) => this.#admit(socket));
    this.#server.maxConnections = maxConnections;
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
    this.#server.listen({ ...where, backlog: BACKLOG });
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

  #admit(socket: Socket): void {
    const peer = this.#peerOf(socket);
    const { address } = peer;
    if (this.#networks.unbound(address) >= this.#limits.maxUnboundPerNetwork) {
      socket.on('error', () => undefined).destroy();
      return void this.emit('limited', { limit: 'maxUnboundPerNetwork', peer });
    }
    this.#networks.add('connections', address, 1);
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#networks.add('connections', address, -1);
      this.#sockets.delete(socket);
    });
    if (this.#handshakes) this.#handshakes.emit('connection', socket);
    else this.#accept(socket);
  }

  #peerOf({ remoteAddress = '', remotePort = 0 }: Socket): SmppPeer {
    return { address: remoteAddress, port: remotePort, isTls: this.#handshakes !== undefined };
  }

  #accept(socket: Socket): void {
    const peer = this.#peerOf(socket);
    let isAsked = false;
    const { bindTimeout, maxUnboundRequests, maxControlRequests } = this.#limits;
    const unbound = new SecondsRate(maxUnboundRequests);
    const control = new SecondsRate(maxControlRequests);
    const session: SmppSession = new SmppSession('server', socket, this.#settings, {
      turns: this.#turns,
      mayReceive: () => unbound.take(),
      mayControl: () => control.take(),
      // A peer may answer each request twice.
      answered: () => control.give(),
      bind: (bind) => {
        if (isAsked) return session.answer(bind, COMMAND_STATUS.ESME_RALYBND);
        isAsked = true;
        return void this.#bind(session, bind, peer, timer);
      },
    });
    const timer = setTimeout(() => session.end('bind_timeout'), bindTimeout);
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
    const isLimited =
      decision.status === 0 &&
      this.#networks.binds(peer.address) >= this.#limits.maxBoundPerNetwork;
    if (isLimited) this.emit('limited', { limit: 'maxBoundPerNetwork', peer });
    const status = isLimited ? COMMAND_STATUS.ESME_RBINDFAIL : decision.status;
    const body = { systemId: this.options.systemId ?? '' };
    const isVersioned = status === 0 && bind.interfaceVersion >= INTERFACE_VERSION;
    const tlvs = isVersioned ? { tlvs: { scInterfaceVersion: INTERFACE_VERSION } } : {};
    session.answer(bind, status, { ...body, ...tlvs });
    if (status !== 0) {
      session.end('bind_refused');
      return void this.emit('refused', { systemId, status, peer });
    }
    this.#networks.add('binds', peer.address, 1);
    session.once('close', () => this.#networks.add('binds', peer.address, -1));
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

/** Counts the connections and binds of each network. */
class Networks {
  readonly #counts = new Map<string, { readonly connections: number; readonly binds: number }>();

  constructor(private readonly networkOf: (address: string) => string) {}

  unbound(address: string): number {
    const { connections, binds } = this.#of(this.networkOf(address));
    return connections - binds;
  }

  binds(address: string): number {
    return this.#of(this.networkOf(address)).binds;
  }

  /** @param by 1, or -1 at the end; a network without connections takes no memory */
  add(kind: 'connections' | 'binds', address: string, by: 1 | -1): void {
    const key = this.networkOf(address);
    const count = { ...this.#of(key) };
    count[kind] += by;
    if (count.connections === 0 && count.binds === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }

  #of(key: string) {
    return this.#counts.get(key) ?? { connections: 0, binds: 0 };
  }
}

/** An IPv4 address, or the /64 of an IPv6 address, which one customer usually has whole. */
export function smallNetworkOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head, tail] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const written = head ?? [];
  const zeros = tail ? Array<string>(Math.max(0, 8 - written.length - tail.length)).fill('0') : [];
  return [...written, ...zeros, ...(tail ?? [])].slice(0, 4).join(':');
}

/** Counts events in windows of a second. */
class SecondsRate {
  #taken = 0;
  #endsAt = 0;

  constructor(private readonly max: number) {}

  /** @returns whether the second has room for one more */
  take(): boolean {
    const now = performance.now();
    if (now >= this.#endsAt) {
      this.#endsAt = now + 1_000;
      this.#taken = 0;
    }
    return ++this.#taken <= this.max;
  }

  /** Gives a place back. */
  give(): void {
    this.#taken--;
  }
}
