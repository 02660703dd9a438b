import { identifier, own, recipientNumber, word } from '../../message/report-fields.js';
import type { Submission, TransportFactory } from '../../ports/message-transport.js';
import {
  group,
  type ReadersOf,
  textLike,
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
import { outcomeOfResults, type RecipientResult } from '../http-client/recipient-results.js';
import { credential } from '../provider-options.js';

/** Options of {@link africasTalking}. */
export interface AfricasTalkingOptions extends ServiceOptions {
  /** Name of the app, which is `sandbox` in the sandbox. */
  readonly username: string;
  readonly apiKey: string;
  /** Most recipients of one request. @default 100 */
  readonly maxRecipients?: number;
  /** Address of the service; the sandbox is `https://api.sandbox.africastalking.com`. @default the service's */
  readonly baseUrl?: string;
}

const AFRICAS_TALKING = {
  username: textLike(/^[\x21-\x7e]{1,255}$/, 'the name of the app, without white space'),
  apiKey: credential('the API key of the app'),
  maxRecipients: withDefault(wholeNumber, 100),
  ...serviceOptions({ name: 'africas-talking', baseUrl: 'https://api.africastalking.com' }),
} satisfies ReadersOf<AfricasTalkingOptions>;

const read = group(AFRICAS_TALKING);

/** By the word of a recipient's status, of which 100 to 102 are accepted. */
const errors = new ProviderErrors("Africa's Talking", 'username and apiKey', {
  unauthorized: ['authentication_failed'],
  account_restricted: ['RiskHold'],
  payment_required: ['InsufficientBalance'],
  sender_unknown: ['InvalidSenderId'],
  not_routable: ['CouldNotRoute'],
  uncertain: ['InternalServerError', 'GatewayError'],
  refused: [
    'InvalidPhoneNumber',
    'UnsupportedNumberType',
    'UserInBlacklist',
    'DoNotDisturbRejection',
    'RejectedByGateway',
  ],
});

const ACCEPTED: readonly unknown[] = [100, 101, 102];

/**
 * Sends SMS through Africa's Talking. It has no idempotency keys, and its reports repeat nothing of
 * ours: a message with a lost answer stays `unknown`, and is never sent again.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://developers.africastalking.com/docs/sms/sending/bulk
 * @example
 * providers: { at: africasTalking({ username: 'acme', apiKey: process.env.AT_API_KEY! }) },
 * callbackPath: 'dlr',
 * callbacks: { providers: { at: { parser: africasTalkingParser(), verifier: sharedSecret({ secret }) } } },
 */
export function africasTalking(options: AfricasTalkingOptions): TransportFactory {
  const settings = read('africasTalking', options);
  const { maxRecipients } = settings;
  return (context) =>
    new AfricasTalkingTransport(settings, context, { channels: ['sms'], maxRecipients });
}

class AfricasTalkingTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  protected credential() {
    return { apikey: this.settings.apiKey };
  }

  /** @see https://developers.africastalking.com/docs/application */
  protected accountRequest(): AccountRequest {
    return {
      method: 'GET',
      path: `/version1/user?username=${encodeURIComponent(this.settings.username)}`,
      balance: (body) => {
        // Such as `KES 1785.50`.
        const [currency, amount] = String(own(own(body, 'UserData'), 'balance')).split(' ');
        return balanceOf(amount, currency);
      },
    };
  }

  protected requestOf(submission: Submission) {
    const { sender, recipients } = submission;
    const body = new URLSearchParams({
      username: this.settings.username,
      to: recipients.map((recipient) => `+${this.numberOf(recipient)}`).join(','),
      message: this.textOf(submission),
      from: sender,
      bulkSMSMode: '1',
    });
    return { path: '/version1/messaging', body };
  }

  protected override isAccepted(answer: ClientAnswer): boolean {
    return (
      isSuccess(answer) || Array.isArray(own(own(answer.body, 'SMSMessageData'), 'Recipients'))
    );
  }

  protected outcomeOf({ body }: ClientAnswer, { id, recipients }: Submission) {
    const data = own(body, 'SMSMessageData');
    const found = own(data, 'Recipients');
    if (!Array.isArray(found)) throw errors.unusable('its list of recipients');
    // A refusal of the whole request names its reason in the place of the recipients.
    const whole = found.length === 0 ? (word(own(data, 'Message')) ?? '') : '';
    if (errors.meaningOf(whole)) throw errors.failure(errors.meaningOf(whole) ?? 'refused', whole);
    const results = new Map(
      found.map((one) => [recipientNumber(own(one, 'number')), resultOf(one)] as const),
    );
    return outcomeOfResults(errors, id, recipients, (recipient) => results.get(recipient));
  }

  protected failureOf(answer: ClientAnswer) {
    return errors.failureOf(answer, textCodeOf(answer), this.context.clock.now());
  }
}

function resultOf(entry: unknown): RecipientResult {
  const code = own(entry, 'statusCode');
  const messageId = identifier(own(entry, 'messageId'));
  if (ACCEPTED.includes(code)) return messageId === null ? {} : { id: messageId };
  const status = word(own(entry, 'status'));
  return status !== null && /^[A-Za-z]+$/.test(status) ? { code: status } : {};
}

function textCodeOf({ status, text }: ClientAnswer): string | undefined {
  const isRefused = /^the supplied authentication is invalid/i.test(text.trim());
  return status === 401 && isRefused ? 'authentication_failed' : undefined;
}
