import type { OnApplicationShutdown } from '@nestjs/common';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  SubmitFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { DeliveryReport, ReportDetails } from '../../message/events.js';
import { own, word } from '../../message/report-fields.js';
import { isVasOrder, type VasProduct } from '../../message/vas.js';
import type {
  MessageTransport,
  SentSubmission,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
  TransportContext,
  TransportFactory,
} from '../../ports/message-transport.js';
import {
  group,
  list,
  type OptionReader,
  type OptionsOf,
  textLike,
  wholeNumber,
  withDefault,
} from '../../ports/option-schema.js';
import { type ClientAnswer, HttpClient } from '../http-client/http-client.js';
import { refusalFailure, retryAfterMilliseconds } from '../http-client/http-failures.js';
import { httpAddress, providerName } from '../provider-options.js';
import { productsOf, wantedOf } from './reloadly-products.js';

const MAX_ANSWER = 8 * 1_048_576;
const TOPUPS = 'application/com.reloadly.topups-v1+json';
/** Milliseconds before its end at which a token is replaced. */
const MARGIN = 60_000;
/** Polls in flight. */
const CONCURRENCY = 4;

const address: OptionReader<string, string> = (option, value) => {
  const { origin, pathname } = httpAddress(option, value);
  return origin + pathname.replace(/\/+$/, '');
};

const credential = textLike(
  /^[\x21-\x7e]{1,255}$/,
  'the text of the Reloadly dashboard (Developers, API settings), without white space',
);

const RELOADLY = {
  clientId: credential,
  clientSecret: credential,
  /** ISO 3166 codes of countries whose operators are offered. */
  countries: list(textLike(/^[A-Z]{2}$/, 'two capital letters, such as NG')),
  /** @default 'https://topups.reloadly.com'; the sandbox is 'https://topups-sandbox.reloadly.com' */
  baseUrl: withDefault(address, 'https://topups.reloadly.com'),
  /** @default 'https://auth.reloadly.com' */
  authUrl: withDefault(address, 'https://auth.reloadly.com'),
  /** Most requests in flight. @default 16 */
  connections: withDefault(wholeNumber, 16),
  /** Stored with orders: do not change it. @default 'reloadly' */
  name: withDefault(providerName, 'reloadly'),
};

/** Options of {@link reloadly}. */
export type ReloadlyOptions = OptionsOf<typeof RELOADLY>;

const read = group(RELOADLY);

/**
 * Orders airtime and data at Reloadly, in the currency of the recipient's operator.
 * @see https://docs.reloadly.com/airtime
 * @example
 * routes: [{ channel: 'vas', use: 'reloadly' }, { use: 'main' }],
 * providers: { main, reloadly: reloadly({ clientId, clientSecret, countries: ['NG'] }) },
 */
export function reloadly(options: ReloadlyOptions): TransportFactory {
  const settings = read('', options);
  return (context) => new ReloadlyTransport(settings, context);
}

/**
 * The order's key is Reloadly's `customIdentifier`, which cannot be reused: "already used" means that
 * the order has arrived. Reloadly checks it without a lock, so a request is never repeated after
 * doubt; it is asked for by the key.
 */
class ReloadlyTransport implements MessageTransport, OnApplicationShutdown {
  readonly name: string;
  readonly capabilities: TransportCapabilities;
  readonly #topups: HttpClient;
  readonly #auth: HttpClient;
  #token: { readonly value: string; readonly until: number } | undefined;

  constructor(
    private readonly settings: ReturnType<typeof read>,
    private readonly context: TransportContext,
  ) {
    const { name, baseUrl, authUrl, connections } = settings;
    this.name = name;
    this.capabilities = { channels: ['vas'], maxRecipients: 1, idempotencyWindow: 0, connections };
    this.#topups = new HttpClient(context.http, baseUrl, connections);
    this.#auth = new HttpClient(context.http, authUrl, 1);
  }

  async submit(
    { content, recipients }: Submission,
    signal: AbortSignal,
  ): Promise<SubmissionAccepted> {
    const [number] = recipients;
    const wanted = isVasOrder(content) ? wantedOf(content.product) : undefined;
    if (!isVasOrder(content) || !wanted || number === undefined)
      throw new PermanentFailure('unsupported_content', 'The content is no order of this operator');
    const body = {
      operatorId: wanted.operator,
      amount: content.amount,
      useLocalAmount: true,
      customIdentifier: content.key,
      recipientPhone: { countryCode: wanted.country, number },
    };
    const token = await this.#tokenFor(signal);
    const answer = await this.#send('/topups-async', token, signal, body);
    const id = idOf(own(answer.body, 'transactionId'));
    if (answer.status >= 200 && answer.status < 300) {
      if (id === null)
        throw new UncertainFailure('invalid_answer', 'Reloadly accepted without a transactionId');
      return { reference: content.key, details: { operator_reference: id } };
    }
    if (codeOf(answer) === 'custom_identifier_already_used') return { reference: content.key };
    throw this.#failure(answer);
  }

