/**
 * The scopes of keys: those that a route requires by `@Auth('api_key', scope)`, and no others. A surface adds
 * its scopes together with its routes. The key made with an account has all of them.
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
