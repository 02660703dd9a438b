import { hash } from 'node:crypto';
import type { Choice, RouteRule } from '../ports/route-options.js';

/** Which of them a recipient has depends on what they cost. */
export function comparesCosts({ use, maxPrice }: RouteRule): boolean {
  return maxPrice !== undefined || cheapestIn(use).length > 0;
}

/** Providers that the rule compares by their costs. */
export function comparedIn({ use, maxPrice }: RouteRule): readonly string[] {
  return maxPrice === undefined ? cheapestIn(use) : namesIn(use);
}

/** Each `best()` of the choice, with the providers in its order. */
export function bestIn(choice: Choice): readonly (readonly string[])[] {
  if ('best' in choice) return [choice.best];
  return 'provider' in choice || 'cheapest' in choice ? [] : partsOf(choice).flatMap(bestIn);
}

function cheapestIn(choice: Choice): readonly string[] {
  if ('provider' in choice || 'best' in choice) return [];
  if ('cheapest' in choice) return choice.cheapest;
  return partsOf(choice).flatMap(cheapestIn);
}

function partsOf(
  choice: Extract<Choice, { readonly failover: unknown } | { readonly weighted: unknown }>,
): readonly Choice[] {
  return 'failover' in choice ? choice.failover : choice.weighted.map((part) => part.choice);
}

/**
 * The choice for one recipient.
 * @param order the providers whose cost for it is known, the cheapest first
 * @param isLimited none but those of `order` may be used
 */
export function within(
  choice: Choice,
  order: readonly string[],
  isLimited: boolean,
): Choice | undefined {
  const inner = (one: Choice) => within(one, order, isLimited);
  if ('provider' in choice)
    return !isLimited || order.includes(choice.provider) ? choice : undefined;
  if ('cheapest' in choice) {
    const left = order.filter((name) => choice.cheapest.includes(name));
    return left.length > 0 ? { failover: left.map((provider) => ({ provider })) } : undefined;
  }
  if ('best' in choice) {
    const left = choice.best.filter((name) => !isLimited || order.includes(name));
    return left.length > 0 ? { best: left } : undefined;
  }
  if ('failover' in choice) {
    const left = choice.failover.flatMap((one) => inner(one) ?? []);
    return left.length > 0 ? { failover: left } : undefined;
  }
  const left = choice.weighted.flatMap(({ choice: one, weight }) => {
    const use = inner(one);
    return use ? [{ choice: use, weight }] : [];
  });
  return left.length > 0 ? { weighted: left } : undefined;
}

export function nameOf(choice: Choice): string | undefined {
  return 'provider' in choice ? choice.provider : undefined;
}

/** Every provider that the choice may name, each once, in the order of the rule. */
export function namesIn(choice: Choice): string[] {
  if ('provider' in choice) return [choice.provider];
  if ('cheapest' in choice) return [...new Set(choice.cheapest)];
  if ('best' in choice) return [...new Set(choice.best)];
  return [...new Set(partsOf(choice).flatMap(namesIn))];
}

/** As {@link namesIn}, with providers as often as one failover may try them. */
export function alternativesIn(choice: Choice): string[] {
  if ('provider' in choice) return [choice.provider];
  // Another weight may choose the same provider; one submission has one of them.
  if ('weighted' in choice) return [];
  if ('cheapest' in choice) return [...choice.cheapest];
  if ('best' in choice) return [...choice.best];
  return choice.failover.flatMap(alternativesIn);
}

/**
 * The providers of a submission, in order; those of a weighted choice follow from its id.
 * @param rank the order of the providers of a `best()`
 */
export function namesOf(
  choice: Choice,
  id: string,
  path: string,
  rank: (names: readonly string[]) => readonly string[],
): string[] {
  if ('provider' in choice) return [choice.provider];
  if ('cheapest' in choice) return [...choice.cheapest];
  if ('best' in choice) return [...rank(choice.best)];
  if ('failover' in choice)
    return choice.failover.flatMap((one, n) => namesOf(one, id, `${path}.${n}`, rank));
  const all = choice.weighted.reduce((sum, { weight }) => sum + weight, 0);
  let left = shareOf(`${id}${path}`) * all;
  for (const [n, { choice: one, weight }] of choice.weighted.entries()) {
    left -= weight;
    if (left < 0 || n === choice.weighted.length - 1) return namesOf(one, id, `${path}.${n}`, rank);
  }
  return [];
}

/** Even in 0 … 1, the same for the same text. */
function shareOf(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6) / 2 ** 48;
}
