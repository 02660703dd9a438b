import {
  type Clock,
  MESSAGING_CLOCK,
  MessagingService,
  type TraceContext,
} from '@dundun/messaging';
import { messagePlaceOf } from '@dundun/messaging/values';
import { MESSAGING_TRACING, type MessagingTracing } from '@dundun/messaging/ports';
import { retryAfterMilliseconds } from '@dundun/messaging/queue';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { guardedConnector, hasAllowedPort } from './webhook-address.js';
import { WebhookKinds } from './webhook-kinds.js';
import { type WebhookAnswer, WebhookExchange } from './webhook-exchange.js';
import { WEBHOOK_OPTIONS, type WebhookOptions } from './webhook-options.js';
import { webhookHeaders } from './webhook-signature.js';
import type {
  AttemptError,
  WebhookAttemptEntity,
  WebhookDeliveryEntity,
  WebhookEndpointEntity,
} from './webhooks.tables.js';

/** Facts of the endpoint that a lane knows. */
export type ActiveEndpoint = Readonly<
  Pick<
    WebhookEndpointEntity,
    'id' | 'url' | 'secret' | 'previousSecrets' | 'previousUntil' | 'failingSince'
  >
>;

export interface AttemptOutcome extends Readonly<
  Pick<WebhookAttemptEntity, 'startedAt' | 'duration' | 'status' | 'error' | 'response'>
> {
  /** Requested by the receiver, in milliseconds. */
  readonly retryAfter?: number | undefined;
}

export type DueDelivery = Readonly<
  Pick<
    WebhookDeliveryEntity,
    'position' | 'id' | 'messageId' | 'sequence' | 'type' | 'payload' | 'attempts' | 'revision'
  >
>;

/** Address of an endpoint's requests, parsed once. */
interface Target {
  readonly origin: string;
  readonly path: string;
  /** The URL may be older than the setting. */
  readonly hasAllowedPort: boolean;
}

/**
 * Makes one attempt: a signed POST. Redirects are not followed, responses not decompressed. There
 * is no limit per host, so that an unresponsive receiver blocks no other account.
 */
@Injectable()
export class WebhookClient implements OnApplicationShutdown {
  readonly #agent: Agent;
  readonly #targets = new WeakMap<ActiveEndpoint, Target>();

