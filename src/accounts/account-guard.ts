import { MessagingConfigError } from '@dundun/messaging';
import type { GuardAction, GuardLimit, GuardRules } from '@dundun/messaging/ports';
import { checkGuardRules } from '@dundun/messaging/values';
import { invalidField } from '../http/api-error.js';

/** Rules as the command line writes them; `off` takes a rule away. */
export interface WrittenGuard {
  /** Countries, such as `NG`; the others are left out. */
  readonly only?: readonly string[];
  readonly except?: readonly string[];
  readonly countriesAction?: string;
  /** Such as `10/h` or `10/h:hold`. */
  readonly recipient?: string;
  readonly prefix?: string;
  readonly range?: string;
  /** Factor, messages of an hour and action, such as `5:1000:alert`. */
  readonly growth?: string;
}

const LIMITS = ['recipient', 'prefix', 'range'] as const;

const OFF = 'off';

/** The rules with the changes. @throws ApiError 422 naming the wrong option */
export function changedGuard(before: GuardRules, written: WrittenGuard): GuardRules | null {
  const { countries, growth, ...limits } = before;
  const changed: Record<string, unknown> = {
    ...limits,
    ...withCountries(countries, written),
    ...(growth && { growth }),
  };
  for (const name of LIMITS) {
    const text = written[name];
    if (text === OFF) delete changed[name];
    else if (text !== undefined) changed[name] = limitOf(text);
  }
  if (written.growth === OFF) delete changed['growth'];
  else if (written.growth !== undefined) changed['growth'] = growthOf(written.growth);
  if (Object.keys(changed).length === 0) return null;
  checkGuard(changed);
  return changed;
}

/** @throws ApiError 422 naming the wrong rule */
export function checkGuard(rules: GuardRules): void {
  try {
    checkGuardRules('guard', rules);
  } catch (error) {
    if (!(error instanceof MessagingConfigError)) throw error;
    const [, rule = 'guard', message = error.message] =
      /^guard\.(\w+)[^:]*: (.*)$/s.exec(error.message) ?? [];
    throw invalidField(rule, message);
  }
}

function withCountries(
  before: GuardRules['countries'],
  { only, except, countriesAction }: WrittenGuard,
): Pick<GuardRules, 'countries'> {
  const codes = (list: readonly string[]) =>
    list.flatMap((one) => one.split(',')).filter((one) => one !== '');
  if (only?.includes(OFF) || except?.includes(OFF)) return {};
  if (only === undefined && except === undefined) {
    if (countriesAction === undefined) return before ? { countries: before } : {};
    if (!before) throw invalidField('countries-action', 'needs countries; add --only or --except');
    return { countries: { ...before, action: countriesAction as GuardAction } };
  }
  if (codes([...(only ?? []), ...(except ?? [])]).length === 0)
    throw invalidField('countries', 'must name a country, such as NG');
  const action = countriesAction ?? before?.action;
  return {
    countries: {
      ...(only && { only: codes(only) }),
      ...(except && { except: codes(except) }),
      ...(action !== undefined && { action: action as GuardAction }),
    },
  };
}

function limitOf(text: string): GuardLimit {
  const [limit = '', action] = text.split(':');
  return { limit, ...(action !== undefined && { action: action as GuardAction }) };
}

function growthOf(text: string): Record<string, unknown> {
  const [factor, from, action] = text.split(':');
  return { factor: Number(factor), from: Number(from), ...(action !== undefined && { action }) };
}
