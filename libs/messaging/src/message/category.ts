export const MESSAGE_CATEGORIES = ['utility', 'marketing', 'authentication', 'service'] as const;

/** Billing category of a WhatsApp message (interface section 2.4); a text is `service`. */
export type MessageCategory = (typeof MESSAGE_CATEGORIES)[number];

export function isMessageCategory(value: unknown): value is MessageCategory {
  return (MESSAGE_CATEGORIES as readonly unknown[]).includes(value);
}
