import type { KannelGroup } from './kannel-file.js';
import type { WithoutCounterpart } from './kannel-remedies.js';

/** Which numbers an SMSC takes, by their beginnings with country code. */
interface Takes {
  readonly name: string;
  readonly at: string;
  /** Empty: every number, but those that are denied. */
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

/**
 * A rule for each beginning that an SMSC names, the longest first, then one for every other number; in
 * each the SMSCs that Kannel would choose from, preferred ones first.
 */
export function routesOf(all: readonly Takes[]): {
  readonly routes: readonly object[];
  readonly without: readonly WithoutCounterpart[];
} {
  const named = all.flatMap(({ allowed, denied, preferred }) => [
    ...allowed,
    ...denied,
    ...preferred,
  ]);
  const prefixes = [...new Set(named)].toSorted(
    (a, b) => b.length - a.length || a.localeCompare(b),
  );
  const without: WithoutCounterpart[] = [];
  const routes = [...prefixes, ''].flatMap((prefix) => {
    const names = takersOf(all, prefix);
    if (names.length > 0)
      return {
        channel: 'sms',
        ...(prefix !== '' && { to: [prefix] }),
        use: names.length === 1 ? names[0] : { failover: names },
      };
    // Numbers of a prefix without an SMSC would fit the last rule.
    for (const { name, at, denied } of all)
      if (denied.includes(prefix))
        without.push({
          at,
          what: `smsc ${name}: denied-prefix`,
          remedy:
            'a rule cannot refuse numbers: name in `to` of the last rule those that it carries',
        });
    return [];
  });
  for (const { name, at, national } of all)
    if (national)
      without.push({
        at,
        what: `smsc ${name}: a prefix without country code`,
        remedy: 'numbers of the gateway have their country code: write it in `to` of a rule',
      });
  if (takersOf(all, '').length > 1)
    without.push({
      at: all[0]?.at ?? '',
      what: 'smsc: the share of the load that each gets',
      remedy:
        'the rules fail over in the order of the file; to share the load write `{"weighted": {…}}`',
    });
  return { routes, without };
}

/** As Kannel: with both lists, a number is refused that is denied and not allowed. */
function takersOf(all: readonly Takes[], number: string): string[] {
  const begins = (prefixes: readonly string[]) => prefixes.some((one) => number.startsWith(one));
  const takers = all.filter(
    ({ allowed, denied }) =>
      (allowed.length === 0 || begins(allowed) || denied.length > 0) &&
      (begins(allowed) || !begins(denied)),
  );
  const preferred = takers.filter((one) => begins(one.preferred));
  return [...new Set([...preferred, ...takers])].map(({ name }) => name);
}
