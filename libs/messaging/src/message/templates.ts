import { isMessageCategory, MESSAGE_CATEGORIES, type MessageCategory } from './message.js';
import { type FieldError, MessageValidationError, MessagingConfigError } from './errors.js';
import { own } from './report-fields.js';

/** A message template that the platform approved. */
export interface TemplateDefinition {
  /** Language code, such as `en` or `pt_BR`; a message may name another one. */
  readonly language: string;
  readonly category?: MessageCategory;
  /** Names of the parameters in the order of their positions, or the number of parameters. */
  readonly params: readonly string[] | number;
  /**
   * The approved template has variables with the names of `params`, such as `{{order}}`.
   * @default it has them by position, such as `{{1}}`; of a `synced` template as the platform lists it
   */
  readonly named?: boolean;
  /**
   * Characters of its body without the variables, so that a message is refused that would be longer
   * than WhatsApp takes. @default not counted, or as the platform lists the template
   */
  readonly fixedLength?: number;
}

/** The definition of a template with its name, made by {@link defineTemplates}. */
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
const VARIABLE = /^\w{1,100}$/;
/** Most characters of a body with its parameters filled in. */
const LONGEST_BODY = 1_024;

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

function defined(
  name: string,
  { language, category, params, named, fixedLength }: TemplateDefinition,
): Template {
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
  const isFlag = named === undefined || typeof named === 'boolean';
  check(isFlag, '.named', 'must be true or false');
  const mayBeNamed = areNames && params.every((one) => VARIABLE.test(one));
  check(
    !named || mayBeNamed,
    '.params',
    'must be the names at the platform, of letters, digits and _',
  );
  const isLength = Number.isSafeInteger(fixedLength) && Number(fixedLength) >= 0;
  check(fixedLength === undefined || isLength, '.fixedLength', 'must be a number of characters');
  return {
    name,
    language,
    params,
    ...(category !== undefined && { category }),
    ...(named !== undefined && { named }),
    ...(fixedLength !== undefined && { fixedLength }),
  };
}

export function isTemplateName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}

export function isLanguage(value: unknown): value is string {
  return typeof value === 'string' && LANGUAGE.test(value);
}

/** Why the platform refuses the text as a parameter of a body or header; `undefined`: it does not. */
export function paramFault(value: unknown): string | undefined {
  if (value === undefined) return 'is missing';
  if (typeof value !== 'string' || /[\0\p{Cs}]/u.test(value))
    return 'must be a text without NUL and half characters';
  if (value.trim() === '') return 'must not be empty: WhatsApp refuses the message';
  if (/[\t\n\v\f\r\u0085\u2028\u2029]| {5}/.test(value))
    return 'must have no line break, no tab and at most four spaces in a row: WhatsApp refuses them';
  return undefined;
}

/**
 * Why the platform refuses the body that these parameters make, with the place of the longest one;
 * `undefined`: it does not.
 * @param fixedLength characters of the body without the variables, where they are known
 */
export function templateBodyFault(
  fixedLength: number | null | undefined,
  params: readonly string[],
): { readonly longest: number; readonly message: string } | undefined {
  const lengths = params.map((param) => Array.from(param).length);
  const length = lengths.reduce((sum, one) => sum + one, fixedLength ?? 0);
  if (length <= LONGEST_BODY) return undefined;
  return {
    longest: lengths.indexOf(Math.max(...lengths)),
    message: `makes the body ${length} characters long; WhatsApp takes at most ${LONGEST_BODY}`,
  };
}

/** The values in the order of their positions; adds errors by field to `errors`. */
export function placedParams(
  given: unknown = [],
  template: Pick<Template, 'name' | 'params' | 'fixedLength'> | undefined,
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
  for (const [path, value] of fields) {
    const fault = paramFault(value);
    if (fault !== undefined) refuse(fault, path);
  }
  const texts = fields.filter((field): field is [string, string] => typeof field[1] === 'string');
  const values = texts.map(([, value]) => value);
  const tooLong = templateBodyFault(template?.fixedLength, values);
  const [path] = (tooLong && texts[tooLong.longest]) ?? [];
  if (tooLong && path !== undefined) refuse(tooLong.message, path);
  return fields.map(([, value]) => (typeof value === 'string' ? value : ''));
}

