import type { Route } from '@dundun/messaging';
import type { BestOptions } from '@dundun/messaging/ports';
import type { CarrierSetting } from './carrier-type.js';

/** Variables of the environment. */
export type Source = Readonly<Record<string, string | undefined>>;

/** Where a carrier is written, and how its problems name that. */
export interface Origin {
  /** Such as `CARRIERS_FILE carriers.a` or `EMAIL_CARRIER=smtp`. */
  readonly place: string;
  /** @param value the wrong text, unless that is secret */
  readonly wrong: (key: string, rule: string, value?: string) => string;
  /** `undefined`: the key may be missing. */
  readonly missing: (key: string, setting: CarrierSetting<unknown>) => string | undefined;
}

/** A carrier with its settings as texts. The type checks its own keys. */
export interface WrittenCarrier {
  readonly name: string;
  readonly type: string;
  /** Keys beside the type. */
  readonly settings: Readonly<Record<string, string>>;
  /** Of `CARRIERS_FILE`, of `CARRIER`, or of variables that each give it one channel. */
  readonly role: 'file' | 'main' | 'beside';
  readonly origin: Origin;
}

/** Carriers and routes of `CARRIERS_FILE`, or of the variables in its form. */
export interface Written {
  readonly carriers: readonly WrittenCarrier[];
  readonly routes: readonly Route[];
  /** How `best` of the routes compares carriers. */
  readonly best?: BestOptions;
  /** Of all `prices` of carriers. @default they only order the carriers */
  readonly currency?: string;
}

/** The rule of a setting with the names of other keys (`{token}`) as they are written. */
export function named(rule: string, nameOf: (key: string) => string | undefined): string {
  return rule.replaceAll(/\{(\w+)\}/g, (whole, key: string) => nameOf(key) ?? whole);
}
