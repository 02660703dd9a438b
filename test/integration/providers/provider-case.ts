import type { CallbackParser, CallbackVerifier, TransportFactory } from '@dundun/messaging';
import type { ProviderServer } from '../../support/providers/provider-server.js';

export const ORIGIN = 'https://app.example.com';
export const OURS = '2348000000001';
/** Secret of 24 bytes, as the gateway asks for in production. */
export const SECRET = 'secret-of-the-callbacks-1234';

/** A callback as the provider sends it. */
interface Callback {
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface About {
  /** The provider's id of the message; `lost`: our app has none. */
  readonly id: string;
  readonly submission: string;
  readonly to: string;
}

/** One provider with an app: its double, the transport to it, and the callbacks that it sends. */
export interface ProviderCase<S extends ProviderServer<unknown> = ProviderServer<unknown>> {
  readonly server: S;
  transport(): TransportFactory;
  readonly parser: CallbackParser;
  readonly verifier: CallbackVerifier;
  /** The id of the message that the double took last. */
  lastId(): string;
  delivered(about: About): Callback;
  written(from: string, text: string): Callback;
  /** Its settings in the gateway's file of carriers, beside its type. */
  carrier(): Readonly<Record<string, string>>;
  /** A report settles a message whose answer was lost. */
  readonly settles: boolean;
}

export const form = (fields: Readonly<Record<string, string>>) =>
  new URLSearchParams(fields).toString();

export function posted(
  path: string,
  body: string,
  more: Readonly<Record<string, string>> = {},
): Callback {
  const type = body.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded';
  return { path, body, headers: { 'content-type': type, ...more } };
}

export const inSecretPath = (path: string, body: string) => posted(`${path}/${SECRET}`, body);

/** Each with the path of its callbacks. */
export type ProviderCases = readonly (readonly [
  name: string,
  make: (path: string) => ProviderCase,
])[];
