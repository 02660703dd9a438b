import {
  type BindDecision,
  type BindRequest,
  COMMAND_STATUS,
  type SmppPeer,
  SmppServer,
  type SmppSession,
} from '@dundun/smpp';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { networkOf, RequestLimits, RequestWindow } from '../accounts/limits.js';
import { type Environment, ENVIRONMENT, EnvironmentError } from '../config/environment.js';
import { toApiError } from '../http/error-mapping.js';
import { listenRemedyOf } from '../config/listen-remedies.js';
import { SmppBinds } from './smpp-binds.js';
import { isSystemId, SmppCredentials, type SmppPrincipal } from './smpp-credentials.service.js';
import { SmppMessages } from './smpp-messages.js';
import { SmppSubmits } from './smpp-submits.js';
import { type SmppTls, smppTls } from './smpp-tls.js';

/** Binds of one system_id in a process. */
const MOST_BINDS = 10;

/** Milliseconds between two looks at the pairs of the binds. */
const WATCH_EVERY = 400;

/** Time for an answer to `unbind`, in milliseconds, where a pair was removed or rotated. */
const UNBIND_WITHIN = 300;

/** Time for open submits, in milliseconds, where the process stops. */
const STOP_WITHIN = 5_000;

/** Log lines of a limit and network. */
const ONE_A_MINUTE = { max: 1, per: 60_000 };

const SETTINGS = {
  maxUnboundPerNetwork: 'SMPP_LISTEN_MAX_UNBOUND',
  maxBoundPerNetwork: 'SMPP_LISTEN_MAX_BOUND',
} as const;

const { ESME_RBINDFAIL, ESME_RINVPASWD, ESME_ROK, ESME_RTHROTTLED } = COMMAND_STATUS;

