import type { CallbackOptions, TransportFactory } from '@dundun/messaging';
import type { Environment } from '../config/environment.js';
import type { Parse } from '../config/parsers.js';

/** One key of a carrier in `CARRIERS_FILE`. */
export interface CarrierSetting<T> {
  readonly parse: Parse<T>;
  /** As written; without a default the key may be missing only where it is `optional`. */
  readonly default?: string;
  readonly optional?: true;
  /**
   * The value is never shown. `whole`: of at least 24 bytes in production; `part`: an address that may
   * hold a password, or a key as long as its service makes it.
   */
  readonly secret?: 'whole' | 'part';
}

export type CarrierSettings = Readonly<Record<string, CarrierSetting<unknown>>>;

export type SettingsOf<S extends CarrierSettings> = {
  readonly [Key in keyof S]:
    | ReturnType<S[Key]['parse']>
    | (S[Key] extends { readonly optional: true } ? undefined : never);
};

/** Meta's id of an account's number; `undefined`: the number is not bound to Meta. */
export type PhoneNumberIdOf = (number: string) => string | undefined | Promise<string | undefined>;

/** Addresses and services that a carrier is set up with. */
export interface CarrierPlace {
  /** Path of its callbacks below the gateway's address, without a slash in front. */
  readonly callbackPath: string;
  readonly environment: Environment;
  readonly phoneNumberIdOf?: PhoneNumberIdOf | undefined;
}

export interface Carrier {
  /** Loads the provider where that needs packages of its own. */
  readonly transport: () => TransportFactory | Promise<TransportFactory>;
  /** Its endpoint; without one it has no callbacks. */
  readonly callbacks?: Omit<CallbackOptions, 'providers'> | undefined;
}

/** A kind of carrier: its settings, and how it is made of them. */
export interface CarrierType {
  readonly settings: CarrierSettings;
  make(settings: never, place: CarrierPlace): Carrier;
}

/**
 * Declares a type. Its settings are the keys of the file, in lower snake case; parsers throw errors
 * that follow the key.
 * @example
 * export const ACME = carrierType(
 *   { token: { parse: credential, secret: 'whole' }, url: { parse: httpUrl, default: 'https://api.acme.example' } },
 *   ({ token, url }) => ({ transport: () => acme({ token, baseUrl: url }) }),
 * );
 */
export function carrierType<const S extends CarrierSettings, C extends Carrier>(
  settings: S,
  make: (settings: SettingsOf<S>, place: CarrierPlace) => C,
): { readonly settings: S; readonly make: typeof make } {
  return { settings, make };
}
