/**
 * Billing categories of WhatsApp messages (interface section 2.4). A template has a fixed category,
 * a text is `service`.
 */
export type MessageCategory = 'utility' | 'marketing' | 'authentication' | 'service';

export const MESSAGE_CATEGORIES: readonly MessageCategory[] = [
  'utility',
  'marketing',
  'authentication',
  'service',
];

export function isMessageCategory(value: unknown): value is MessageCategory {
  return (MESSAGE_CATEGORIES as readonly unknown[]).includes(value);
}