  async fetchReports(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    const token = await this.#tokenFor(signal);
    const reports: DeliveryReport[] = [];
    const waiting = submissions.values();
    let failure: unknown;
    const reader = async (): Promise<void> => {
      for (const submission of waiting)
        try {
          const report = await this.#reportOf(submission, token, signal);
          if (report) reports.push(report);
        } catch (error) {
          failure ??= error;
        }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, reader));
    if (failure !== undefined && reports.length === 0) throw failure as Error;
    return reports;
  }

  async products(signal: AbortSignal): Promise<readonly VasProduct[]> {
    const token = await this.#tokenFor(signal);
    const products: VasProduct[] = [];
    for (const country of this.settings.countries) {
      const path = `/operators/countries/${country}?includeBundles=true&includeData=true`;
      const answer = await this.#send(path, token, signal);
      if (answer.status !== 200) throw this.#failure(answer);
      products.push(...productsOf(country, answer.body));
    }
    return products;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.#topups.close(), this.#auth.close()]);
  }

  async #reportOf(
    { submissionId, reference, recipients }: SentSubmission,
    token: string,
    signal: AbortSignal,
  ): Promise<DeliveryReport | undefined> {
    if (reference === null) return undefined;
    const query = new URLSearchParams({ customIdentifier: reference }).toString();
    const answer = await this.#send(`/topups/reports/transactions?${query}`, token, signal);
    if (answer.status !== 200) throw this.#failure(answer);
    const content = own(answer.body, 'content');
    const found = Array.isArray(content) ? (content as unknown[]) : [];
    const topup = found.find((one) => own(one, 'customIdentifier') === reference);
    const rawStatus = word(own(topup, 'status'));
    const status = STATUSES[rawStatus ?? ''];
    if (rawStatus === null || status === undefined) return undefined;
    const details = detailsOf(topup);
    return {
      submissionId,
      reference,
      messageId: null,
      recipient: recipients[0] ?? null,
      status,
      rawStatus,
      errorCode: status === 'failed' ? rawStatus.toLowerCase() : null,
      providerTime: null,
      ...(details && { details }),
    };
  }

  /** @throws PausedFailure: without a token no order has left */
  async #tokenFor(signal: AbortSignal): Promise<string> {
    const now = this.context.clock.monotonic();
    if (this.#token && now < this.#token.until) return this.#token.value;
    const { clientId, clientSecret, baseUrl } = this.settings;
    const body = {
      client_id: clientId,
      client_secret: clientSecret,
      grant_type: 'client_credentials',
      audience: baseUrl,
    };
    const headers = { accept: 'application/json', 'content-type': 'application/json' };
    const request = { method: 'POST', path: '/oauth/token', headers, body } as const;
    const answer = await this.#auth
      .send({ ...request, maxBytes: MAX_ANSWER }, signal)
      .catch((error: unknown) => {
        const code = error instanceof SubmitFailure ? error.code : 'unreachable';
        throw new PausedFailure(code, 'Reloadly gives no token: its service cannot be reached');
      });
    const value = own(answer.body, 'access_token');
    if (answer.status !== 200 || typeof value !== 'string')
      throw new PausedFailure(
        'unauthorized',
        `Reloadly gives no token (${answer.status}); check clientId and clientSecret`,
      );
    const lasts = Number(own(answer.body, 'expires_in')) * 1_000;
    this.#token = { value, until: now + Math.max(0, (lasts || 0) - MARGIN) };
    return value;
  }

  #send(
    path: string,
    token: string,
    signal: AbortSignal,
    body?: Readonly<Record<string, unknown>>,
  ): Promise<ClientAnswer> {
    const headers = {
      authorization: `Bearer ${token}`,
      accept: TOPUPS,
      ...(body && { 'content-type': 'application/json' }),
    };
    const method = body ? 'POST' : 'GET';
    return this.#topups.send({ method, path, headers, body, maxBytes: MAX_ANSWER }, signal);
  }

  /** Only Reloadly's own body, with an `errorCode`, is proof that nothing was ordered. */
  #failure(answer: ClientAnswer): SubmitFailure {
    const { status, retryAfter: asked } = answer;
    const code = codeOf(answer);
    const retryAfter = retryAfterMilliseconds(asked, this.context.clock.now());
    if (code !== undefined && (status === 401 || status === 403)) {
      this.#token = undefined;
      return new PausedFailure('unauthorized', `Reloadly refused the token (${status} ${code})`);
    }
    switch (code) {
      case 'insufficient_balance':
        return new PausedFailure(code, 'The balance at Reloadly is too low; add funds');
      case 'operator_unavailable_or_currently_inactive':
        return new RetryableFailure(code, 'The operator is switched off at Reloadly', retryAfter);
      // Reloadly may answer so after it has asked the operator.
      case 'transaction_cannot_be_processed_at_the_moment':
        return new UncertainFailure(code, 'Reloadly does not say what became of the order');
      default:
        return refusalFailure('Reloadly', { status, code, retryAfter, keyed: false });
    }
  }
}

/** A refund returns our money for an order that did not arrive. */
const STATUSES: Readonly<Record<string, string>> = {
  SUCCESSFUL: 'delivered',
  PROCESSING: 'processing',
  PENDING: 'processing',
  FAILED: 'failed',
  REFUNDED: 'failed',
};

function codeOf({ body }: ClientAnswer): string | undefined {
  const code = own(body, 'errorCode');
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code)) return code.toLowerCase();
  return undefined;
}

function idOf(value: unknown): string | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : word(value);
}

function detailsOf(topup: unknown): ReportDetails | undefined {
  const amount = (name: string) => {
    const value = own(topup, name);
    return typeof value === 'number' && value >= 0 ? String(value) : null;
  };
  const facts = Object.entries({
    operator_reference:
      word(own(topup, 'operatorTransactionId')) ?? idOf(own(topup, 'transactionId')),
    cost: amount('requestedAmount'),
    currency: word(own(topup, 'requestedAmountCurrencyCode')),
    delivered_amount: amount('deliveredAmount'),
  }).filter(([, value]) => value !== null);
  return facts.length > 0 ? Object.fromEntries(facts) : undefined;
}
