import type { DeliveryReport, InboundMessage } from '../message/events.js';
import type { TemplateStatusUpdate } from '../message/templates.js';

/** A callback as received, before it is verified. */
export interface CallbackRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query as received. */
  readonly url: string;
  /** Decoded path after the provider's name: a secret that only the provider knows. */
  readonly pathSecret: string | undefined;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly query: Readonly<Record<string, unknown>>;
  /**
   * The parsed body: JSON or form; `undefined` without a body. Reading it parses `rawBody`, which
   * throws where that is not readable: a verifier uses `rawBody`.
   */
  readonly body: unknown;
  /** The bytes as received, for signatures. */
  readonly rawBody: Buffer | undefined;
  readonly ip: string;
  /** Time of the request, in milliseconds since 1970. */
  readonly receivedAt: number;
}

/** Converts a provider's callback. An unreadable entry goes into `errors` and affects no other. */
export interface CallbackParser {
  parse(request: CallbackRequest): ParsedCallback;
}

export interface ParsedCallback {
  /** @default none */
  readonly reports?: readonly DeliveryReport[];
  /** @default none */
  readonly messages?: readonly InboundMessage[];
  /** Changes of templates at the platform. @default none */
  readonly templates?: readonly TemplateStatusUpdate[];
  /** One line for each unreadable entry, without content or whole numbers. */
  readonly errors: readonly string[];
  /** Body of the answer, where the provider needs one. @default an empty 204 (GET: 200) */
  readonly answer?: CallbackAnswer | undefined;
}

export interface CallbackAnswer {
  readonly contentType: string;
  readonly body: string;
}

/** Verifies that a callback comes from the provider. */
export interface CallbackVerifier {
  verify(request: CallbackRequest): boolean | Promise<boolean>;
}
