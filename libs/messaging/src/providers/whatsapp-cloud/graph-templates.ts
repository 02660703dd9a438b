import { isMessageCategory, type MessageCategory } from '../../message/message.js';
import {
  isLanguage,
  isTemplateName,
  type PlatformTemplate,
  type PlatformTemplateStatus,
  type TemplateStatusUpdate,
} from '../../message/templates.js';
import { identifier, own, word } from '../../message/report-fields.js';

/**
 * Meta's words for the status of a template and for its changes. Others say nothing of whether it can
 * be sent: a locked template cannot be edited, and a limit is the account's.
 */
const STATUSES: ReadonlyMap<string, PlatformTemplateStatus> = new Map([
  ['APPROVED', 'approved'],
  ['REINSTATED', 'approved'],
  ['UNARCHIVED', 'approved'],
  ['FLAGGED', 'approved'],
  ['PENDING', 'pending'],
  ['IN_APPEAL', 'pending'],
  ['PAUSED', 'paused'],
  ['REJECTED', 'rejected'],
  ['DISABLED', 'rejected'],
  ['DELETED', 'rejected'],
  ['PENDING_DELETION', 'rejected'],
  ['ARCHIVED', 'rejected'],
]);

/** `undefined` for an entry that is no template. */
export function templateOf(entry: unknown): PlatformTemplate | undefined {
  const [name, language] = [own(entry, 'name'), own(entry, 'language')];
  if (!isTemplateName(name) || !isLanguage(language)) return undefined;
  return {
    name,
    language,
    // A word that came after this was written: Meta does not say that it can be sent.
    status: STATUSES.get(word(own(entry, 'status'))?.toUpperCase() ?? '') ?? 'pending',
    category: categoryOf(own(entry, 'category')),
    ...variablesOf(entry),
  };
}

/**
 * The change of a webhook of the field `message_template_status_update`; `undefined`: an unreadable
 * one. `null`: one that leaves a template as it is.
 * @param account the entry of the webhook, whose id is that of the business account
 * @see https://developers.facebook.com/docs/whatsapp/business-management-api/webhooks/components
 */
export function templateUpdateOf(
  account: unknown,
  value: unknown,
): TemplateStatusUpdate | null | undefined {
  const id = identifier(own(account, 'id'));
  const name = own(value, 'message_template_name');
  const language = own(value, 'message_template_language');
  const event = word(own(value, 'event'))?.toUpperCase();
  if (id === null || !isTemplateName(name) || !isLanguage(language) || event === undefined)
    return undefined;
  const status = STATUSES.get(event);
  return status === undefined ? null : { account: id, name, language, status };
}

function categoryOf(given: unknown): MessageCategory | null {
  const category = word(given)?.toLowerCase();
  return isMessageCategory(category) ? category : null;
}

const VARIABLE = /\{\{\s*(\w+)\s*\}\}/g;

/**
 * Variables of the body, each once: how many (`{{1}}`, `{{2}}`), or their names (`{{order}}`); and the
 * characters beside them, and the body itself.
 */
function variablesOf(template: unknown): Pick<PlatformTemplate, 'params' | 'fixedLength' | 'body'> {
  const components = own(template, 'components');
  const all: readonly unknown[] = Array.isArray(components) ? components : [];
  const body = all.find((one) => word(own(one, 'type'))?.toUpperCase() === 'BODY');
  const text = own(body, 'text');
  if (typeof text !== 'string') return { params: 0 };
  const names = [...new Set([...text.matchAll(VARIABLE)].map(([, name = '']) => name))];
  const isNamed = word(own(template, 'parameter_format'))?.toUpperCase() === 'NAMED';
  const fixedLength = Array.from(text.replace(VARIABLE, '')).length;
  return { params: isNamed ? names : names.length, fixedLength, body: text };
}
