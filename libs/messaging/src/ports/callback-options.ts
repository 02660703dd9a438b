import type { CallbackParser, CallbackVerifier } from './callback-parser.js';
import {
  flag,
  group,
  list,
  object,
  type OptionsOf,
  optional,
  record,
  text,
} from './option-schema.js';

const ENDPOINT = {
  /** Signing secrets (`whsec_…`, Standard Webhooks); two during a rotation. */
  secrets: optional(list(text)),
  /**
   * Or `hmacSignature()`, `basicAuth()`, `sharedSecret()`, `ipRanges()`, `twilioSignature()`,
   * `vonageSignature()`, `plivoSignature()`, `allOf()`, `anyOf()`, or a verifier of your own.
   */
  verifier: optional(object<CallbackVerifier>()),
  /** Accept unsigned callbacks. Do not use it in production. @default false */
  insecure: optional(flag),
  /** Parser of delivery reports and inbound messages. @default the interface's own form */
  parser: optional(object<CallbackParser>()),
  /** Provider of the reports. @default the one with the endpoint's name, else the only one */
  provider: optional(text),
};

/** One of `secrets`, `verifier` and `insecure` is required. */
export type CallbackEndpointOptions = OptionsOf<typeof ENDPOINT>;

export const CALLBACKS = {
  ...ENDPOINT,
  /**
   * Endpoints by name: `twilio` is at `{path}/twilio`, and at `{path}/twilio/{secret}` for
   * `sharedSecret()`. With only `providers`, the callback path itself has no endpoint.
   */
  providers: optional(record(group(ENDPOINT))),
};

/** The endpoint at the callback path itself, and the endpoints below it. */
export type CallbackOptions = OptionsOf<typeof CALLBACKS>;
