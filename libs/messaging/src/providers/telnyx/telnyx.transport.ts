import { reportReader, submissionLink } from '../../callbacks/callback-map.js';
import { identifier, own, word } from '../../message/report-fields.js';
import type {
  MediaRequest,
  SentSubmission,
  Submission,
  TransportFactory,
} from '../../ports/message-transport.js';
import { group, optional, type ReadersOf, textLike } from '../../ports/option-schema.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  balanceOf,
  HttpRequestProvider,
  serviceOptions,
  type ServiceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import type { FilePlaces } from '../http-client/provider-files.js';
import { credential, httpAddress } from '../provider-options.js';
import { TELNYX_STATUSES } from './telnyx.js';

/** Options of {@link telnyx}. */
export interface TelnyxOptions extends ServiceOptions {
  readonly apiKey: string;
  /**
   * Id of a messaging profile: needed for names as senders, and for messages without a sender, which
   * leave from the numbers of its pool. @default the one of the sending number
   */
  readonly messagingProfileId?: string;
  /** Address of this app's callbacks, as Telnyx reaches it. @default the messaging profile's */
  readonly callbackUrl?: string;
}

const TELNYX = {
  apiKey: credential('the API key of the account'),
  messagingProfileId: optional(
    textLike(/^[0-9a-f-]{36}$/i, 'the id of a messaging profile, a UUID'),
  ),
  callbackUrl: optional(httpAddress),
  ...serviceOptions({ name: 'telnyx', baseUrl: 'https://api.telnyx.com' }),
} satisfies ReadersOf<TelnyxOptions>;

const read = group(TELNYX);

/** @see https://developers.telnyx.com/development/api-fundamentals/api-errors */
const errors = new ProviderErrors('Telnyx', 'apiKey', {
  unauthorized: [10009, 20002, 20003, 20006, 20008],
  account_restricted: [
    10010, 10038, 20012, 20013, 20014, 20015, 20016, 20017, 40312, 40314, 40331, 40333,
  ],
  payment_required: [20100],
  throttled: [10011, 40318],
  retryable: [40320],
  uncertain: [10007, 10008],
  sender_unknown: [40100, 40305, 40306, 40307, 40315, 40321, 40325, 40329, 40330],
  not_routable: [40301, 40309, 40319],
});

/**
 * Sends SMS through Telnyx's API v2. It has no idempotency keys: a message with a lost answer is
 * `unknown` until its first webhook, whose `webhook_url` names the submission, and is never sent again.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://developers.telnyx.com/api-reference/messages/send-a-message
 * @example
 * providers: { telnyx: telnyx({ apiKey, callbackUrl: 'https://app.example.com/dlr/telnyx' }) },
 * callbackPath: 'dlr',
 * callbacks: {
 *   providers: { telnyx: { parser: telnyxParser(), verifier: telnyxSignature({ publicKey }) } },
 * },
 */
export function telnyx(options: TelnyxOptions): TransportFactory {
  const settings = read('telnyx', options);
  return (context) => new TelnyxTransport(settings, context, { channels: ['sms'] });
}

const readMessage = reportReader({
  messageId: 'data.id',
  reference: 'data.id',
  recipient: 'data.to.0.phone_number',
  status: 'data.to.0.status',
  statuses: TELNYX_STATUSES,
  errorCode: 'data.errors.0.code',
});

/** Signed addresses of its storage. @see https://developers.telnyx.com/docs/messaging/messages/send-receive-mms */
const FILES: FilePlaces = {
  path: /^\/media\/[\w.-]+$/,
  open: ['media.telnyx.com', '*.telnyxcloudstorage.com'],
};

class TelnyxTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  /** One request for each message with a known id, of the last 10 days. */
  fetchReports(submissions: readonly SentSubmission[], signal: AbortSignal) {
    return this.pollById(submissions, signal, (id) => `/v2/messages/${id}`, readMessage);
  }

  fetchMedia({ file }: MediaRequest, signal: AbortSignal) {
    return this.fileAt(file.source, FILES, signal);
  }

  protected credential() {
    return { authorization: `Bearer ${this.settings.apiKey}` };
  }

  /** @see https://developers.telnyx.com/api-reference/billing/get-user-balance-details */
  protected accountRequest(): AccountRequest {
    return {
      method: 'GET',
      path: '/v2/balance',
      // With the limit of credit, where the account has one.
      balance: (body) => {
        const data = own(body, 'data');
        return balanceOf(own(data, 'available_credit'), own(data, 'currency'));
      },
    };
  }

  protected requestOf(submission: Submission) {
    const { id, sender, recipients } = submission;
    const { messagingProfileId, callbackUrl } = this.settings;
    const body = {
      type: 'SMS',
      to: `+${this.numberOf(recipients[0])}`,
      ...(sender !== '' && { from: /^\d{9,}$/.test(sender) ? `+${sender}` : sender }),
      text: this.textOf(submission),
      ...(messagingProfileId !== undefined && { messaging_profile_id: messagingProfileId }),
      ...(callbackUrl && { webhook_url: submissionLink(callbackUrl, id) }),
    };
    return { path: '/v2/messages', body };
  }

  protected outcomeOf({ body }: ClientAnswer) {
    return errors.accepted(identifier(own(own(body, 'data'), 'id')), 'the id of a message');
  }

  /** Only a body with code and title of an error is proof of a refusal. */
  protected failureOf(answer: ClientAnswer) {
    const listed = own(answer.body, 'errors');
    const [first] = Array.isArray(listed) ? (listed as unknown[]) : [];
    const code = word(own(first, 'code'));
    const isOwn = code !== null && /^\d{5}$/.test(code) && typeof own(first, 'title') === 'string';
    return errors.failureOf(answer, isOwn ? code : undefined, this.context.clock.now());
  }
}
