import type { DeliveryReport } from '../message/delivery-report.js';

/** A callback as received, before it is verified. */
export interface CallbackRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query as received. */
  readonly url: string;
  /** The path after the provider's name, decoded: a secret that only the provider knows. */
  readonly pathSecret: string | undefined;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** The parsed body: JSON or form; `undefined` for none. */
  readonly body: unknown;
  /** The bytes as received, for signatures. */
  readonly rawBody: Buffer | undefined;
  /** Address of the peer. */
  readonly ip: string;
}

/** Turns a provider's callback into reports. An unreadable entry goes into `errors` and fails no other. */
export interface DeliveryReportParser {
  parse(request: CallbackRequest): ParsedReports;
}

export interface ParsedReports {
  readonly reports: readonly DeliveryReport[];
  /** One line per entry that could not be read; no content, no whole numbers. */
  readonly errors: readonly string[];
}

/** Verifies that a callback is the provider's. */
export interface CallbackVerifier {
  verify(request: CallbackRequest): boolean | Promise<boolean>;
}
