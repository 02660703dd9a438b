import type { Clock } from '@dundun/messaging';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { guardedConnector } from './address-guard.js';
import { attemptErrorOf } from './attempt-error.js';
import type { AttemptError, AttemptOutcome, DueDelivery } from './webhook-attempt.js';
import type { ActiveEndpoint } from './webhook-endpoint.cache.js';
import type { WebhookOptions } from './webhook-options.js';
import { retryAfterMs } from './retry-schedule.js';
import { splitSecrets, webhookHeaders } from './webhook-signature.js';

/** Bytes of an answer that are read and kept. */
const EXCERPT = 1_024;
/** The status has decided already; a body that drips is not waited for. */
const EXCERPT_TIME = 1_000;

/**
 * One attempt: a signed POST. Redirects are not followed, answers not decompressed. Connections are
 * kept alive and not shared out by host: a receiver that hangs takes no place of another account's.
 */
export class WebhookClient {
  readonly #agent: Agent;

  constructor(
    private readonly options: Pick<WebhookOptions, 'allowPrivate' | 'timeout'>,
    private readonly clock: Pick<Clock, 'now' | 'monotonic'>,
  ) {
    const connection = { timeout: options.timeout };
    this.#agent = new Agent({
      connect: options.allowPrivate ? buildConnector(connection) : guardedConnector(connection),
      pipelining: 1,
      // One deadline over the whole attempt instead.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Never throws for what the receiver or the network does. `signal` gives the attempt up: its error is thrown. */
  async post(
    endpoint: ActiveEndpoint,
    delivery: DueDelivery,
    signal: AbortSignal,
  ): Promise<AttemptOutcome> {
    const startedAt = this.clock.now();
    const began = this.clock.monotonic();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new TimeoutError()), this.options.timeout);
    const giveUp = () => deadline.abort(signal.reason);
    signal.addEventListener('abort', giveUp);
    const outcome = (
      status: number | null,
      error: AttemptError | null,
      rest: Partial<AttemptOutcome> = {},
    ): AttemptOutcome => ({
      startedAt,
      duration: Math.round(this.clock.monotonic() - began),
      status,
      error,
      response: null,
      retryAfter: null,
      ...rest,
    });
    try {
      signal.throwIfAborted();
      const answer = await this.#request(endpoint, delivery, startedAt, deadline.signal);
      const answered = this.clock.monotonic();
      const retryAfter = retryAfterMs(answer.headers['retry-after'], this.clock.now());
      const response = await excerptOf(answer.body);
      return {
        ...outcome(answer.statusCode, errorOfStatus(answer.statusCode), { response, retryAfter }),
        duration: Math.round(answered - began),
      };
    } catch (error) {
      signal.throwIfAborted();
      return outcome(null, error instanceof TimeoutError ? 'timeout' : attemptErrorOf(error));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #request(
    endpoint: ActiveEndpoint,
    delivery: DueDelivery,
    at: number,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const url = new URL(endpoint.url);
    return this.#agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Dundun-Webhooks/1',
        ...webhookHeaders(delivery.id, at, delivery.payload, secretsOf(endpoint, at)),
        ...delivery.trace,
      },
      body: delivery.payload,
      signal,
    });
  }
}

class TimeoutError extends Error {}

function secretsOf(
  { secret, previousSecret, previousUntil }: ActiveEndpoint,
  at: number,
): string[] {
  const both = previousSecret !== null && previousUntil !== null && at < previousUntil;
  return both ? [secret, ...splitSecrets(previousSecret)] : [secret];
}

function errorOfStatus(status: number): AttemptError | null {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirect' : 'http_status';
}

/** The beginning of the body as text that every database takes; the rest is not read. */
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
    // Cut off: what came is kept.
  } finally {
    clearTimeout(timer);
  }
  if (size === 0) return null;
  const text = Buffer.concat(chunks).subarray(0, EXCERPT).toString('utf8');
  return text.replaceAll('\u0000', '\ufffd').slice(0, EXCERPT);
}
