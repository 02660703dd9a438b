import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  UseGuards,
} from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { requestOf } from '../http/http-message.js';
import { AuthGuard, type AuthenticatedRequest, AuthRequired } from './auth.guard.js';
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
  return applyDecorators(
    AuthRequired({ kind, scope }),
    UseGuards(AuthGuard),
    ApiSecurity(kind, scope === undefined ? [] : [scope]),
  );
}

/** Id of the account that makes the request; the route has `@Auth()`. */
export const AccountId = createParamDecorator(
  (_data: unknown, context: ExecutionContext): string => {
    const { account } = requestOf<AuthenticatedRequest>(context);
    if (!account) throw new TypeError('the route has no @Auth()');
    return account.accountId;
  },
);
