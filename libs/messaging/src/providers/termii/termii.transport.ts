import { idOf } from '../../callbacks/callback-fields.js';
import { own } from '../../message/report-fields.js';
import type { Submission, TransportFactory } from '../../ports/message-transport.js';
import { group, oneOf, type ReadersOf, withDefault } from '../../ports/option-schema.js';
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
import { credential, serviceAddress } from '../provider-options.js';

/** Options of {@link termii}. */
export interface TermiiOptions extends ServiceOptions {
  /** Address of the account, as the dashboard shows it. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /**
   * `dnd` also reaches numbers of Nigeria's do-not-disturb list, and has to be active on the account.
   * @default 'generic'
   */
  readonly route?: 'generic' | 'dnd';
}

const TERMII = {
  ...serviceOptions({ name: 'termii', baseUrl: 'https://api.ng.termii.com' }),
  baseUrl: serviceAddress,
  apiKey: credential('the API key of the account'),
  route: withDefault(oneOf('generic', 'dnd'), 'generic'),
} satisfies ReadersOf<TermiiOptions>;

const read = group(TERMII);

/** Begins of the messages that the reference lists, in lower case, each with its code. */
const MESSAGES: readonly (readonly [begin: string, code: string])[] = [
  ['unauthorized', 'unauthorized'],
  ['your account is not active', 'account_not_active'],
  ['this service is currently not active', 'service_not_active'],
  ['insufficient balance', 'insufficient_balance'],
  ['your device has reached the daily limit', 'daily_limit'],
  ['you are not set up on this route', 'route_not_set_up'],
  ['invalid sender id', 'invalid_sender_id'],
  ['device not found', 'device_not_found'],
  ['device not active', 'device_not_active'],
  ['no active subscription on your device', 'device_not_active'],
  ['service temporarily unavailable', 'unavailable'],
];

const errors = new ProviderErrors('Termii', 'apiKey and baseUrl', {
  unauthorized: ['unauthorized'],
  account_restricted: ['account_not_active', 'service_not_active'],
  payment_required: ['insufficient_balance'],
  throttled: ['daily_limit'],
  sender_unknown: ['invalid_sender_id', 'device_not_found', 'device_not_active'],
  not_routable: ['route_not_set_up'],
  uncertain: ['unavailable'],
});

/**
 * Sends SMS through Termii, one recipient in a request: its answer to several has one id. It has no
 * idempotency keys, and its reports repeat nothing of ours: a message with a lost answer stays
 * `unknown`, and is never sent again.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://developers.termii.com/messaging-api
 * @example
 * providers: { termii: termii({ baseUrl: 'https://v3.api.termii.com', apiKey, route: 'dnd' }) },
 * callbackPath: 'dlr',
 * callbacks: { providers: { termii: { parser: termiiParser(), verifier: termiiSignature(secret) } } },
 */
export function termii(options: TermiiOptions): TransportFactory {
  const settings = read('termii', options);
  return (context) => new TermiiTransport(settings, context, { channels: ['sms'] });
}

class TermiiTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  /** The key is a field of the body. */
  protected credential() {
    return {};
  }

  /** @see https://developers.termii.com/balance */
  protected accountRequest(): AccountRequest {
    return {
      method: 'GET',
      path: `/api/get-balance?api_key=${encodeURIComponent(this.settings.apiKey)}`,
      balance: (body) => balanceOf(own(body, 'balance'), own(body, 'currency')),
    };
  }

  protected requestOf(submission: Submission) {
    const { apiKey, route } = this.settings;
    const body = {
      api_key: apiKey,
      to: this.numberOf(submission.recipients[0]),
      from: submission.sender,
      sms: this.textOf(submission),
      type: 'plain',
      channel: route,
    };
    return { path: '/api/sms/send', body };
  }

  protected override isAccepted(answer: ClientAnswer): boolean {
    return isSuccess(answer) && codeOf(answer) === undefined;
  }

  protected outcomeOf({ body }: ClientAnswer) {
    // A number of 19 digits loses some in JSON, so the text of it goes first.
    const id = idOf(own(body, 'message_id_str')) ?? idOf(own(body, 'message_id'));
    return errors.accepted(id, 'the message_id of a message');
  }

  protected failureOf(answer: ClientAnswer) {
    return errors.failureOf(answer, codeOf(answer), this.context.clock.now());
  }
}

function codeOf({ body }: ClientAnswer): string | undefined {
  const message = own(body, 'message');
  const text = typeof message === 'string' ? message.trim().toLowerCase() : '';
  return MESSAGES.find(([begin]) => text.startsWith(begin))?.[1];
}
