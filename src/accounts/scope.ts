/**
 * The scopes of keys: exactly those that routes require with `@Auth('api_key', scope)`. A new API
 * adds its scopes together with its routes. The key that is created with an account has all of
 * them.
 */
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
