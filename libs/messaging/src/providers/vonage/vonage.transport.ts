import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { MessagingConfigError, UnroutableFailure } from '../../message/errors.js';
import { reportReader } from '../../callbacks/callback-map.js';
import type { DeliveryReport } from '../../message/events.js';
import { identifier, own } from '../../message/report-fields.js';
import type {
  MediaRequest,
  SentSubmission,
  Submission,
  TransportFactory,
} from '../../ports/message-transport.js';
import {
  flag,
  group,
  type OptionReader,
  type ReadersOf,
  optional,
  textLike,
  withDefault,
} from '../../ports/option-schema.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  basicCredential,
  HttpRequestProvider,
  serviceOptions,
  type ServiceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import type { FilePlaces } from '../http-client/provider-files.js';
import { httpAddress } from '../provider-options.js';
import { VONAGE_STATUSES } from './vonage.js';
import { parsedUrl } from '../../message/url.js';

/** Most characters of an SMS, which Vonage splits. */
const MAX_TEXT = 1_000;
/** Milliseconds for which a token is good, and before its end at which it is replaced. */
const LASTS = 900_000;
const MARGIN = 60_000;

/** Most time by which Vonage's clock may differ, and by which it takes a message later, in milliseconds. */
const APART = 300_000;
/** Ids in one question, and most pages of one answer. */
const IDS = 50;
const PAGES = 10;
/** Bytes of a page, which has up to 1,000 records. */
const MAX_ANSWER = 4_194_304;
const RECORDS = '/v2/reports/records';

const privateKey: OptionReader<string> = (option, value) => {
  try {
    if (createPrivateKey(String(value)).asymmetricKeyType === 'rsa') return String(value);
  } catch {
    // The cause quotes the key.
  }
  throw new MessagingConfigError(`${option}: must be the private key of the application, as PEM`);
};

/** Options of {@link vonage}. */
export interface VonageOptions extends ServiceOptions {
  /** Key and secret of the account, or an application; Vonage takes WhatsApp of an application only. */
  readonly apiKey?: string;
  readonly apiSecret?: string;
  /** Id of the application, which its private key signs for. */
  readonly applicationId?: string;
  readonly privateKey?: string;
  /** Address of this app's callbacks, as Vonage reaches it. @default the account's or application's */
  readonly callbackUrl?: string;
  /**
   * Asks Vonage's Reports API, which it bills by the record, for messages without a final report or
   * without an answer; it takes `apiKey` and `apiSecret` only. @default false
   */
  readonly reportsApi?: boolean;
}

const VONAGE = {
  apiKey: optional(
    textLike(
      /^[\x21-\x7e]{4,64}$/,
      'the API key of the account: 4 to 64 characters, without white space',
    ),
  ),
  apiSecret: optional(
    textLike(
      /^[\x21-\x7e]{8,}$/,
      'the API secret of the account: at least 8 characters, without white space',
    ),
  ),
  applicationId: optional(textLike(/^[0-9a-f-]{36}$/i, 'the id of the application, a UUID')),
  privateKey: optional(privateKey),
  callbackUrl: optional(httpAddress),
  reportsApi: withDefault(flag, false),
  ...serviceOptions({ name: 'vonage', baseUrl: 'https://api.nexmo.com' }),
} satisfies ReadersOf<VonageOptions>;

const read = group(VONAGE);

/** By the last part of the type of Vonage's error body: a number, or a word of all of its APIs. */
const errors = new ProviderErrors('Vonage', 'the key and the secret, or the application', {
  unauthorized: [
    'unauthorized',
    'invalid-api-key',
    'invalid-signature',
    'jwt-expired',
    'jwt-revoked',
    1110,
  ],
  account_restricted: ['forbidden', 'unprovisioned', 'account-suspended', 1060, 1080],
  payment_required: ['low-balance', 1070],
  throttled: ['throttled', 'rate-limit', 1000],
  retryable: [1100],
  uncertain: [1030, 1320],
  sender_unknown: [1120],
  not_routable: [1250],
});