  constructor(
    @Inject(WEBHOOK_OPTIONS) private readonly options: WebhookOptions,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'monotonic'>,
    @Inject(MessagingService) private readonly messaging: Pick<MessagingService, 'traceOf'>,
    private readonly kinds: WebhookKinds,
    @Inject(MESSAGING_TRACING) private readonly tracing?: MessagingTracing,
  ) {
    const connection = { timeout: options.timeout };
    this.#agent = new Agent({
      connect: options.allowPrivate ? buildConnector(connection) : guardedConnector(connection),
      pipelining: 1,
      // Off: one deadline covers the whole attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Receiver and network errors are outcomes. @throws the reason of `stop` after its abort */
  async post(
    endpoint: ActiveEndpoint,
    delivery: DueDelivery,
    stop: AbortSignal,
  ): Promise<AttemptOutcome> {
    const { tracing } = this;
    const { messageId, attempts, type } = delivery;
    const batch = tracing && messagePlaceOf(messageId)?.batch;
    // A failed read of the trace must not prevent the callback.
    const parent = batch && (await this.messaging.traceOf(batch).catch(() => undefined));
    if (!tracing || !parent) return this.#attempt(endpoint, delivery, stop);
    return tracing.step(
      {
        operation: 'callback',
        type: 'send',
        kind: 'client',
        channel: this.kinds.channelOf(type),
        id: messageId,
        attributes: { 'dundun.attempt': attempts + 1 },
        parent,
        quiet: true,
      },
      (trace) => this.#attempt(endpoint, delivery, stop, trace),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#agent.destroy();
  }

  async #attempt(
    endpoint: ActiveEndpoint,
    delivery: DueDelivery,
    stop: AbortSignal,
    trace?: TraceContext,
  ): Promise<AttemptOutcome> {
    const { timeout, maxRetryAfter } = this.options;
    const startedAt = this.clock.now();
    const began = this.clock.monotonic();
    let duration: number | undefined;
    const took = () => (duration ??= Math.round(this.clock.monotonic() - began));
    let isLate = false;
    let exchange: WebhookExchange | undefined;
    const abort = () => exchange?.abort(stop.reason);
    const timer = setTimeout(() => {
      isLate = true;
      exchange?.abort(undefined);
    }, timeout);
    try {
      stop.throwIfAborted();
      const target = this.#targetOf(endpoint);
      if (!target.hasAllowedPort) return failure(startedAt, took(), 'port_forbidden');
      stop.addEventListener('abort', abort);
      const { status, retryAfter, excerpt } = await new Promise<WebhookAnswer>(
        (resolve, reject) => {
          exchange = new WebhookExchange({ onStatus: took, resolve, reject });
          this.#agent.dispatch(requestTo(target, endpoint, delivery, startedAt, trace), exchange);
        },
      );
      return {
        startedAt,
        duration: took(),
        status,
        error: errorOfStatus(status),
        response: excerpt,
        retryAfter: retryAfterMilliseconds(retryAfter, this.clock.now(), maxRetryAfter),
      };
    } catch (error) {
      stop.throwIfAborted();
      return failure(startedAt, took(), isLate ? 'timeout' : attemptErrorOf(error));
    } finally {
      clearTimeout(timer);
      stop.removeEventListener('abort', abort);
    }
  }

  #targetOf(endpoint: ActiveEndpoint): Target {
    const known = this.#targets.get(endpoint);
    if (known) return known;
    const url = new URL(endpoint.url);
    const target = {
      origin: url.origin,
      path: url.pathname + url.search,
      hasAllowedPort: hasAllowedPort(url, this.options.ports),
    };
    this.#targets.set(endpoint, target);
    return target;
  }
}

function failure(startedAt: number, duration: number, error: AttemptError): AttemptOutcome {
  return { startedAt, duration, status: null, error, response: null };
}

function requestTo(
  { origin, path }: Target,
  { secret, previousSecrets, previousUntil }: ActiveEndpoint,
  { id, payload }: DueDelivery,
  at: number,
  trace?: TraceContext,
): Dispatcher.DispatchOptions {
  const isRotating = previousSecrets !== null && at < (previousUntil ?? 0);
  const secrets = [secret, ...(isRotating ? previousSecrets.split(' ') : [])];
  return {
    origin,
    path,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Dundun-Webhooks/1',
      ...webhookHeaders(id, at, payload, secrets),
      ...trace,
    },
    body: payload,
  };
}

function errorOfStatus(status: number): AttemptError | null {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirect' : 'http_status';
}

const BY_CODE: readonly (readonly [RegExp, AttemptError])[] = [
  [/^address_forbidden$/, 'address_forbidden'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'connection_lost'],
  [/^(ENOTFOUND|EAI_AGAIN|ENODATA|ESERVFAIL|ETIMEOUT)$/, 'host_not_found'],
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'timeout'],
  [/^(UND_ERR_INVALID_ARG|ERR_INVALID_URL)$/, 'invalid_url'],
  [/^(EPROTO|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)_)/, 'tls'],
];

function attemptErrorOf(error: unknown): AttemptError {
  if (typeof error !== 'object' || error === null) return 'unreachable';
  const { name, code, syscall, errors } = error as Readonly<Record<string, unknown>>;
  // After attempts at several addresses there is an error for each.
  if (Array.isArray(errors) && errors.length > 0) return attemptErrorOf(errors[0]);
  // c-ares reports its own connection errors under the same codes as sockets.
  if (typeof syscall === 'string' && syscall.startsWith('query')) return 'host_not_found';
  if (name === 'HTTPParserError') return 'invalid_response';
  return (
    BY_CODE.find(([form]) => typeof code === 'string' && form.test(code))?.[1] ?? 'unreachable'
  );
}
