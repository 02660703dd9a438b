import { Inject, Injectable, Logger } from '@nestjs/common';
import { MessagingConfigError } from '../message/errors.js';
import type { CallbackParser, CallbackVerifier } from '../ports/callback-parser.js';
import { MESSAGE_TRANSPORTS, type Transports } from '../ports/message-transport.js';
import type { CallbackEndpointOptions, CallbackOptions } from '../ports/callback-options.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../ports/messaging-settings.js';

/** One path for callbacks, and the provider that their messages belong to. */
export interface CallbackEndpoint {
  readonly name: string;
  readonly provider: string;
  readonly verifier: CallbackVerifier;
  readonly parser: CallbackParser;
}

/** Callback form of endpoints without their own parser or verifier: that of a Dundun gateway's webhooks. */
export interface DefaultCallbackForm {
  readonly parser: CallbackParser;
  readonly verifier: (secrets: readonly string[], option: string) => CallbackVerifier;
}

export const DEFAULT_CALLBACK_FORM = Symbol('DEFAULT_CALLBACK_FORM');

/** The path, or `false`: the app takes callbacks in a controller of its own, or none at all. */
export const CALLBACK_PATH = Symbol('CALLBACK_PATH');

/** Name of the endpoint at the callback path itself. */
const DEFAULT = 'default';
const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
/** A name fits the store's column. */
const PROVIDER = /^[\x21-\x7e]{1,32}$/;

/** The endpoints of the `callbacks` option, checked at boot. */
@Injectable()
export class CallbackEndpoints {
  readonly #endpoints = new Map<string, CallbackEndpoint>();

  /** Whether an endpoint verifies its callbacks. */
  hasVerified = false;

  /** @throws MessagingConfigError naming the option and the remedy. */
  constructor(
    @Inject(MESSAGING_SETTINGS) { callbacks }: Pick<MessagingSettings, 'callbacks'>,
    @Inject(MESSAGE_TRANSPORTS) private readonly transports: Transports,
    @Inject(DEFAULT_CALLBACK_FORM) private readonly form: DefaultCallbackForm,
    @Inject(CALLBACK_PATH) path: string | false,
  ) {
    if (callbacks === undefined && (path === false || this.#listensByItself)) return;
    if (!hasProvidersAlone(callbacks)) this.#add(DEFAULT, callbacks ?? {}, 'callbacks');
    for (const [name, options] of Object.entries(callbacks?.providers ?? {})) {
      const option = `callbacks.providers.${name}`;
      if (!NAME.test(name) || name === DEFAULT)
        throw new MessagingConfigError(
          `${option}: must be up to 32 small letters, digits and dashes, and not '${DEFAULT}'; it is part of the path`,
        );
      this.#add(name, options, option);
    }
  }

  find(provider: string | undefined): CallbackEndpoint | undefined {
    return provider === DEFAULT ? undefined : this.#endpoints.get(provider ?? DEFAULT);
  }

  /** Whether every provider brings its reports by itself, so that no endpoint needs a secret. */
  get #listensByItself(): boolean {
    return [...this.transports.values()].every((transport) => transport.listen !== undefined);
  }

  #add(name: string, options: CallbackEndpointOptions, option: string): void {
    const verifier = callbackVerifier(options, this.form, option);
    this.hasVerified ||= options.insecure !== true;
    const provider = options.provider ?? this.#providerOf(name, option);
    const { parser = this.form.parser } = options;
    if (typeof parser.parse !== 'function')
      throw new MessagingConfigError(`${option}.parser: must have a method parse()`);
    if (!PROVIDER.test(provider))
      throw new MessagingConfigError(`${option}.provider: must be the name of a provider`);
    this.#endpoints.set(name, { name, provider, verifier, parser });
  }

  #providerOf(endpoint: string, option: string): string {
    if (this.transports.has(endpoint)) return endpoint;
    const [only, ...others] = this.transports.keys();
    if (only !== undefined && others.length === 0) return only;
    throw new MessagingConfigError(
      `${option}.provider: is missing; say which provider the reports are about: ${[...this.transports.keys()].join(', ')}`,
    );
  }
}

/** Whether only named endpoints exist, so that the callback path itself is closed. */
function hasProvidersAlone({ providers, ...own }: CallbackOptions = {}): boolean {
  return (
    Object.keys(providers ?? {}).length > 0 &&
    Object.values(own).every((option) => option === undefined)
  );
}

/**
 * Uses `verifier` or `secrets`. With `insecure`, callbacks are not verified, which logs a warning.
 * @throws MessagingConfigError naming the option where none or several of them are given
 */
export function callbackVerifier(
  options: CallbackEndpointOptions,
  form: Pick<DefaultCallbackForm, 'verifier'>,
  option: string,
): CallbackVerifier {
  const { verifier, secrets = [], insecure } = options;
  if (verifier && secrets.length > 0)
    throw new MessagingConfigError(
      `${option}.verifier: there are secrets too; pass one of them, or allOf(standardWebhooks(…), …)`,
    );
  if (verifier) {
    if (typeof verifier.verify !== 'function')
      throw new MessagingConfigError(`${option}.verifier: must have a method verify()`);
    return verifier;
  }
  if (secrets.length > 0) return form.verifier(secrets, `${option}.secrets`);
  if (insecure !== true)
    throw new MessagingConfigError(
      `${option}.secrets: is missing; pass the signing secret (whsec_…) of the webhook endpoint, ` +
        `or ${option}.verifier, or callbackPath: false to take no callbacks, or, never in production, ` +
        `${option}: { insecure: true }`,
    );
  new Logger('MessagingCallbacks').warn(
    `${option}.insecure is set: any client that finds the path can report deliveries`,
  );
  return { verify: () => true };
}
