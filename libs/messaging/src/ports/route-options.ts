import { MessagingConfigError } from '../message/errors.js';
import { decimalAmount } from './rate-card.js';
import { list, type OptionReader, optional, type ReadersOf, group, text } from './option-schema.js';

/** The first of them that may take a message; the next one after a definite refusal. */
export interface Failover {
  readonly failover: readonly RouteUse[];
}

/** One of them, by weight, chosen by the hash of the submission's id. */
export interface Weighted {
  readonly weighted:
    | Readonly<Record<string, number>>
    | readonly { readonly use: RouteUse; readonly weight: number }[];
}

/** The one with the lowest cost for the recipient; the next one after a definite refusal. */
export interface Cheapest {
  readonly cheapest: readonly string[];
}

/** The one that delivers best to the country of the recipient; the next one after a definite refusal. */
export interface Best {
  readonly best: readonly string[];
}

/** The provider of a rule: its name, or a choice between several. */
export type RouteUse = string | Failover | Weighted | Cheapest | Best;

/**
 * Tries the providers in this order. Another one gets a message only where the one before has
 * certainly not accepted it: never after an answer that is missing or uncertain.
 * @example
 * routes: [{ channel: 'sms', use: failover('main', 'backup') }]
 */
export function failover(...of: readonly [RouteUse, RouteUse, ...RouteUse[]]): Failover {
  return { failover: of };
}

/**
 * Shares submissions by weight. The choice follows from the submission's id, so that a repetition of
 * the same submission makes the same one.
 * @example
 * routes: [{ channel: 'sms', use: failover(weighted({ a: 70, b: 30 }), 'c') }]
 * weighted([{ use: failover('a', 'b'), weight: 70 }, { use: 'c', weight: 30 }])
 */
export function weighted(of: Weighted['weighted']): Weighted {
  return { weighted: of };
}

/**
 * Tries the providers in the order of their costs for the recipient, by their option `prices`. One
 * whose cost is not known gets no message.
 * @example
 * routes: [{ channel: 'sms', maxPrice: '0.02', use: cheapest('a', 'b') }]
 */
export function cheapest(...of: readonly [string, string, ...string[]]): Cheapest {
  return { cheapest: of };
}

/**
 * Tries first the provider that has delivered the largest share of its last messages to the country of
 * the recipient, in little time; see the option `best`. Until enough is known it is `failover()`. Needs
 * `store.outcomes: true`.
 * @example
 * routes: [{ channel: 'sms', maxPrice: '0.02', use: best('a', 'b') }]
 */
export function best(...of: readonly [string, string, ...string[]]): Best {
  return { best: of };
}

/** A checked `use`. */
export type Choice =
  | { readonly provider: string }
  | { readonly cheapest: readonly string[] }
  | { readonly best: readonly string[] }
  | { readonly failover: readonly Choice[] }
  | { readonly weighted: readonly { readonly choice: Choice; readonly weight: number }[] };

/** Deepest nesting of `use`. */
const DEEPEST = 8;

const FORMS =
  "the name of a provider, failover('a', 'b'), cheapest('a', 'b'), best('a', 'b'), or weighted({ a: 70, b: 30 }) with weights above zero";

export const routeUse: OptionReader<Choice, RouteUse> = (name, value) => choiceOf(name, value, 1);

function choiceOf(name: string, value: unknown, depth: number): Choice {
  if (typeof value === 'string' && value !== '') return { provider: value };
  const [[kind, of] = [], ...others] = Object.entries(Object(value) as Record<string, unknown>);
  if (others.length > 0 || depth > DEEPEST) return wrong(name);
  if (kind === 'failover' && Array.isArray(of) && of.length >= 2)
    return {
      failover: of.map((one, n) => choiceOf(`${name}.failover[${n}]`, one, depth + 1)),
    };
  if (kind === 'cheapest' && Array.isArray(of) && of.length >= 2)
    return { cheapest: of.map((one, n) => text(`${name}.cheapest[${n}]`, one)) };
  if (kind === 'best' && Array.isArray(of) && of.length >= 2)
    return { best: of.map((one, n) => text(`${name}.best[${n}]`, one)) };
  if (kind !== 'weighted' || typeof of !== 'object' || of === null) return wrong(name);
  const parts = Array.isArray(of)
    ? of.map((part: unknown, n) => {
        const path = `${name}.weighted[${n}]`;
        const { use, weight } = Object(part) as { use?: unknown; weight?: unknown };
        return { path, choice: choiceOf(`${path}.use`, use, depth + 1), weight };
      })
    : Object.entries(of as Record<string, unknown>).map(([provider, weight]) => {
        const path = `${name}.weighted.${provider}`;
        return { path, choice: { provider }, weight };
      });
  if (parts.length === 0) return wrong(name);
  return {
    weighted: parts.map(({ path, choice, weight }) => {
      if (!(typeof weight === 'number' && Number.isFinite(weight) && weight > 0))
        throw new MessagingConfigError(`${path}: must have a weight above zero, such as 70`);
      return { choice, weight };
    }),
  };
}

function wrong(name: string): never {
  throw new MessagingConfigError(`${name}: must be ${FORMS}`);
}

/** Digits without the plus, as the address keys of phone numbers begin; other addresses as they are. */
const prefixes: OptionReader<readonly string[]> = (name, value) => {
  const all = list(text)(name, value).map((prefix) =>
    /^\+[\d\s\-().]+$/.test(prefix) ? prefix.replace(/[+\s\-().]/g, '') : prefix,
  );
  const empty = all.indexOf('');
  if (all.length === 0 || empty >= 0)
    throw new MessagingConfigError(
      `${empty >= 0 ? `${name}[${empty}]` : name}: is empty; write the prefixes of numbers with their country code, such as ['234'], or leave it out for every recipient`,
    );
  return all;
};

/** One rule of `routes`: all of its conditions must fit, and `use` carries the message. */
export interface Route {
  /** @default every channel */
  readonly channel?: string;
  /** @default every tenant */
  readonly tenant?: string;
  /** Prefixes of the recipient's address, such as `'234'` or `'234803'`. @default every recipient */
  readonly to?: readonly string[];
  /** The sender, as the message names it. @default every sender */
  readonly from?: string;
  /** Price category of the content, such as `'marketing'`. @default every category, and none */
  readonly category?: string;
  /**
   * Providers of the rule that cost more for the recipient get no message, nor do those whose cost is
   * not known. Needs their option `prices`. @default no limit
   */
  readonly maxPrice?: string;
  readonly use: RouteUse;
}

const ROUTE = {
  channel: optional(text),
  tenant: optional(text),
  to: optional(prefixes),
  from: optional(text),
  category: optional(text),
  maxPrice: optional(decimalAmount),
  use: routeUse,
} satisfies ReadersOf<Route>;

export const readRoute = group(ROUTE);

export type RouteRule = ReturnType<typeof readRoute>;