/**
 * Sends SMS and WhatsApp messages through Vonage's Messages API. It has no idempotency keys: a message
 * with a lost answer is `unknown` until its first status, or a record of the Reports API, which repeat
 * the submission as `client_ref`, and is never sent again.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://developer.vonage.com/en/api/messages
 * @example
 * providers: { vonage: vonage({ apiKey, apiSecret, callbackUrl: 'https://app.example.com/dlr/vonage' }) },
 * callbackPath: 'dlr',
 * callbacks: { providers: { vonage: { parser: vonageParser(), verifier: vonageSignature({ secret }) } } },
 */
export function vonage(options: VonageOptions): TransportFactory {
  const settings = read('vonage', options);
  for (const [one, other] of PAIRS)
    if ((settings[one] === undefined) !== (settings[other] === undefined)) {
      const missing = settings[one] === undefined ? one : other;
      throw new MessagingConfigError(
        `vonage.${missing}: is missing; ${one} and ${other} go together`,
      );
    }
  if (settings.apiKey === undefined && settings.applicationId === undefined)
    throw new MessagingConfigError(
      'vonage.apiKey: is missing; pass apiKey and apiSecret, or applicationId and privateKey',
    );
  const channels = ['sms', 'whatsapp'];
  if (!settings.reportsApi)
    return (context) => new VonageTransport(settings, context, { channels });
  if (settings.apiKey === undefined)
    throw new MessagingConfigError(
      'vonage.reportsApi: needs apiKey and apiSecret, which the Reports API takes; pass them too',
    );
  const capabilities = { channels, reportsByKey: channels };
  return (context) => new AskedVonageTransport(settings, context, capabilities);
}

const PAIRS = [
  ['apiKey', 'apiSecret'],
  ['applicationId', 'privateKey'],
] as const;

const REGIONS = ['us', 'eu', 'ap'].map((region) => `api-${region}.nexmo.com`);

/**
 * For 48 hours; with Secure Inbound Media they need the token of the application.
 * @see https://developer.vonage.com/en/messages/concepts/secure-inbound-media
 */
const FILES: FilePlaces = { path: /^\/v3\/media\/[\w-]+$/, own: ['api.nexmo.com', ...REGIONS] };

class VonageTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  #token: { readonly value: string; readonly until: number } | undefined;

  fetchMedia({ file }: MediaRequest, signal: AbortSignal) {
    return this.fileAt(file.source, FILES, signal);
  }

  protected credential() {
    const { applicationId, privateKey: key, apiKey = '', apiSecret = '' } = this.settings;
    if (applicationId !== undefined && key !== undefined)
      return { authorization: `Bearer ${this.#tokenOf(applicationId, key)}` };
    return basicCredential(apiKey, apiSecret);
  }

  /** @see https://developer.vonage.com/en/api/application.v2 */
  protected accountRequest(): AccountRequest {
    const { apiKey, apiSecret } = this.settings;
    // The Messages API takes a POST alone, which this is not: an empty one is refused after the credential.
    if (apiKey === undefined || apiSecret === undefined)
      return { path: '/v1/messages', body: {}, isKnown: ({ status }) => status === 422 };
    const headers = basicCredential(apiKey, apiSecret);
    return { method: 'GET', path: '/v2/applications?page_size=1', headers };
  }

  protected requestOf(submission: Submission) {
    const { id, channel, sender, recipients } = submission;
    const { callbackUrl } = this.settings;
    const body = {
      channel,
      from: sender,
      to: this.numberOf(recipients[0]),
      ...this.#contentOf(submission),
      client_ref: id,
      ...(callbackUrl && { webhook_url: callbackUrl.href, webhook_version: 'v1' }),
    };
    return { path: '/v1/messages', body };
  }

  protected outcomeOf({ body }: ClientAnswer) {
    return errors.accepted(identifier(own(body, 'message_uuid')), 'the message_uuid of a message');
  }

  protected failureOf(answer: ClientAnswer) {
    // A token may have ended early, by the clock of Vonage.
    if (answer.status === 401) this.#token = undefined;
    const type = own(answer.body, 'type');
    const [, code] = (typeof type === 'string' && ERROR_TYPE.exec(type)) || [];
    return errors.failureOf(answer, code, this.context.clock.now());
  }

  /** A JSON Web Token, RS256 (RFC 7519). */
  #tokenOf(applicationId: string, key: string): string {
    const { clock } = this.context;
    if (this.#token && clock.monotonic() < this.#token.until) return this.#token.value;
    const iat = Math.floor(clock.now() / 1_000);
    const claims = {
      application_id: applicationId,
      iat,
      exp: iat + LASTS / 1_000,
      jti: randomUUID(),
    };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
    const value = `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
    this.#token = { value, until: clock.monotonic() + LASTS - MARGIN };
    return value;
  }

  #contentOf(submission: Submission): Readonly<Record<string, unknown>> {
    const template = this.templateOf(submission);
    if (template)
      return {
        message_type: 'template',
        template: { name: template.template, parameters: template.params },
        whatsapp: { policy: 'deterministic', locale: template.language },
      };
    const text = this.textOf(submission);
    if (submission.channel === 'sms' && text.length > MAX_TEXT)
      throw new UnroutableFailure(
        'content_too_long',
        `Vonage takes SMS of up to ${MAX_TEXT} characters; shorten the text`,
      );
    return { message_type: 'text', text };
  }
}

const readRecord = reportReader({
  submissionId: 'client_ref',
  messageId: 'message_id',
  reference: 'message_id',
  recipient: 'to',
  status: 'status',
  statuses: VONAGE_STATUSES,
  errorCode: 'error_code',
  noError: ['0'],
  time: 'date_finalized',
  timeFormat: 'utc',
});

/** {@link VonageTransport} that asks the Reports API. */
class AskedVonageTransport extends VonageTransport {
  /**
   * By the ids of messages, and those without an answer by recipient and time, whose record names our
   * submission. A record may come minutes later: a missing one proves nothing.
   * @see https://developer.vonage.com/en/api/reports
   */
  fetchReports(submissions: readonly SentSubmission[], signal: AbortSignal) {
    const answered = submissions.filter(({ reference }) => reference !== null);
    const questions: Question[] = submissions
      .filter(({ reference, recipients }) => reference === null && recipients[0])
      .map((one) => ({ about: [one], query: timesOf(one) }));
    for (let from = 0; from < answered.length; from += IDS) {
      const about = answered.slice(from, from + IDS);
      const id = about.map(({ reference }) => reference).join(',');
      questions.push({ about, query: { id } });
    }
    return this.readEach(questions, (question) => this.#reportsOf(question, signal));
  }

  async #reportsOf({ about, query }: Question, signal: AbortSignal): Promise<DeliveryReport[]> {
    const { apiKey = '', apiSecret = '' } = this.settings;
    const asked = { account_id: apiKey, product: 'MESSAGES', direction: 'outbound', ...query };
    const headers = basicCredential(apiKey, apiSecret);
    const reports = new Map<string, DeliveryReport>();
    let search = new URLSearchParams(asked).toString();
    for (let page = 0; page < PAGES; page++) {
      const path = `${RECORDS}?${search}`;
      const answer = await this.send(
        { method: 'GET', path, headers, maxBytes: MAX_ANSWER },
        signal,
      );
      const records = own(answer.body, 'records');
      if (answer.status !== 200 || !Array.isArray(records)) throw this.failureOf(answer);
      for (const report of records.map(readRecord)) {
        const one = about.find(
          ({ submissionId, reference }) =>
            report?.submissionId === submissionId ||
            (reference !== null && report?.messageId === reference),
        );
        if (!one || !report) continue;
        const { submissionId, recipients } = one;
        reports.set(submissionId, { ...report, submissionId, recipient: recipients[0] ?? null });
      }
      const next = own(own(own(answer.body, '_links'), 'next'), 'href');
      const following = typeof next === 'string' ? parsedUrl(next) : undefined;
      if (!following || reports.size === about.length) break;
      search = following.search.slice(1);
    }
    return [...reports.values()];
  }
}

interface Question {
  readonly about: readonly SentSubmission[];
  readonly query: Readonly<Record<string, string>>;
}

/** All messages to its recipient around its time. */
function timesOf({ recipients, firstSentAt }: SentSubmission): Question['query'] {
  const at = (after: number) => new Date(firstSentAt.getTime() + after).toISOString();
  return { to: recipients[0] ?? '', date_start: at(-APART), date_end: at(APART) };
}

/** As in `https://developer.vonage.com/api-errors/messages#1120`. */
const ERROR_TYPE = /^https:\/\/[\w.-]*\b(?:vonage|nexmo)\.com\/\S*#([\w-]{1,64})$/;
