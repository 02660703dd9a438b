import type { CallbackOptions, PriceList, TransportFactory } from '@dundun/messaging';
import type { SmtpOptions } from '@dundun/messaging/smtp';
import { form, type Rate, rate } from '../settings/parsers.js';
import type { Setting } from '../settings/setting.js';

/** One key of a carrier in `CARRIERS_FILE`. */
export interface CarrierSetting<T> extends Setting<T> {
  /** The key may be missing although it has no default. */
  readonly optional?: true;
  /** What to write where the key's variable is missing. @default to take the choice back */
  readonly remedy?: string;
  /** Channels that the carrier has with this optional key alone. */
  readonly carries?: readonly string[];
}

export type CarrierSettings = Readonly<Record<string, CarrierSetting<unknown>>>;

export type SettingsOf<S extends CarrierSettings> = {
  readonly [Key in keyof S]:
    | ReturnType<S[Key]['parse']>
    | (S[Key] extends { readonly optional: true } ? undefined : never);
};

/** Keys that every type has. */
export const SHARED_SETTINGS = {
  /** Over all accounts and processes. */
  rate_limit: { parse: rate, optional: true },
  /** What the carrier charges, by the prefix of the recipient. */
  prices: {
    parse: form<Readonly<Record<string, string>>>(
      'must be prefixes of numbers with prices; write 234=0.0030 *=0.02',
      (written) => {
        const pairs = written
          .split(/[\s,]+/)
          .map((pair) => /^(\+?\d{1,15}|\*)=(\d{1,15}(?:\.\d{1,12})?)$/.exec(pair));
        return pairs.every((pair) => pair !== null)
          ? Object.fromEntries(pairs.map(([, start = '', price = '']) => [start, price]))
          : undefined;
      },
    ),
    optional: true,
  },
} as const satisfies CarrierSettings;

/** Meta's id of an account's number; `undefined`: the number is not bound to Meta. */
export type PhoneNumberIdOf = (number: string) => string | undefined | Promise<string | undefined>;

/** What a carrier is made with beside its settings. */
export interface CarrierPlace {
  /** Path of its callbacks below the gateway's address, without a slash in front. */
  readonly callbackPath: string;
  /** Prices of WhatsApp messages on a simulated carrier. */
  readonly prices: PriceList;
}

/** Services of the running gateway that transports use. */
export interface CarrierServices {
  readonly phoneNumberIdOf: PhoneNumberIdOf;
  /** Options of the mail of accounts. */
  readonly mail: () => Promise<Omit<SmtpOptions, 'url' | 'tls'>>;
}

/** A transport with packages of its own, or with services of the gateway. */
interface LoadedTransport {
  readonly load: (services: CarrierServices) => TransportFactory | Promise<TransportFactory>;
}

/** Its endpoint, with packages of its own. */
interface LoadedCallbacks {
  readonly load: () => Promise<CarrierCallbacks>;
}

export type CarrierCallbacks = Omit<CallbackOptions, 'providers'>;

export interface MadeCarrier {
  readonly transport: TransportFactory | LoadedTransport;
  /** Its endpoint; without one it has no callbacks. */
  readonly callbacks?: CarrierCallbacks | LoadedCallbacks | undefined;
}

export interface CarrierTraits {
  /** Channels that it carries. @default every channel */
  readonly channels?: readonly string[];
  /** It delivers nothing. */
  readonly isSimulated?: true;
  /** It takes returned and inbound mail at `EMAIL_LISTEN`. */
  readonly takesMail?: true;
  /** It signs mail itself, and has return addresses of its own. */
  readonly signsMail?: true;
  /** Its callbacks may be `text/plain`, as those of SNS are. */
  readonly callsInText?: true;
  /** It sends from numbers that `dundun number add` binds to it, and the platform has the templates. */
  readonly bindsNumbers?: true;
  /** Highest rate of an account, by channel. */
  readonly accountRates?: Readonly<Record<string, Rate>>;
}

/** A kind of carrier: its settings, and how it is made of them. */
export interface CarrierType extends CarrierTraits {
  /** By the keys of the file, in lower snake case; parsers throw errors that follow the key. */
  readonly settings: CarrierSettings;
  /** The key that contradicts another one, with the rule; `undefined`: none does. */
  readonly conflict?: (settings: never) => readonly [key: string, rule: string] | undefined;
  readonly make: (settings: never, place: CarrierPlace) => MadeCarrier;
}

/** Types of carriers, by the words for them in `CARRIERS_FILE`. */
export type CarrierTypes = Readonly<Record<string, CarrierType>>;

/**
 * Declares a type, whose settings `make` gets parsed.
 * @example
 * export const ACME = carrierType(
 *   { token: { parse: credential, secret: 'whole' } },
 *   { channels: ['sms'], make: ({ token }) => ({ transport: acme({ token }) }) },
 * );
 */
export function carrierType<const S extends CarrierSettings>(
  settings: S,
  type: CarrierTraits & {
    readonly conflict?: (
      settings: Partial<SettingsOf<S>>,
    ) => readonly [key: keyof S & string, rule: string] | undefined;
    readonly make: (settings: SettingsOf<S>, place: CarrierPlace) => MadeCarrier;
  },
): { readonly settings: S } & typeof type {
  return { settings, ...type };
}
