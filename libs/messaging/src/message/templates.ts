import { isMessageCategory, MESSAGE_CATEGORIES, type MessageCategory } from './message.js';
import { type FieldError, MessagingConfigError } from './errors.js';
import { own } from './report-fields.js';

/** A message template that the platform approved (interface section 2.3). */
export interface TemplateDefinition {
  /** Language code, such as `en` or `pt_BR`; a message may name another one. */
  readonly language: string;
  readonly category?: MessageCategory;
  /** Names of the parameters in the order of their positions, or the number of parameters. */
  readonly params: readonly string[] | number;
}

/** A {@link TemplateDefinition} with its name, made by {@link defineTemplates}. */
export interface Template<
  P extends TemplateDefinition['params'] = TemplateDefinition['params'],
> extends TemplateDefinition {
  readonly name: string;
  readonly params: P;
}

type Places<N extends number, Filled extends string[] = []> = number extends N
  ? readonly string[]
  : Filled['length'] extends N
    ? Readonly<Filled>
    : Places<N, [...Filled, string]>;

/** Parameters of a template: values by name, or one value per position. */
export type TemplateParams<P extends TemplateDefinition['params']> = P extends readonly string[]
  ? Readonly<Record<P[number], string>> | { readonly [Place in keyof P]: string }
  : P extends number
    ? Places<P>
    : never;

export type Templates<D extends Readonly<Record<string, TemplateDefinition>>> = {
  readonly [Name in keyof D & string]: Template<D[Name]['params']> & { readonly name: Name };
};

const NAME = /^[\x21-\x7e]{1,255}$/;
const LANGUAGE = /^[A-Za-z]{2,8}(?:[_-][A-Za-z0-9]{2,8})*$/;
const LONGEST_PARAM = 4_096;

/**
 * Defines the app's templates by their approved names. The compiler and the library check the
 * parameters of `sendTemplate()` against them.
 * @throws MessagingConfigError naming the template and the field
 * @example
 * export const templates = defineTemplates({
 *   order_update: { language: 'en', category: 'utility', params: ['name', 'order'] },
 * });
 * await whatsApp.sendTemplate({ to, template: templates.order_update, params: { name, order } });
 */
export function defineTemplates<const D extends Readonly<Record<string, TemplateDefinition>>>(
  definitions: D,
): Templates<D> {
  return Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [name, defined(name, definition)]),
  ) as unknown as Templates<D>;
}

function defined(name: string, { language, category, params }: TemplateDefinition): Template {
  const check = (sound: boolean, field: string, message: string) => {
    if (!sound) throw new MessagingConfigError(`templates.${name}${field}: ${message}`);
  };
  const isCount = Number.isSafeInteger(params) && Number(params) >= 0;
  const areNames = Array.isArray(params) && new Set(params).size === params.length;
  check(isTemplateName(name), '', 'must be 1 to 255 visible ASCII characters');
  check(isLanguage(language), '.language', "must be a language code, such as 'en' or 'pt_BR'");
  if (category !== undefined)
    check(isMessageCategory(category), '.category', `must be ${MESSAGE_CATEGORIES.join(', ')}`);
  check(isCount || areNames, '.params', 'must be different names, or how many there are');
  return { name, language, params, ...(category !== undefined && { category }) };
}

export function isTemplateName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}

export function isLanguage(value: unknown): value is string {
  return typeof value === 'string' && LANGUAGE.test(value);
}

/** The values in the order of their positions; adds errors by field to `errors`. */
export function placedParams(
  given: unknown = [],
  template: Pick<Template, 'name' | 'params'> | undefined,
  errors: FieldError[],
): string[] {
  const refuse = (message: string, path = 'params'): string[] => {
    errors.push({ path, message });
    return [];
  };
  if (typeof given !== 'object' || given === null) return refuse('must be an array of texts');
  const names = typeof template?.params === 'number' ? undefined : template?.params;
  let fields: readonly (readonly [path: string, value: unknown])[];
  if (Array.isArray(given)) {
    const wanted = names?.length ?? template?.params;
    if (wanted !== undefined && given.length !== wanted)
      refuse(
        `must have ${String(wanted)} entries, as template ${template?.name} does; it has ${given.length}`,
      );
    fields = given.map((value: unknown, place) => [`params[${place}]`, value]);
  } else {
    if (!names) return refuse('must be an array: the names of the parameters are unknown');
    for (const name of Object.keys(given))
      if (!names.includes(name)) refuse(`is none of ${names.join(', ')}`, `params.${name}`);
    fields = names.map((name) => [`params.${name}`, own(given, name)]);
  }
  for (const [path, value] of fields)
    if (typeof value !== 'string' || value.length > LONGEST_PARAM || /[\0\p{Cs}]/u.test(value))
      refuse(`must be a text of at most ${LONGEST_PARAM} characters`, path);
  return fields.map(([, value]) => value as string);
}
