import { MessagingConfigError } from '../../message/errors.js';
import { identifier, own, recipientNumber } from '../../message/report-fields.js';
import type { MediaRequest, Submission, TransportFactory } from '../../ports/message-transport.js';
import {
  group,
  type OptionReader,
  type ReadersOf,
  wholeNumber,
  withDefault,
} from '../../ports/option-schema.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  type AccountRequest,
  balanceOf,
  HttpRequestProvider,
  isSuccess,
  serviceOptions,
  type ServiceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import type { FilePlaces } from '../http-client/provider-files.js';
import { outcomeOfResults, type RecipientResult } from '../http-client/recipient-results.js';
import { credential } from '../provider-options.js';
import { clientMessageId } from './clickatell.js';

const recipientsOfRequest: OptionReader<number> = (option, value) => {
  const given = wholeNumber(option, value);
  if (given <= 200) return given;
  throw new MessagingConfigError(
    `${option}: must be at most 200, which Clickatell takes in a request`,
  );
};

/** Options of {@link clickatell}. */
export interface ClickatellOptions extends ServiceOptions {
  readonly apiKey: string;
  /** Most recipients of one request; Clickatell takes 200. @default 100 */
  readonly maxRecipients?: number;
}

const CLICKATELL = {
  apiKey: credential('the API key of the integration'),
  maxRecipients: withDefault(recipientsOfRequest, 100),
  ...serviceOptions({ name: 'clickatell', baseUrl: 'https://platform.clickatell.com' }),
} satisfies ReadersOf<ClickatellOptions>;

const read = group(CLICKATELL);

/** @see https://docs.clickatell.com/channels/one-api/one-api-errors-table/ */
const errors = new ProviderErrors('Clickatell', 'apiKey', {
  unauthorized: [1, 7],
  account_restricted: [2, 3, 38, 39, 46],
  payment_required: [20],
  throttled: [43],
  uncertain: [18],
  retryable: [19],
  sender_unknown: [44, 45],
  not_routable: [101, 110, 111],
  refused: [21, 22, 23, 24, 25, 26, 27, 28, 30, 31, 32, 33, 40, 41, 42, 100],
});

/**
 * Sends SMS, and texts on WhatsApp, through Clickatell's One API. It has no idempotency keys: a message
 * with a lost answer is `unknown` until its first callback, whose `clientMessageId` names submission
 * and recipient, and is never sent again.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://docs.clickatell.com/channels/one-api/one-api-reference/
 * @example
 * providers: { clickatell: clickatell({ apiKey: process.env.CLICKATELL_API_KEY! }) },
 * callbackPath: 'dlr',
 * callbacks: {
 *   providers: { clickatell: { parser: clickatellParser(), verifier: basicAuth({ username, password }) } },
 * },
 */
export function clickatell(options: ClickatellOptions): TransportFactory {
  const settings = read('clickatell', options);
  const { maxRecipients } = settings;
  const capabilities = { channels: ['sms', 'whatsapp'], maxRecipients };
  return (context) => new ClickatellTransport(settings, context, capabilities);
}

/** @see https://docs.clickatell.com/channels/one-api/one-api-reference/ */
const FILES: FilePlaces = { path: /^\/v1\/media$/, own: ['platform.clickatell.com'] };

class ClickatellTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  fetchMedia({ file }: MediaRequest, signal: AbortSignal) {
    return this.fileAt(file.source, FILES, signal);
  }

  protected credential() {
    return { authorization: this.settings.apiKey };
  }

  /** @see https://www.clickatell.com/developers/api-documentation/rest-api-get-account-balance/ */
  protected accountRequest(): AccountRequest {
    return {
      method: 'GET',
      path: '/public-client/balance',
      balance: (body) => balanceOf(own(body, 'balance'), own(body, 'currency')),
    };
  }

  protected requestOf(submission: Submission) {
    const { id, channel, sender, recipients } = submission;
    const content = this.textOf(submission);
    const messages = recipients.map((recipient) => {
      const to = this.numberOf(recipient);
      const own = { channel, to, content, clientMessageId: clientMessageId(id, to) };
      return sender === '' ? own : { ...own, from: sender };
    });
    return { path: '/v1/message', body: { messages } };
  }

  /** The messages of an answer have an error each; a refusal of all of them has one of its own. */
  protected override isAccepted(answer: ClientAnswer): boolean {
    const isListed = isSuccess(answer) || messagesOf(answer).length > 0;
    return isListed && codeOf(answer.body) === undefined;
  }

  protected outcomeOf(answer: ClientAnswer, { id, recipients }: Submission) {
    const found = messagesOf(answer);
    if (found.length === 0) throw errors.unusable('its list of messages');
    const results = new Map(
      found.map((one) => [recipientNumber(own(one, 'to')), resultOf(one)] as const),
    );
    return outcomeOfResults(errors, id, recipients, (recipient) => results.get(recipient));
  }

  protected failureOf(answer: ClientAnswer) {
    return errors.failureOf(answer, codeOf(answer.body), this.context.clock.now());
  }
}

function messagesOf({ body }: ClientAnswer): readonly unknown[] {
  const messages = own(body, 'messages');
  return Array.isArray(messages) ? messages : [];
}

function resultOf(entry: unknown): RecipientResult {
  const id = identifier(own(entry, 'apiMessageId'));
  if (own(entry, 'accepted') === true) return id === null ? {} : { id };
  const code = codeOf(entry);
  return code === undefined ? {} : { code };
}

function codeOf(entry: unknown): string | undefined {
  const code = own(own(entry, 'error'), 'code');
  return Number.isSafeInteger(code) ? String(code) : undefined;
}
