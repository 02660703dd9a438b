import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  UseGuards,
} from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { requestOf } from '../http/http-message.js';
import {
  AuthGuard,
  type AuthenticatedRequest,
  AuthRequired,
  type AuthRequirement,
} from './auth.guard.js';
import type { Scope } from './scope.js';

/**
 * The route needs a credential.
 *
 * @example
 * @Auth('api_token')
 * @Auth('api_key', 'whatsapp:send')
 */
export function Auth(kind: 'api_token'): MethodDecorator;
export function Auth(kind: 'api_key', scope: Scope): MethodDecorator;
export function Auth(kind: 'api_token' | 'api_key', scope?: Scope): MethodDecorator {
  return applyDecorators(AuthWithin({ kind, scope }), UseGuards(AuthGuard));
}

/**
 * The route needs a credential as with {@link Auth}, and asks for it itself, before all else, by
 * `AuthGuard.admits()`: Nest's way to a guard costs as much again. One that forgets has no account.
 */
export function AuthWithin(requirement: AuthRequirement): MethodDecorator {
  const { kind, scope } = requirement;
  return applyDecorators(
    AuthRequired(requirement),
    ApiSecurity(kind, scope === undefined ? [] : [scope]),
  );
}

/** Id of the account that makes the request; the route has `@Auth()`. */
export const AccountId = createParamDecorator((_data: unknown, context: ExecutionContext): string =>
  accountIdOf(requestOf<AuthenticatedRequest>(context)),
);

/** See {@link AccountId}, for a route that takes its request as it is. */
export function accountIdOf({ account }: AuthenticatedRequest): string {
  if (!account) throw new TypeError('the route has no @Auth()');
  return account.accountId;
}
