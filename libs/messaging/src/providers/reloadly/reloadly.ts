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
  SentSubmission,
  Submission,
  SubmissionAccepted,
  TransportFactory,
} from '../../ports/message-transport.js';
import { group, list, type ReadersOf, textLike, withDefault } from '../../ports/option-schema.js';
import { type ClientAnswer, HttpClient } from '../http-client/http-client.js';
import { refusalFailure, retryAfterMilliseconds } from '../http-client/http-failures.js';
import {
  type AccountRequest,
  balanceOf,
  HttpRequestProvider,
  isSuccess,
  type ProviderRequest,
  serviceOptions,
  type ServiceOptions,
} from '../http-client/http-provider.js';
import { serviceAddress } from '../provider-options.js';
import { productsOf, wantedOf } from './reloadly-products.js';

const MAX_ANSWER = 8 * 1_048_576;
const TOPUPS = 'application/com.reloadly.topups-v1+json';
/** Milliseconds before its end at which a token is replaced. */
const MARGIN = 60_000;

const credential = textLike(
  /^[\x21-\x7e]{1,255}$/,
  'the text of the Reloadly dashboard (Developers, API settings), without white space',
);

/** Options of {@link reloadly}. */
export interface ReloadlyOptions extends ServiceOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  /** ISO 3166 codes of countries whose operators are offered. */
  readonly countries: readonly string[];
  /** Address of the service; the sandbox is `https://topups-sandbox.reloadly.com`. @default the service's */
  readonly baseUrl?: string;
  /** @default 'https://auth.reloadly.com' */
  readonly authUrl?: string;
}

const RELOADLY = {
  clientId: credential,
  clientSecret: credential,
  countries: list(textLike(/^[A-Z]{2}$/, 'two capital letters, such as NG')),
  ...serviceOptions({ name: 'reloadly', baseUrl: 'https://topups.reloadly.com' }),
  authUrl: withDefault(serviceAddress, 'https://auth.reloadly.com'),
} satisfies ReadersOf<ReloadlyOptions>;

const read = group(RELOADLY);

/**
 * Orders airtime and data at Reloadly, in the currency of the recipient's operator.
 * @see https://docs.reloadly.com/airtime
 * @example
 * routes: [{ channel: 'vas', use: 'reloadly' }, { use: 'main' }],
 * providers: { main, reloadly: reloadly({ clientId, clientSecret, countries: ['NG'] }) },
 */
export function reloadly(options: ReloadlyOptions): TransportFactory {
  const settings = read('reloadly', options);
  return (context) => new ReloadlyTransport(settings, context, { channels: ['vas'] });
}

/**
 * The order's key is Reloadly's `customIdentifier`, which cannot be reused: "already used" means that
 * the order has arrived. Reloadly checks it without a lock, so a request is never repeated after
 * doubt; it is asked for by the key.
 */
class ReloadlyTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  readonly #auth = new HttpClient(this.context.http, this.settings.authUrl, 1);
  #token: { readonly value: string; readonly until: number } | undefined;

  /** One request for each order. */
  async fetchReports(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryReport[]> {
    // One token for all.
    await this.#tokenFor(signal);
    return this.pollEach(submissions, (submission, key) => this.#reportOf(submission, key, signal));
  }

  async products(signal: AbortSignal): Promise<readonly VasProduct[]> {
    const products: VasProduct[] = [];
    for (const country of this.settings.countries) {
      const path = `/operators/countries/${country}?includeBundles=true&includeData=true`;
      const answer = await this.#get(path, signal);
      if (answer.status !== 200) throw this.failureOf(answer);
      products.push(...productsOf(country, answer.body));
    }
    return products;
  }

  override async onApplicationShutdown(): Promise<void> {
    await Promise.all([super.onApplicationShutdown(), this.#auth.close()]);
  }

  protected async credential(signal: AbortSignal) {
    return { authorization: `Bearer ${await this.#tokenFor(signal)}`, accept: TOPUPS };
  }

  /** @see https://docs.reloadly.com/airtime#account-balance */
  protected accountRequest(): AccountRequest {
    return {
      method: 'GET',
      path: '/accounts/balance',
      balance: (body) => balanceOf(own(body, 'balance'), own(body, 'currencyCode')),
    };
  }

  protected requestOf({ content, recipients }: Submission): ProviderRequest {
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
    return { path: '/topups-async', body };
  }

  protected override isAccepted(answer: ClientAnswer): boolean {
    return isSuccess(answer) || codeOf(answer) === 'custom_identifier_already_used';
  }

  protected outcomeOf(answer: ClientAnswer, { content }: Submission): SubmissionAccepted {
    const reference = isVasOrder(content) ? content.key : '';
    if (!isSuccess(answer)) return { reference };
    const id = idOf(own(answer.body, 'transactionId'));
    if (id === null)
      throw new UncertainFailure('invalid_answer', 'Reloadly accepted without a transactionId');
    return { reference, details: { operator_reference: id } };
  }

  async #reportOf(
    { submissionId, recipients }: SentSubmission,
    reference: string,
    signal: AbortSignal,
  ): Promise<DeliveryReport | undefined> {
    const query = new URLSearchParams({ customIdentifier: reference }).toString();
    const answer = await this.#get(`/topups/reports/transactions?${query}`, signal);
    if (answer.status !== 200) throw this.failureOf(answer);
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

  #get(path: string, signal: AbortSignal): Promise<ClientAnswer> {
    return this.send({ method: 'GET', path, maxBytes: MAX_ANSWER }, signal);
  }

  /** Only Reloadly's own body, with an `errorCode`, is proof that nothing was ordered. */
  protected failureOf(answer: ClientAnswer): SubmitFailure {
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
