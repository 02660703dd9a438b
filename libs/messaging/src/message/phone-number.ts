import metadata from 'libphonenumber-js/metadata.min';

const NUMBER = /^[1-9]\d{6,14}$/;

/** Digits with country code, 7–15 of them (E.164 without the plus). */
export function isPhoneNumber(value: unknown): value is string {
  return typeof value === 'string' && NUMBER.test(value);
}

/**
 * Removes a leading plus, spaces, dashes, dots and brackets, and the prefix that is dialled within
 * the country only: `+44 (0)20 7946 0958` is 442079460958.
 */
export function normalisePhoneNumber(value: string): string {
  const digits = digitsOf(value);
  return (isPhoneNumber(digits) && withoutTrunkPrefix(digits)) || digits;
}

/** Removes a leading plus, spaces, dashes, dots and brackets alone. */
export function digitsOf(value: string): string {
  return value.trim().replace(/^\+|[\s\-().]/g, '');
}

/** `23480******78`: distinguishable in a log, not callable. */
export function maskPhoneNumber(value: string): string {
  return value.length < 8
    ? '****'
    : `${value.slice(0, 5)}${'*'.repeat(value.length - 7)}${value.slice(-2)}`;
}

/** How the numbers of a calling code are written after the code. */
export interface NumberingPlan {
  /** Numbers as they are dialled from abroad. */
  readonly national: RegExp;
  /** What is dialled before them within the country. */
  readonly prefix: RegExp;
  /** Replaces the prefix where it matched a group, such as the area code before Argentina's 15. */
  readonly transform: string | undefined;
  /** The prefix as people write it: `06` of Hungary, `0` and `8` of Lithuania. */
  readonly prefixes: readonly string[];
}

const plans = new Map<string, NumberingPlan | undefined>();

const lengthsIn = (lengths: unknown) =>
  (lengths as readonly number[]).map((length) => `.{${length}}`).join('|');

/** The plan of the code's main country in libphonenumber's metadata, as far as it has a prefix. */
export function planOf(code: string): NumberingPlan | undefined {
  if (plans.has(code)) return plans.get(code);
  const { country_calling_codes: codes, countries } = metadata;
  const countriesOf: Readonly<Record<string, readonly string[] | undefined>> = codes;
  const rows: Readonly<Record<string, readonly unknown[] | undefined>> = countries;
  const [main = ''] = countriesOf[code] ?? [];
  // The positions of libphonenumber's METADATA.md.
  const { 2: national, 3: lengths, 5: dialled, 7: parsed, 8: transform } = rows[main] ?? [];
  const [prefix] = [parsed, dialled].filter((given) => typeof given === 'string');
  const pattern = new RegExp(`^(?:${prefix ?? ''})`);
  const plan =
    prefix === undefined
      ? undefined
      : {
          national: new RegExp(`^(?=(?:${lengthsIn(lengths)})$)(?:${String(national)})$`),
          prefix: pattern,
          transform: typeof transform === 'string' ? transform : undefined,
          prefixes: ['0', '06', '1', '8'].filter(
            (one) => one === '0' || one === dialled || pattern.exec(one)?.[0] === one,
          ),
        };
  plans.set(code, plan);
  return plan;
}

/**
 * The number without the prefix that is dialled within its country only, mostly a zero:
 * 442079460958 for 4402079460958, 12125550123 for 112125550123. `undefined`: it has none, as Italy's
 * and Ivory Coast's numbers, where a zero after the code is a digit of the number. Reads
 * libphonenumber's metadata as its parser does, in a thirtieth of the time: most numbers end at the
 * comparison of a digit.
 */
export function withoutTrunkPrefix(number: string): string | undefined {
  for (let length = 1; length <= 3; length++) {
    const next = number[length];
    if (next !== '0' && next !== '1' && next !== '8') continue;
    const code = number.slice(0, length);
    const plan = planOf(code);
    if (!plan?.prefixes.includes(next)) continue;
    const given = number.slice(length);
    const dialled = plan.national.test(given) ? null : plan.prefix.exec(given);
    if (!dialled?.[0].startsWith(next)) continue;
    const hasGroup = dialled.length > 1 && dialled.at(-1);
    const national =
      plan.transform !== undefined && hasGroup
        ? given.replace(plan.prefix, plan.transform)
        : given.slice(dialled[0].length);
    if (plan.national.test(national)) return code + national;
  }
  return undefined;
}

/** The texts from which {@link withoutTrunkPrefix} makes this number. */
export function withTrunkPrefix(number: string): string[] {
  if (!isPhoneNumber(number)) return [];
  return [1, 2, 3]
    .flatMap((length) => {
      const [code, rest] = [number.slice(0, length), number.slice(length)];
      return (planOf(code)?.prefixes ?? []).map((prefix) => code + prefix + rest);
    })
    .filter((form) => withoutTrunkPrefix(form) === number);
}
