/** What a key may do. A key made with an account has all of them. */
export const SCOPES = [
  'email:read',
  'email:send',
  'email:webhooks',
  'whatsapp:send',
  'whatsapp:read',
  'contacts:read',
  'contacts:write',
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(value: string): value is Scope {
  return (SCOPES as readonly string[]).includes(value);
}
