import type { EmailContent, Personal } from './content/email-content.js';
import type { MessageContent } from './message.js';
import { own } from './report-fields.js';

const VARIABLE = /\{\{\s*([A-Za-z_][\w.-]{0,63})\s*\}\}/g;

/** The name of a variable, without its braces. */
export const VARIABLE_NAME = /^[A-Za-z_][\w.-]{0,63}$/;

/** Names of the variables in the texts, each as `{{name}}`, the first `most`. */
export function variablesIn(
  texts: readonly (string | undefined)[],
  most = Infinity,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const text of texts)
    for (const [, name = ''] of text?.matchAll(VARIABLE) ?? []) {
      names.add(name);
      if (names.size >= most) return names;
    }
  return names;
}

/** The recipient's value; `{{name}}` is the recipient's name unless a variable has that name. */
export function valueOf(personal: Personal | undefined, name: string): string | undefined {
  const value = own(personal?.variables, name) ?? (name === 'name' ? personal?.name : undefined);
  return typeof value === 'string' ? value : undefined;
}

/**
 * The content for one recipient: its variables replaced in the text of a message, or in subject,
 * text and html of an email, in the html with `&`, `<`, `>` and quotes escaped. Without `personal`
 * the content itself.
 */
export function personalised<C extends MessageContent>(
  content: C,
  personal: Personal | undefined,
): C {
  if (!personal) return content;
  if (content.kind === 'text')
    return { ...content, text: replacedIn((content as { text: string }).text, personal) };
  if (content.kind !== 'email') return content;
  const { subject, text, html } = content as EmailContent;
  return {
    ...content,
    subject: replacedIn(subject, personal),
    ...(text !== undefined && { text: replacedIn(text, personal) }),
    ...(html !== undefined && { html: replacedIn(html, personal, escaped) }),
  };
}

/** The text with the recipient's values; a variable without a value stays. */
export function replacedIn(
  text: string,
  personal: Personal,
  form: (value: string) => string = String,
): string {
  return text.replaceAll(VARIABLE, (whole, name: string) => {
    const value = valueOf(personal, name);
    return value === undefined ? whole : form(value);
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(value: string): string {
  return value.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