/** The SMPP server at `SMPP_LISTEN`, in the roles `all` and `api`. */
@Injectable()
export class SmppListener implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger('Smpp');
  readonly #server: SmppServer;
  readonly #tls: SmppTls | undefined;
  /** Principals of binds whose session has not begun. */
  readonly #principals = new WeakMap<BindDecision, SmppPrincipal>();
  #watch: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(
    private readonly credentials: SmppCredentials,
    private readonly binds: SmppBinds,
    submits: SmppSubmits,
    messages: SmppMessages,
    private readonly limits: RequestLimits,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {
    const { SMPP_LISTEN_WINDOW, SMPP_LISTEN_ENQUIRE } = environment;
    const { SMPP_LISTEN_MAX_UNBOUND, SMPP_LISTEN_MAX_BOUND } = environment;
    this.#tls = smppTls(environment);
    this.#server = new SmppServer({
      systemId: 'dundun',
      authenticate: (bind, peer) => this.#authenticate(bind, peer),
      handlers: {
        submit_sm: (pdu, session) => submits.answer(pdu, session),
        query_sm: (pdu, session) => messages.query(pdu, session),
        cancel_sm: (pdu, session) => messages.cancel(pdu, session),
      },
      ...(this.#tls && { tls: this.#tls }),
      receiveWindow: SMPP_LISTEN_WINDOW,
      enquireLinkInterval: SMPP_LISTEN_ENQUIRE,
      maxUnboundPerNetwork: SMPP_LISTEN_MAX_UNBOUND,
      maxBoundPerNetwork: SMPP_LISTEN_MAX_BOUND,
      networkOf,
    });
    const told = new RequestWindow(ONE_A_MINUTE);
    this.#server.on('limited', ({ limit, peer: { address: ip } }) => {
      const setting = SETTINGS[limit];
      if (told.take(`${setting} ${networkOf(ip)}`).remaining === 0)
        this.#logger.log({ message: 'too many SMPP connections of a network', setting, ip });
    });
    this.#server.on('session', (session, decision) => this.#bound(session, decision));
    this.#server.on('failure', (error) => {
      // What scans ports fails its handshake many times a minute.
      const level = isOfPeer(error) ? 'debug' : 'warn';
      this.#logger[level]({ message: 'SMPP connection failed', err: error });
    });
  }

  /** @throws EnvironmentError where it cannot listen */
  async onApplicationBootstrap(): Promise<void> {
    const { SMPP_LISTEN: where, ROLE } = this.environment;
    if (!where || ROLE === 'worker') return;
    try {
      const { port } = await this.#server.listen(where);
      this.#logger.log({
        message: 'listening for SMPP',
        host: where.host,
        port,
        tls: this.#tls !== undefined,
      });
    } catch (error) {
      const [, remedy] = listenRemedyOf(error) ?? [];
      if (remedy === undefined) throw error;
      const written = `${where.host}:${where.port}`;
      throw new EnvironmentError([`SMPP_LISTEN "${written}": ${remedy}`], { cause: error });
    }
    this.#watch = setTimeout(() => void this.#endInvalid(), WATCH_EVERY).unref();
  }

  /** Unbinds every session once its open submits are answered. */
  async onModuleDestroy(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#watch);
    const sessions = this.binds.all.map(({ session }) => session);
    for (const session of sessions) this.binds.delete(session);
    const late = setTimeout(() => {
      for (const session of sessions) session.close();
    }, STOP_WITHIN);
    await this.#server.close();
    clearTimeout(late);
  }

  async #authenticate({ systemId, password }: BindRequest, peer: SmppPeer): Promise<BindDecision> {
    const { failures } = this.limits;
    const network = networkOf(peer.address);
    // Counted from its start, so that many guesses at once are limited too.
    const { remaining = 0 } = failures?.take(network) ?? {};
    if (remaining < 0)
      // One line per window, so that a flood of guesses does not flood the log.
      return this.#refuse(ESME_RTHROTTLED, remaining === -1 && 'too many failures', systemId, peer);
    let principal: SmppPrincipal | undefined;
    try {
      principal = await this.credentials.verify(systemId, password, peer.address);
    } catch (error) {
      failures?.giveBack(network);
      if (toApiError(error).code !== 'unavailable') throw error;
      return this.#refuse(ESME_RTHROTTLED, 'too many binds at once', systemId, peer);
    }
    if (!principal)
      return this.#refuse(ESME_RINVPASWD, 'wrong system_id or password', systemId, peer);
    failures?.giveBack(network);
    const [valid] = await this.credentials.stillValid([principal]);
    if (!valid || this.#isStopping)
      return this.#refuse(ESME_RBINDFAIL, 'account suspended, or stopping', systemId, peer);
    if (this.binds.of(systemId).length >= MOST_BINDS)
      return this.#refuse(ESME_RBINDFAIL, 'too many binds', systemId, peer);
    const decision = { status: ESME_ROK };
    this.#principals.set(decision, principal);
    return decision;
  }

  #refuse(status: number, cause: string | false, systemId: string, peer: SmppPeer): BindDecision {
    // A text without the form of a system_id may be a password in the wrong field.
    const named = isSystemId(systemId) ? { systemId } : {};
    if (cause !== false)
      this.#logger.log({ message: 'SMPP bind refused', cause, ...named, ip: peer.address });
    return { status };
  }

  #bound(session: SmppSession, decision: BindDecision): void {
    const principal = this.#principals.get(decision);
    if (!principal || this.#isStopping) return session.close();
    const { systemId, accountId: account } = principal;
    const { mode, remoteAddress: ip } = session;
    this.binds.add(session, principal);
    this.#logger.log({ message: 'SMPP bound', systemId, account, mode, ip });
    session.once('close', ({ reason }) =>
      this.#logger.log({ message: 'SMPP bind ended', systemId, account, mode, reason }),
    );
    session.on('handlerError', (error, command) =>
      this.#logger.error({ message: 'SMPP request failed', systemId, command, err: error }),
    );
    this.credentials.noteBind(systemId).catch((error: unknown) => {
      this.#logger.warn({ message: 'last bind not recorded', systemId, err: error });
    });
  }

  /** Ends the binds of pairs that were removed or rotated, and of suspended accounts. */
  async #endInvalid(): Promise<void> {
    try {
      const bound = this.binds.all;
      const valid = await this.credentials.stillValid(bound.map(({ principal }) => principal));
      for (const { session, principal } of bound) if (!valid.has(principal)) this.#end(session);
    } catch (error) {
      this.#logger.warn({ message: 'pairs of SMPP binds not read', err: error });
    }
    if (!this.#isStopping) this.#watch?.refresh();
  }

  #end(session: SmppSession): void {
    this.binds.delete(session);
    const late = setTimeout(() => session.close(), UNBIND_WITHIN);
    void session.unbind().finally(() => clearTimeout(late));
  }
}

/** Whether the handshake failed, or the peer left. */
function isOfPeer({ code = '' }: NodeJS.ErrnoException): boolean {
  return /^ERR_(SSL|TLS)_|^ECONNRESET$/.test(code);
}
