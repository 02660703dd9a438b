import type { GuardLimit, GuardRules } from '@dundun/messaging/ports';
import { rateOf } from '@dundun/messaging/values';
import type { WrittenGuard } from '../../accounts/account-guard.js';
import { Choice, List, Text } from '../../http/fields.js';
import { rateText } from '../../settings/parsers.js';
import {
  GUARD_ACTIONS,
  GUARD_COUNTRIES,
  type GuardActionName,
  type GuardForm,
} from '../portal-api.js';

const MOST_COUNTRIES = 250;

const Limit = (): PropertyDecorator => Text({ maxLength: 32 });
const Action = (): PropertyDecorator => Choice(GUARD_ACTIONS);

/** Its values are checked as those of the command line. */
export class GuardBody implements GuardForm {
  @Choice(GUARD_COUNTRIES) readonly countries!: GuardForm['countries'];

  @List({
    items: { type: 'string' },
    maxItems: MOST_COUNTRIES,
    entry: (code) => (typeof code === 'string' ? undefined : 'must be a code'),
    message: `must be a list of up to ${MOST_COUNTRIES} codes`,
  })
  readonly codes!: readonly string[];

  @Action() readonly countriesAction!: GuardActionName;
  @Limit() readonly recipient!: string;
  @Action() readonly recipientAction!: GuardActionName;
  @Limit() readonly prefix!: string;
  @Action() readonly prefixAction!: GuardActionName;
  @Limit() readonly range!: string;
  @Action() readonly rangeAction!: GuardActionName;
  @Limit() readonly growthFactor!: string;
  @Limit() readonly growthFrom!: string;
  @Action() readonly growthAction!: GuardActionName;
}

/** The limits of an account as the form of the page has them. */
export function guardFormOf(rules: GuardRules | null): GuardForm {
  const { countries, recipient, prefix, range, growth } = rules ?? {};
  return {
    countries: countries?.only ? 'only' : countries?.except ? 'except' : 'all',
    codes: countries?.only ?? countries?.except ?? [],
    countriesAction: countries?.action ?? 'deny',
    recipient: limitText(recipient),
    recipientAction: recipient?.action ?? 'deny',
    prefix: limitText(prefix),
    prefixAction: prefix?.action ?? 'deny',
    range: limitText(range),
    rangeAction: range?.action ?? 'deny',
    growthFactor: String(growth?.factor ?? ''),
    growthFrom: String(growth?.from ?? ''),
    growthAction: growth?.action ?? 'deny',
  };
}

function limitText(rule: GuardLimit | undefined): string {
  const { limit = '' } = rule ?? {};
  return typeof limit === 'string' ? limit : rateText(rateOf('limit', limit));
}

/** The same limits as the command line writes them. */
export function writtenGuardOf(form: GuardForm): WrittenGuard {
  const { countries, codes, growthFactor, growthFrom } = form;
  const limit = (name: 'recipient' | 'prefix' | 'range') =>
    form[name] && { [name]: `${form[name]}:${form[`${name}Action`]}` };
  return {
    ...(countries !== 'all' && { [countries]: codes, countriesAction: form.countriesAction }),
    ...limit('recipient'),
    ...limit('prefix'),
    ...limit('range'),
    ...((growthFactor || growthFrom) && {
      growth: `${growthFactor}:${growthFrom}:${form.growthAction}`,
    }),
  };
}
