import type { CallbackParser, CallbackVerifier } from './callback-parser.js';
import {
  flag,
  group,
  list,
  object,
  type ReadersOf,
  optional,
  record,
  text,
} from './option-schema.js';

/** One of `secrets`, `verifier` and `insecure` is required. */
export interface CallbackEndpointOptions {
  /** Signing secrets (`whsec_…`, Standard Webhooks); two during a rotation. */
  readonly secrets?: readonly string[];
  /**
   * Or `hmacSignature()`, `basicAuth()`, `sharedSecret()`, `ipRanges()`, `twilioSignature()`,
   * `vonageSignature()`, `plivoSignature()`, `allOf()`, `anyOf()`, or a verifier of your own.
   */
  readonly verifier?: CallbackVerifier;
  /** Accept unsigned callbacks. Do not use it in production. @default false */
  readonly insecure?: boolean;
  /** Parser of delivery reports and inbound messages. @default the form of a Dundun gateway's webhooks */
  readonly parser?: CallbackParser;
  /** Provider of the reports. @default the one with the endpoint's name, else the only one */
  readonly provider?: string;
}

const ENDPOINT = {
  secrets: optional(list(text)),
  verifier: optional(object<CallbackVerifier>()),
  insecure: optional(flag),
  parser: optional(object<CallbackParser>()),
  provider: optional(text),
} satisfies ReadersOf<CallbackEndpointOptions>;

/** The endpoint at the callback path itself, and the endpoints below it. */
export interface CallbackOptions extends CallbackEndpointOptions {
  /**
   * Endpoints by name: `twilio` is at `{path}/twilio`, and at `{path}/twilio/{secret}` for
   * `sharedSecret()`. With only `providers`, the callback path itself has no endpoint.
   */
  readonly providers?: Readonly<Record<string, CallbackEndpointOptions>>;
}

export const CALLBACKS = {
  ...ENDPOINT,
  providers: optional(record(group(ENDPOINT))),
} satisfies ReadersOf<CallbackOptions>;
