import type { DeliveryReport } from '../message/delivery-report.js';

/** A callback as it came in, before anything of it is believed. */
export interface CallbackRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query as received. */
  readonly url: string;
  /** What follows the provider's name in the path, decoded: a secret only the provider knows. */
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

/** Turns a provider's callback into reports. A bad entry is left out and told in `errors`; it never fails the others. */
export interface DeliveryReportParser {
  parse(request: CallbackRequest): ParsedReports;
}

export interface ParsedReports {
  readonly reports: readonly DeliveryReport[];
  /** One line per entry that could not be read; no content, no whole numbers. */
  readonly errors: readonly string[];
}

/** Proves that a callback is the provider's. */
export interface CallbackVerifier {
  verify(request: CallbackRequest): boolean | Promise<boolean>;
}

export const DELIVERY_REPORT_PARSER = Symbol('DELIVERY_REPORT_PARSER');
export const CALLBACK_VERIFIER = Symbol('CALLBACK_VERIFIER');
