import { reportReader, submissionLink } from '../../callbacks/callback-map.js';
import { PermanentFailure } from '../../message/errors.js';
import type { TemplateContent } from '../../message/message.js';
import { identifier, own } from '../../message/report-fields.js';
import type {
  MediaRequest,
  SentSubmission,
  Submission,
  TransportFactory,
} from '../../ports/message-transport.js';
import { group, type ReadersOf, optional, textLike } from '../../ports/option-schema.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  balanceOf,
  basicCredential,
  HttpRequestProvider,
  serviceOptions,
  type ServiceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import type { FilePlaces } from '../http-client/provider-files.js';
import { httpAddress, credential } from '../provider-options.js';
import { PLIVO_STATUSES } from './plivo.js';

/** Options of {@link plivo}. */
export interface PlivoOptions extends ServiceOptions {
  readonly authId: string;
  readonly authToken: string;
  /** Address of this app's callbacks, as Plivo reaches it. @default no reports but polled ones */
  readonly callbackUrl?: string;
}

const PLIVO = {
  authId: textLike(/^[A-Z0-9]{20}$/, 'the Auth ID: 20 capital letters and digits'),
  authToken: credential('the auth token of the account'),
  callbackUrl: optional(httpAddress),
  ...serviceOptions({ name: 'plivo', baseUrl: 'https://api.plivo.com' }),
} satisfies ReadersOf<PlivoOptions>;

const read = group(PLIVO);

/** Plivo's error body has a text for people; the reference lists a word for each HTTP status. */
const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_parameter',
  401: 'authentication_failed',
  402: 'payment_required',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  429: 'rate_limit_exceeded',
};

const errors = new ProviderErrors('Plivo', 'authId and authToken', {
  // The address of a message has nothing but the account that may be unknown.
  unauthorized: ['authentication_failed', 'not_found'],
  account_restricted: ['forbidden'],
  payment_required: ['payment_required'],
  throttled: ['rate_limit_exceeded'],
});

/**
 * Sends SMS and WhatsApp messages through Plivo, one recipient in a request: its answer to several
 * does not say which id is of which. It has no idempotency keys: a message with a lost answer is
 * `unknown` until its first callback, whose address names the submission, and is never sent again.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://www.plivo.com/docs/messaging/api/message/send-a-message
 * @example
 * providers: { plivo: plivo({ authId, authToken, callbackUrl: 'https://app.example.com/dlr/plivo' }) },
 * callbackPath: 'dlr',
 * callbacks: {
 *   providers: {
 *     plivo: { parser: plivoParser(), verifier: plivoSignature({ authToken, origin: 'https://app.example.com' }) },
 *   },
 * },
 */
export function plivo(options: PlivoOptions): TransportFactory {
  const settings = read('plivo', options);
  return (context) => new PlivoTransport(settings, context, { channels: ['sms', 'whatsapp'] });
}

const readMessage = reportReader({
  reference: 'message_uuid',
  messageId: 'message_uuid',
  recipient: 'to_number',
  status: 'message_state',
  statuses: PLIVO_STATUSES,
  errorCode: 'error_code',
});

/** @see https://www.plivo.com/docs/messaging/api/media */
const FILES: FilePlaces = {
  path: /^\/(?:v1\/)?Account\/\w+\/Message\/[\w-]+\/Media\/[\w.-]+\/?$/,
  own: ['api.plivo.com', 'media.plivo.com', '*.media.plivo.com'],
};

class PlivoTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  readonly #path = `/v1/Account/${this.settings.authId}/Message/`;

  /** One request for each message with a known id. */
  fetchReports(submissions: readonly SentSubmission[], signal: AbortSignal) {
    return this.pollById(submissions, signal, (id) => `${this.#path}${id}/`, readMessage);
  }

  fetchMedia({ file }: MediaRequest, signal: AbortSignal) {
    return this.fileAt(file.source, FILES, signal);
  }

  protected credential() {
    return basicCredential(this.settings.authId, this.settings.authToken);
  }

  /** @see https://www.plivo.com/docs/account/api/account#retrieve-account-details */
  protected accountRequest(): AccountRequest {
    return {
      method: 'GET',
      path: `/v1/Account/${this.settings.authId}/`,
      balance: (body) => balanceOf(own(body, 'cash_credits'), 'USD'),
    };
  }

  protected requestOf(submission: Submission) {
    const { id, channel, sender, recipients } = submission;
    const { callbackUrl } = this.settings;
    const template = this.templateOf(submission);
    const body = {
      src: /^\d{9,}$/.test(sender) ? `+${sender}` : sender,
      dst: `+${this.numberOf(recipients[0])}`,
      type: channel,
      ...(template ? { template: templateBody(template) } : { text: this.textOf(submission) }),
      ...(callbackUrl && { url: submissionLink(callbackUrl, id), method: 'POST' }),
    };
    return { path: this.#path, body };
  }

  protected outcomeOf({ body }: ClientAnswer) {
    const ids = own(body, 'message_uuid');
    const id = identifier(Array.isArray(ids) ? ids[0] : ids);
    const invalid = own(body, 'invalid_number');
    if (id === null && Array.isArray(invalid) && invalid.length > 0)
      throw new PermanentFailure('invalid_number', 'Plivo refused the number of the recipient');
    return errors.accepted(id, 'the message_uuid of a message');
  }

  /** Only a body with Plivo's `api_id` and `error` is proof of a refusal. */
  protected failureOf(answer: ClientAnswer) {
    const { body, status } = answer;
    const isOwn = identifier(own(body, 'api_id')) !== null && own(body, 'error') !== undefined;
    const code = isOwn ? (CODES[status] ?? `http_${status}`) : undefined;
    return errors.failureOf(answer, code, this.context.clock.now());
  }
}

function templateBody({ template, language, params }: TemplateContent) {
  const parameters = params.map((text) => ({ type: 'text', text }));
  return {
    name: template,
    language,
    ...(parameters.length > 0 && { components: [{ type: 'body', parameters }] }),
  };
}
