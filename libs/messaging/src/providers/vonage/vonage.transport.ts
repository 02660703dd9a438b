import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { MessagingConfigError, UnroutableFailure } from '../../message/errors.js';
import { identifier, own } from '../../message/report-fields.js';
import type { Submission, TransportFactory } from '../../ports/message-transport.js';
import {
  group,
  type OptionReader,
  type OptionsOf,
  optional,
  textLike,
} from '../../ports/option-schema.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  basicCredential,
  HttpRequestProvider,
  serviceOptions,
} from '../http-client/http-provider.js';
import { ProviderErrors } from '../http-client/provider-errors.js';
import { httpAddress } from '../provider-options.js';

/** Most characters of an SMS, which Vonage splits. */
const MAX_TEXT = 1_000;
/** Milliseconds for which a token is good, and before its end at which it is replaced. */
const LASTS = 900_000;
const MARGIN = 60_000;

const privateKey: OptionReader<string> = (option, value) => {
  try {
    if (createPrivateKey(String(value)).asymmetricKeyType === 'rsa') return String(value);
  } catch {
    // The cause quotes the key.
  }
  throw new MessagingConfigError(`${option}: must be the private key of the application, as PEM`);
};

const VONAGE = {
  /** Key and secret of the account, or an application; Vonage takes WhatsApp of an application only. */
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
  /** Id of the application, which its private key signs for. */
  applicationId: optional(textLike(/^[0-9a-f-]{36}$/i, 'the id of the application, a UUID')),
  privateKey: optional(privateKey),
  /** Address of this app's callbacks, as Vonage reaches it. @default the account's or application's */
  callbackUrl: optional(httpAddress),
  ...serviceOptions({ name: 'vonage', baseUrl: 'https://api.nexmo.com' }),
};

/** Options of {@link vonage}. */
export type VonageOptions = OptionsOf<typeof VONAGE>;

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
 * with a lost answer is `unknown` until its first status, which repeats the submission as
 * `client_ref`, and is never sent again.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://developer.vonage.com/en/api/messages
 * @example
 * providers: { vonage: vonage({ apiKey, apiSecret, callbackUrl: 'https://app.example.com/dlr/vonage' }) },
 * callbackPath: 'dlr',
 * callbacks: { providers: { vonage: { parser: vonageParser(), verifier: vonageSignature({ secret }) } } },
 */
export function vonage(options: VonageOptions): TransportFactory {
  const settings = read('', options);
  for (const [one, other] of PAIRS)
    if ((settings[one] === undefined) !== (settings[other] === undefined)) {
      const missing = settings[one] === undefined ? one : other;
      throw new MessagingConfigError(`${missing}: is missing; ${one} and ${other} go together`);
    }
  if (settings.apiKey === undefined && settings.applicationId === undefined)
    throw new MessagingConfigError(
      'apiKey: is missing; pass apiKey and apiSecret, or applicationId and privateKey',
    );
  return (context) => new VonageTransport(settings, context, { channels: ['sms', 'whatsapp'] });
}

const PAIRS = [
  ['apiKey', 'apiSecret'],
  ['applicationId', 'privateKey'],
] as const;

class VonageTransport extends HttpRequestProvider<ReturnType<typeof read>> {
  #token: { readonly value: string; readonly until: number } | undefined;

  protected credential() {
    const { applicationId, privateKey: key, apiKey = '', apiSecret = '' } = this.settings;
    if (applicationId !== undefined && key !== undefined)
      return { authorization: `Bearer ${this.#tokenOf(applicationId, key)}` };
    return basicCredential(apiKey, apiSecret);
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

/** As in `https://developer.vonage.com/api-errors/messages#1120`. */
const ERROR_TYPE = /^https:\/\/[\w.-]*\b(?:vonage|nexmo)\.com\/\S*#([\w-]{1,64})$/;