/**
 * The platform's state of a template; only an `approved` one can be sent. `rejected`: also one that
 * the platform disabled or deleted.
 */
export const TEMPLATE_STATUSES = ['approved', 'pending', 'rejected', 'paused'] as const;

export type PlatformTemplateStatus = (typeof TEMPLATE_STATUSES)[number];

/** A change of a template's status, as a callback reports it. */
export interface TemplateStatusUpdate {
  /** The business account at the platform. */
  readonly account: string;
  readonly name: string;
  readonly language: string;
  readonly status: PlatformTemplateStatus;
}

/** A template as the platform lists it. */
export interface PlatformTemplate {
  readonly name: string;
  readonly language: string;
  readonly status: PlatformTemplateStatus;
  /** `null`: a category without a price of its own. */
  readonly category: MessageCategory | null;
  /** Number of the variables of its body; their names, in order, where it has them by name. */
  readonly params: number | readonly string[];
  /** Characters of its body without the variables. @default unknown */
  readonly fixedLength?: number;
  /** Text of its body, with `{{1}}` or `{{name}}` in the place of values. @default unknown */
  readonly body?: string;
}

/** The platform does not send this template now; nothing was stored. */
export class TemplateNotApprovedError extends MessageValidationError {
  constructor(
    readonly template: string,
    /** `''`: the message named none. */
    readonly language: string,
    /** `null`: the platform has no such template. */
    readonly status: PlatformTemplateStatus | null,
  ) {
    const name = language === '' ? template : `${template} in ${language}`;
    const state = status === null ? 'is not known at the platform' : `is ${status} at the platform`;
    const message = `${name} ${state}; send an approved template`;
    super([{ path: 'template', message }], 'template_not_approved');
  }
}

/**
 * The templates of the platform, as it listed them last and as callbacks changed them since; in the
 * memory of each process. Before the first list nothing is known, and messages may name any template.
 */
export class SyncedTemplates {
  #templates: Map<string, Map<string, PlatformTemplate>> | undefined;
  /** Updates since the list that is being read was asked for, which may be older than they are. */
  #meanwhile: TemplateStatusUpdate[] = [];

  /** @param read the templates of each business account */
  async replace(read: () => Promise<readonly (readonly PlatformTemplate[])[]>): Promise<void> {
    this.#meanwhile = [];
    const lists = await read();
    const templates = new Map<string, Map<string, PlatformTemplate>>();
    for (const template of lists.flat()) {
      const { name, language } = template;
      const languages = templates.get(name) ?? new Map<string, PlatformTemplate>();
      // A template of two business accounts is sent by the one that has it approved.
      if (languages.get(language)?.status !== 'approved') languages.set(language, template);
      templates.set(name, languages);
    }
    this.#templates = templates;
    this.#apply(this.#meanwhile);
  }

  /** A template that is not listed yet comes with the next list. */
  update(updates: readonly TemplateStatusUpdate[]): void {
    this.#meanwhile.push(...updates);
    this.#apply(updates);
  }

  #apply(updates: readonly TemplateStatusUpdate[]): void {
    for (const { name, language, status } of updates) {
      const languages = this.#templates?.get(name);
      const known = languages?.get(language);
      if (known) languages?.set(language, { ...known, status });
    }
  }

  /** Empty before the first list. */
  all(): PlatformTemplate[] {
    const languages = [...(this.#templates?.values() ?? [])];
    return languages.flatMap((templates) => [...templates.values()]);
  }

  /**
   * @param language @default one that is approved
   * @returns `undefined` before the first list
   * @throws TemplateNotApprovedError
   */
  find(name: string, language?: string): PlatformTemplate | undefined {
    if (!this.#templates) return undefined;
    const languages = this.#templates.get(name);
    const all = [...(languages?.values() ?? [])];
    const found =
      language === undefined
        ? (all.find(({ status }) => status === 'approved') ?? all[0])
        : languages?.get(language);
    if (found?.status !== 'approved')
      throw new TemplateNotApprovedError(name, language ?? '', found?.status ?? null);
    return found;
  }
}
