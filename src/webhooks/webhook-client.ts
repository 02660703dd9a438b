import {
  type Clock,
  MESSAGING_CLOCK,
  MESSAGING_TRACING,
  MessagingService,
  type MessagingTracing,
  type TraceContext,
} from '@dundun/messaging';
import { retryAfterMilliseconds } from '@dundun/messaging/queue';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { guardedConnector, hasAllowedPort } from './webhook-address.js';
import { WebhookEvents } from './webhook-event.js';
import { WEBHOOK_OPTIONS, type WebhookOptions } from './webhook-options.js';
import { webhookHeaders } from './webhook-signature.js';
import type {
  AttemptError,
  WebhookAttemptEntity,
  WebhookDeliveryEntity,
  WebhookEndpointEntity,
} from './webhooks.tables.js';

/** What a lane knows of its endpoint. */
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
    'position' | 'id' | 'messageId' | 'sequence' | 'payload' | 'attempts' | 'revision'
  >
>;

/** Bytes of a response that are read and stored. */
const EXCERPT = 1_024;

/** Milliseconds. The status alone decides, so a slow body is not awaited. */
const EXCERPT_TIME = 1_000;

/**
 * Makes one attempt: a signed POST. Redirects are not followed, responses not decompressed. There
 * is no limit per host, so that an unresponsive receiver blocks no other account.
 */
@Injectable()
export class WebhookClient implements OnApplicationShutdown {
  readonly #agent: Agent;

  constructor(
    @Inject(WEBHOOK_OPTIONS) private readonly options: WebhookOptions,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'monotonic'>,
    @Inject(MessagingService) private readonly messaging: Pick<MessagingService, 'traceOf'>,
    private readonly events: WebhookEvents,
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
    const { messageId, attempts, payload } = delivery;
    const batchId = messageId.slice(0, messageId.lastIndexOf('-'));
    // A failed read of the trace must not prevent the callback.
    const parent = tracing && (await this.messaging.traceOf(batchId).catch(() => undefined));
    if (!parent) return this.#attempt(endpoint, delivery, stop);
    return tracing.step(
      {
        operation: 'callback',
        type: 'send',
        kind: 'client',
        channel: this.events.channelOf(payload),
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
    const { timeout, maxRetryAfter, ports } = this.options;
    const startedAt = this.clock.now();
    const began = this.clock.monotonic();
    // Not AbortSignal.any(): on Node 20 its signals stay in memory as long as `stop`.
    const attempt = new AbortController();
    const abort = () => attempt.abort();
    const timer = setTimeout(abort, timeout);
    stop.addEventListener('abort', abort);
    const outcome = (status: number | null, error: AttemptError | null) => ({
      startedAt,
      duration: Math.round(this.clock.monotonic() - began),
      status,
      error,
      response: null,
    });
    try {
      stop.throwIfAborted();
      // The URL may be older than the setting.
      if (!hasAllowedPort(new URL(endpoint.url), ports)) return outcome(null, 'port_forbidden');
      const answer = await this.#agent.request({
        ...requestTo(endpoint, delivery, startedAt, trace),
        signal: attempt.signal,
      });
      const answered = outcome(answer.statusCode, errorOfStatus(answer.statusCode));
      const [wait] = [answer.headers['retry-after']].flat();
      const retryAfter = retryAfterMilliseconds(wait, this.clock.now(), maxRetryAfter);
      return { ...answered, retryAfter, response: await excerptOf(answer.body) };
    } catch (error) {
      stop.throwIfAborted();
      return outcome(null, attempt.signal.aborted ? 'timeout' : attemptErrorOf(error));
    } finally {
      clearTimeout(timer);
      stop.removeEventListener('abort', abort);
    }
  }
}

function requestTo(
  { url, secret, previousSecrets, previousUntil }: ActiveEndpoint,
  { id, payload }: DueDelivery,
  at: number,
  trace?: TraceContext,
): Dispatcher.RequestOptions {
  const { origin, pathname, search } = new URL(url);
  const isRotating = previousSecrets !== null && at < (previousUntil ?? 0);
  const secrets = [secret, ...(isRotating ? previousSecrets.split(' ') : [])];
  return {
    origin,
    path: pathname + search,
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

/** The first bytes of the body as text that every database accepts; the rest is not read. */
async function excerptOf(body: Dispatcher.ResponseData['body']): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  body.on('error', () => undefined);
  const timer = setTimeout(() => body.destroy(), EXCERPT_TIME);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= EXCERPT) break;
    }
  } catch {
    // Where the connection was cut, the bytes read so far are kept.
  } finally {
    clearTimeout(timer);
  }
  if (size === 0) return null;
  const text = Buffer.concat(chunks).subarray(0, EXCERPT).toString('utf8');
  return text.replaceAll('\u0000', '\ufffd');
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
