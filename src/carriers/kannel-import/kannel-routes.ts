import type { KannelGroup } from './kannel-file.js';
import type { WithoutCounterpart } from './kannel-remedies.js';

/** Which numbers an SMSC takes, by their beginnings with country code. */
interface Takes {
  readonly name: string;
  readonly at: string;
  /** It has a list of those that it takes. */
  readonly isLimited: boolean;
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
  readonly preferred: readonly string[];
  /** Prefixes that are no beginnings of a number with its country code. */
  readonly national: boolean;
}

/** @param smsc an SMSC by the name of its carrier */
export function takesOf(smsc: { readonly name: string; readonly group: KannelGroup }): Takes {
  const { name, group } = smsc;
  const { at, values } = group;
  const [allowed, denied, preferred] = ['allowed', 'denied', 'preferred'].map((kind) =>
    (values.get(`${kind}-prefix`) ?? '').split(';').flatMap((one) => one.trim() || []),
  ) as [string[], string[], string[]];
  const national = [...allowed, ...denied, ...preferred].some((one) => digitsOf(one) === undefined);
  const known = (all: readonly string[]) => all.flatMap((one) => digitsOf(one) ?? []);
  return {
    name,
    at,
    isLimited: allowed.length > 0,
    allowed: known(allowed),
    denied: known(denied),
    preferred: known(preferred),
    national,
  };
}

/** `+358` and `00358` are 358. */
function digitsOf(prefix: string): string | undefined {
  const [, digits] = /^(?:\+|00)?([1-9]\d{0,14})$/.exec(prefix) ?? [];
  return digits;
}

/** A rule of `CARRIERS_FILE`. */
interface Rule {
  readonly channel: 'sms';
  readonly to?: readonly string[];
  readonly use: string | { readonly failover: readonly string[] };
}

/**
 * A rule for the beginnings that SMSCs name, the longest first, then one for every other number; in each the
 * SMSCs that Kannel would choose from, preferred ones first.
 */
export function routesOf(all: readonly Takes[]): {
  readonly routes: readonly Rule[];
  readonly without: readonly WithoutCounterpart[];
} {
  const named = all.flatMap((one) => [...one.allowed, ...one.denied, ...one.preferred]);
  const prefixes = [...new Set(named)].toSorted(
    (a, b) => b.length - a.length || a.localeCompare(b),
  );
  const routes: Rule[] = [];
  for (const prefix of prefixes) {
    const use = useOf(takersOf(all, prefix));
    const last = routes.at(-1);
    if (use === undefined) continue;
    // One rule after another with the same SMSCs is one.
    if (last && JSON.stringify(last.use) === JSON.stringify(use)) {
      const { to = [] } = routes.pop() ?? {};
      routes.push({ channel: 'sms', to: [...to, prefix], use });
    } else routes.push({ channel: 'sms', to: [prefix], use });
  }
  const use = useOf(takersOf(all, ''));
  if (use !== undefined) routes.push({ channel: 'sms', use });
  return { routes, without: unroutedOf(all, prefixes) };
}

function useOf(names: readonly string[]): Rule['use'] | undefined {
  return names.length > 1 ? { failover: names } : names[0];
}

/** What of the prefixes no rule can say. */
function unroutedOf(all: readonly Takes[], prefixes: readonly string[]): WithoutCounterpart[] {
  const told = (at: string, what: string, remedy: string) => ({ at, what: `smsc${what}`, remedy });
  const refused = prefixes.filter((prefix) => takersOf(all, prefix).length === 0);
  const others = all.flatMap(({ name, at, denied, national }) => [
    // Numbers of a prefix without an SMSC would fit the last rule.
    ...(denied.some((prefix) => refused.includes(prefix))
      ? [
          told(
            at,
            ` ${name}: denied-prefix`,
            'a rule cannot refuse numbers: name in `to` of the last rule those that it carries',
          ),
        ]
      : []),
    ...(national
      ? [
          told(
            at,
            ` ${name}: a prefix without country code`,
            'numbers of the gateway have their country code: write it in `to` of a rule',
          ),
        ]
      : []),
  ]);
  if (takersOf(all, '').length < 2) return others;
  const remedy =
    'the rules fail over in the order of the file; to share the load write `{"weighted": {…}}`';
  return [...others, told(all[0]?.at ?? '', ': the share of the load that each gets', remedy)];
}

/** As Kannel: with both lists, a number is refused that is denied and not allowed. */
function takersOf(all: readonly Takes[], number: string): string[] {
  const begins = (prefixes: readonly string[]) => prefixes.some((one) => number.startsWith(one));
  const takers = all.filter(
    ({ isLimited, allowed, denied }) =>
      (!isLimited || begins(allowed) || denied.length > 0) && (begins(allowed) || !begins(denied)),
  );
  const preferred = takers.filter((one) => begins(one.preferred));
  return [...new Set([...preferred, ...takers])].map(({ name }) => name);
}
