/** Billing categories of WhatsApp messages (interface section 2.4); a template's is fixed, a text is `service`. */
export type MessageCategory = 'utility' | 'marketing' | 'authentication' | 'service';

const CATEGORIES: readonly unknown[] = ['utility', 'marketing', 'authentication', 'service'];

export function isMessageCategory(value: unknown): value is MessageCategory {
  return CATEGORIES.includes(value);
}
