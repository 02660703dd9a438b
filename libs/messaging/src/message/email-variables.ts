import type { EmailContent, Personal } from './email-content.js';
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
    for (const [, name] of text?.matchAll(VARIABLE) ?? []) {
      names.add(name as string);
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
 * The content for one recipient: its variables replaced in subject, text and html, there with
 * `&`, `<`, `>` and quotes escaped. Without `personal` the content itself.
 */
export function personalised(content: EmailContent, personal: Personal | undefined): EmailContent {
  if (!personal) return content;
  const replaced = (text: string, form: (value: string) => string = String) =>
    text.replaceAll(VARIABLE, (whole, name: string) => {
      const value = valueOf(personal, name);
      return value === undefined ? whole : form(value);
    });
  const { subject, text, html } = content;
  return {
    ...content,
    subject: replaced(subject),
    ...(text !== undefined && { text: replaced(text) }),
    ...(html !== undefined && { html: replaced(html, escaped) }),
  };
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
