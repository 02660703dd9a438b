import { readFileSync } from 'node:fs';
import type { Route } from '@dundun/messaging';
import type { BestOptions } from '@dundun/messaging/ports';
import { load as parseYaml, YAMLException } from 'js-yaml';
import { type Origin, named, type Source, type Written, type WrittenCarrier } from './written.js';

/** Most bytes of the file. */
const MOST = 1_048_576;

const NAME = /^[a-z0-9][a-z0-9._-]{0,31}$/;

const CURRENCY = /^[A-Z]{3}$/;

const VARIABLE = /\$\{([^}]*)\}/g;

/**
 * Reads JSON or YAML. Values are never in the problems, as they may be secrets.
 * @param problems gets a line for each, with the key: `CARRIERS_FILE carriers.a.token: …`
 */
export function readCarriersFile(
  path: string,
  source: Source,
  problems: string[],
): Written | undefined {
  const refuse = (key: string, rule: string) =>
    void problems.push(`CARRIERS_FILE${key === '' ? '' : ` ${key}`}: ${rule}`);
  const file = readWhole(path, refuse);
  if (file === undefined) return undefined;
  const { carriers, routes, best, currency, ...others } = file;
  for (const key of Object.keys(others))
    refuse(key, 'there is no such key; there are carriers, routes, best, currency');
  const isCurrency = typeof currency === 'string' && CURRENCY.test(currency);
  if (currency !== undefined && !isCurrency)
    refuse('currency', 'must be a code of ISO 4217, such as USD');
  if (!isObject(carriers) || Object.keys(carriers).length === 0)
    refuse(
      'carriers',
      'must be an object of carriers by their names, such as {"a": {"type": "http", "url": "…"}}',
    );
  if (!Array.isArray(routes) || routes.length === 0)
    refuse('routes', 'must be a list of rules, such as [{"channel": "sms", "use": "a"}]');
  if (!isObject(carriers) || !Array.isArray(routes)) return undefined;
  const read = Object.entries(carriers).flatMap(([name, carrier]) => {
    const key = `carriers.${name}`;
    if (!NAME.test(name))
      refuse(
        key,
        'the name must be 1 to 32 lower-case letters, digits, dots, dashes or underscores',
      );
    const written = writtenIn(key, carrier, source, refuse);
    return written ? [{ name, role: 'file' as const, origin: originOf(key), ...written }] : [];
  });
  return {
    carriers: read,
    // The library checks it.
    ...(best !== undefined && { best: best as BestOptions }),
    ...(isCurrency && { currency }),
    // The library checks the rules. Prefixes without quotes are numbers in YAML.
    routes: routes.map((route: unknown) =>
      isObject(route) && Array.isArray(route['to'])
        ? {
            ...route,
            to: route['to'].map((one: unknown) => (typeof one === 'number' ? String(one) : one)),
          }
        : route,
    ) as unknown as readonly Route[],
  };
}

type Refuse = (key: string, rule: string) => void;

function readWhole(path: string, refuse: Refuse): Record<string, unknown> | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    refuse('', `${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
    return undefined;
  }
  if (text.length > MOST) {
    refuse('', `${path} is larger than ${MOST} bytes`);
    return undefined;
  }
  try {
    // JSON is YAML, except that the parser finds a key that is written twice.
    const whole: unknown = parseYaml(text, { maxAliases: 0 });
    if (isObject(whole)) return whole;
    refuse('', `${path} must be an object with carriers and routes`);
  } catch (error) {
    // The parser's own text may quote a secret of the file.
    const line = error instanceof YAMLException ? error.mark?.line : undefined;
    const at = line === undefined ? '' : `: line ${line + 1}`;
    refuse('', `${path} is neither JSON nor YAML${at}`);
  }
  return undefined;
}

function originOf(key: string): Origin {
  const place = `CARRIERS_FILE ${key}`;
  const wrong = (name: string, rule: string) => `${place}.${name}: ${named(rule, (of) => of)}`;
  return {
    place,
    wrong,
    missing: (name, { optional }) => (optional ? undefined : wrong(name, 'is missing')),
  };
}

function writtenIn(
  key: string,
  given: unknown,
  source: Source,
  refuse: Refuse,
): Pick<WrittenCarrier, 'type' | 'settings'> | undefined {
  const { type, ...others } = isObject(given) ? given : {};
  if (typeof type !== 'string') {
    refuse(`${key}.type`, 'is missing; write the kind of the carrier, such as "type": "http"');
    return undefined;
  }
  const settings: Record<string, string> = {};
  for (const [name, value] of Object.entries(others)) {
    const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
    const isPlain = parts.every((part) => ['string', 'number', 'boolean'].includes(typeof part));
    if (!isPlain)
      refuse(`${key}.${name}`, 'must be a text, a number, true, false, or a list of them');
    else settings[name] = filledIn(`${key}.${name}`, parts.join(','), source, refuse);
  }
  return { type, settings };
}

/** `${NAME}` becomes the variable of the environment. */
function filledIn(key: string, written: string, source: Source, refuse: Refuse): string {
  return written.replace(VARIABLE, (_, name: string) => {
    const value = source[name];
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      refuse(key, 'has a ${…} without the name of a variable, such as ${CARRIER_TOKEN}');
    else if (!value) refuse(key, `names \${${name}}, which the environment does not have; set it`);
    return value ?? '';
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
