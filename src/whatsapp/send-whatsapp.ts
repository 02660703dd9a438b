import { type FieldError, isPhoneNumber } from '@dundun/messaging';
import {
  isLanguage,
  isTemplateName,
  LANGUAGE_RULE,
  TEMPLATE_NAME_RULE,
} from '../accounts/template.registry.js';
import { invalidFields } from '../http/api-error.js';
import { checkUnknown, numberRemedy } from '../http/request-fields.js';
import { readText } from '../http/text-field.js';

/** The interface names no field for the text. */
export const TEXT_FIELDS = ['text', 'body', 'content'] as const;

/** A WhatsApp send request (interface section 2.3), checked. */
export type SendWhatsApp =
  | {
      readonly type: 'template';
      readonly to: string;
      readonly template: string;
      readonly language: string;
      readonly params: readonly string[];
    }
  | {
      readonly type: 'text';
      readonly to: string;
      readonly text: string;
      /** The name under which the caller sent the text. */
      readonly textField: (typeof TEXT_FIELDS)[number];
    };

type Request = Readonly<Record<string, unknown>>;

const TEMPLATE_FIELDS = ['template_name', 'language', 'params'] as const;
const FIELDS = new Set<string>(['to', 'message_type', ...TEMPLATE_FIELDS, ...TEXT_FIELDS]);
const MOST_ERRORS = 10;
const LONGEST_PARAM = 4_096;

/** @throws ApiError 422 naming every wrong field */
export function readSendWhatsApp(request: Request): SendWhatsApp {
  const errors: FieldError[] = [];
  checkUnknown(request, FIELDS, errors);
  const { to, message_type: type } = request;
  if (!isPhoneNumber(to)) errors.push({ path: 'to', message: numberRemedy(to) });
  if (type !== 'template' && type !== 'text') {
    errors.push({ path: 'message_type', message: 'must be template or text' });
    throw invalidFields(errors);
  }
  const read = type === 'template' ? readTemplate(request, errors) : readFreeText(request, errors);
  if (errors.length > 0) throw invalidFields(errors);
  return { ...read, to: to as string };
}

function readTemplate(request: Request, errors: FieldError[]) {
  refuse(request, TEXT_FIELDS, 'text', errors);
  const { template_name: template, language, params } = request;
  if (!isTemplateName(template))
    errors.push({ path: 'template_name', message: TEMPLATE_NAME_RULE });
  if (!isLanguage(language)) errors.push({ path: 'language', message: LANGUAGE_RULE });
  checkParams(params, errors);
  return {
    type: 'template',
    template: template as string,
    language: language as string,
    params: params as string[],
  } as const;
}

function readFreeText(request: Request, errors: FieldError[]) {
  refuse(request, TEMPLATE_FIELDS, 'template', errors);
  const { text, field } = readText(request, TEXT_FIELDS, errors);
  return { type: 'text', text, textField: field } as const;
}

/** Fields of the other kind of message: a text beside a template would be lost in silence. */
function refuse(
  request: Request,
  fields: readonly string[],
  kind: SendWhatsApp['type'],
  errors: FieldError[],
): void {
  for (const path of fields)
    if (request[path] !== undefined)
      errors.push({ path, message: `goes with message_type ${kind} alone` });
}

function checkParams(params: unknown, errors: FieldError[]): void {
  if (!Array.isArray(params)) {
    errors.push({ path: 'params', message: 'must be a list of texts, empty where there are none' });
    return;
  }
  const wrong = [...params.entries()].filter(([, value]) => !isParam(value));
  for (const [place] of wrong.slice(0, MOST_ERRORS))
    errors.push({
      path: `params[${place}]`,
      message: `must be a text of at most ${LONGEST_PARAM} characters`,
    });
}

function isParam(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_PARAM && !/[\0\p{Cs}]/u.test(value);
}
