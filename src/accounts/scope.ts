/** Exactly those that routes require; the key that is created with an account has all of them. */
export const SCOPES = [
  'whatsapp:send',
  'whatsapp:read',
  'contacts:read',
  'contacts:write',
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(value: string): value is Scope {
  return (SCOPES as readonly string[]).includes(value);
}
