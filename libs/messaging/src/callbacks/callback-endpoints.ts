import { Inject, Injectable } from '@nestjs/common';
import { MessagingConfigError } from '../message/errors.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import {
  CALLBACK_VERIFIER,
  type CallbackVerifier,
  DELIVERY_REPORT_PARSER,
  type DeliveryReportParser,
} from '../ports/delivery-report-parser.js';
import type { InboundParser } from '../ports/inbound-parser.js';
import { MESSAGE_TRANSPORTS, type MessageTransport } from '../ports/message-transport.js';
import type { CallbackEndpointOptions } from '../ports/messaging-options.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../ports/messaging-settings.js';
import { callbackVerifier } from './callback-verifier.js';

/** Where callbacks come in, how they are proven and read, and whose messages they speak of. */
export interface CallbackEndpoint {
  readonly name: string;
  /** Name of the provider whose submissions the reports are about. */
  readonly provider: string;
  readonly verifier: CallbackVerifier;
  /** Of delivery reports; `undefined`: none come in here. */
  readonly parser: DeliveryReportParser | undefined;
  /** Of what people wrote; `undefined`: nothing comes in here. */
  readonly inbound: InboundParser | undefined;
}

/** The parsers of an endpoint that names none: those of the published interface. */
export interface DefaultParsers {
  readonly reports: DeliveryReportParser;
  readonly inbound: InboundParser;
}

/** Injection token of {@link DefaultParsers}. */
export const DEFAULT_PARSERS = Symbol('DEFAULT_PARSERS');

type Given = Omit<CallbackEndpointOptions, 'inbound'> & {
  readonly inbound?: InboundParser | undefined;
};

/** Name of the endpoint at the callback path itself. */
const DEFAULT = 'default';
const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
/** As wide as the store's column. */
const PROVIDER = /^[\x21-\x7e]{1,32}$/;

/** The endpoints of `callbacks`, checked at boot. */
@Injectable()
export class CallbackEndpoints {
  readonly #endpoints = new Map<string, CallbackEndpoint>();

  /** @throws MessagingConfigError naming the option and the remedy. */
  constructor(
    @Inject(MESSAGING_SETTINGS) { callbacks }: Pick<MessagingSettings, 'callbacks'>,
    @Inject(MESSAGING_CLOCK) clock: Clock,
    @Inject(MESSAGE_TRANSPORTS)
    private readonly transports: ReadonlyMap<string, MessageTransport>,
    @Inject(DELIVERY_REPORT_PARSER) parser: DeliveryReportParser,
    @Inject(CALLBACK_VERIFIER) verifier: CallbackVerifier | null,
    @Inject(DEFAULT_PARSERS) private readonly defaults: DefaultParsers,
  ) {
    if (verifier) {
      const both = callbacks?.parser === undefined && callbacks?.inbound === undefined;
      const inbound = both ? defaults.inbound : callbacks?.inbound;
      this.#add(DEFAULT, { ...callbacks, parser, inbound }, 'callbacks', verifier);
    }
    for (const [name, options] of Object.entries(callbacks?.providers ?? {})) {
      const option = `callbacks.providers.${name}`;
      if (!NAME.test(name) || name === DEFAULT)
        throw new MessagingConfigError(
          `${option}: must be up to 32 small letters, digits and dashes, and not '${DEFAULT}'; it is part of the path`,
        );
      this.#add(name, options, option, callbackVerifier(options, clock, option));
    }
  }

  /** `undefined`: nothing is served there. */
  find(provider: string | undefined): CallbackEndpoint | undefined {
    return provider === DEFAULT ? undefined : this.#endpoints.get(provider ?? DEFAULT);
  }

  #add(name: string, options: Given, option: string, verifier: CallbackVerifier): void {
    const provider = options.provider ?? this.#providerOf(name, option);
    const own = options.parser === undefined && options.inbound === undefined;
    const parser = own ? this.defaults.reports : options.parser;
    const inbound = own ? this.defaults.inbound : options.inbound;
    for (const [field, one] of Object.entries({ parser, inbound }))
      if (one !== undefined && typeof one.parse !== 'function')
        throw new MessagingConfigError(`${option}.${field}: must have a method parse()`);
    if (!PROVIDER.test(provider))
      throw new MessagingConfigError(`${option}.provider: must be the name of a provider`);
    this.#endpoints.set(name, { name, provider, verifier, parser, inbound });
  }

  /** The provider with the endpoint's name, else the only one. */
  #providerOf(endpoint: string, option: string): string {
    if (this.transports.has(endpoint)) return endpoint;
    const [only, ...others] = this.transports.keys();
    if (only !== undefined && others.length === 0) return only;
    throw new MessagingConfigError(
      `${option}.provider: is missing; say which provider the reports are about: ${[...this.transports.keys()].join(', ')}`,
    );
  }
}
