import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  Logger,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiSecurity } from '@nestjs/swagger';
import { ApiError } from '../http/api-error.js';
import { type HttpReply, type HttpRequest, replyOf, requestOf } from '../http/http-message.js';
import type { CredentialKind } from './accounts.tables.js';
import {
  CredentialUse,
  CredentialVerifier,
  presentedSecret,
  type Principal,
  type UnauthorizedCause,
} from './credentials.js';
import { FailedAttempts, RequestLimit } from './limits.js';
import type { Scope } from './scope.js';

/** The credential that a route requires. */
export interface AuthRequirement {
  readonly kind: CredentialKind;
  /** For keys: the scope that the key must have. */
  readonly scope?: Scope | undefined;
}

export const AuthRequired = Reflector.createDecorator<AuthRequirement>();

/** A request that passed the guard. */
export interface AuthenticatedRequest extends HttpRequest {
  account: Principal | null;
}

/**
 * Admits requests with a valid credential: 401 for any invalid one, then 403 for a suspended
 * account, then 403 for a missing scope. Synchronous for a cached credential.
 */
@Injectable()
export class AuthGuard implements CanActivate {
  readonly #logger = new Logger('Auth');
  readonly #requirements = new WeakMap<object, AuthRequirement>();

  constructor(
    private readonly reflector: Reflector,
    private readonly credentials: CredentialVerifier,
    private readonly failures: FailedAttempts,
    private readonly limit: RequestLimit,
    private readonly use: CredentialUse,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const requirement = this.#requirementOf(context.getHandler());
    return this.admits(requestOf<AuthenticatedRequest>(context), replyOf(context), requirement);
  }

  /**
   * For a route that calls the guard itself (`@AuthWithin()`).
   * @throws ApiError 401, 403 or 429; or rejects with it
   */
  admits(
    request: AuthenticatedRequest,
    reply: HttpReply,
    requirement: AuthRequirement,
  ): true | Promise<true> {
    const { authorization } = request.headers;
    const known = this.credentials.known(authorization, requirement.kind);
    if (known) return this.#admit(request, reply, requirement, known);
    const presented = presentedSecret(authorization, requirement.kind);
    if (presented.secret === undefined) throw this.#unauthorized(request, presented.cause);
    const principal = this.credentials.verify(presented.secret);
    return principal instanceof Promise
      ? principal.then((found) => this.#admit(request, reply, requirement, found))
      : this.#admit(request, reply, requirement, principal);
  }

  /**
   * For hooks that run before the route: checks that the credential is valid for any route.
   * @throws ApiError 401, 403 or 429
   */
  async recognises(request: HttpRequest): Promise<void> {
    const { authorization } = request.headers;
    const kind = /\bsvk_/.test(String(authorization)) ? 'api_key' : 'api_token';
    const presented = presentedSecret(authorization, kind);
    if (presented.secret === undefined) throw this.#unauthorized(request, presented.cause);
    refuseSuspended(this.#right(request, await this.credentials.verify(presented.secret)));
  }

  #requirementOf(handler: ReturnType<ExecutionContext['getHandler']>): AuthRequirement {
    let requirement = this.#requirements.get(handler);
    if (!requirement) {
      requirement = this.reflector.get(AuthRequired, handler);
      this.#requirements.set(handler, requirement);
    }
    return requirement;
  }

  #admit(
    request: AuthenticatedRequest,
    reply: HttpReply,
    requirement: AuthRequirement,
    found: Principal | undefined,
  ): true {
    const principal = this.#right(request, found);
    this.limit.take(principal.credentialId, reply);
    refuseSuspended(principal);
    const { scope } = requirement;
    if (scope && !principal.scopes.includes(scope))
      throw new ApiError(
        'insufficient_scope',
        `This key lacks the scope ${scope}; use one that has it`,
      );
    request.account = principal;
    this.use.note(principal.credentialId);
    return true;
  }

  /** @throws ApiError 401 or 429 for an unknown, revoked or expired credential */
  #right(request: HttpRequest, principal: Principal | undefined): Principal {
    if (!principal) throw this.#unauthorized(request, 'unknown');
    if (principal.revoked) {
      const cause = principal.kind === 'api_token' ? 'rotated' : 'revoked';
      throw this.#unauthorized(request, cause, principal.accountId);
    }
    if (principal.expiresAt !== null && principal.expiresAt <= Date.now())
      throw this.#unauthorized(request, 'expired', principal.accountId);
    return principal;
  }

  #unauthorized(request: HttpRequest, cause: UnauthorizedCause, account?: string): ApiError {
    const state = this.failures.count(request.ip);
    // One line per window, so that a flood of guesses does not flood the log.
    if (state && state.remaining < -1) return tooManyFailures(state.reset);
    this.#logger.log({
      message: 'unauthorized',
      cause,
      account,
      ip: request.ip,
      route: request.routeOptions.url,
      request: request.id,
      ...(state && state.remaining < 0 && { throttled: true }),
    });
    if (state && state.remaining < 0) return tooManyFailures(state.reset);
    return new ApiError(
      'unauthorized',
      'No valid credential; send the header "Authorization: Bearer " and the token or key, without spaces or line breaks',
      { headers: { 'www-authenticate': 'Bearer' } },
    );
  }
}

function refuseSuspended({ suspended }: Principal): void {
  if (suspended)
    throw new ApiError('account_disabled', 'This account is suspended; contact your provider');
}

function tooManyFailures(reset: number): ApiError {
  return new ApiError(
    'rate_limited',
    'Too many requests without a valid credential from this address; check the credential',
    { headers: { 'retry-after': String(reset) } },
  );
}

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
 * The route needs a credential as with {@link Auth}, and its handler calls `AuthGuard.admits()`
 * first, because Nest's guard call doubles the cost of a request. Without that call the request has
 * no account.
 */
export function AuthWithin(requirement: AuthRequirement): MethodDecorator {
  const { kind, scope } = requirement;
  return applyDecorators(
    AuthRequired(requirement),
    ApiSecurity(kind, scope === undefined ? [] : [scope]),
  );
}

/** Id of the account of the request; the route needs `@Auth()`. */
export const AccountId = createParamDecorator((_data: unknown, context: ExecutionContext): string =>
  accountIdOf(requestOf<AuthenticatedRequest>(context)),
);

/** Like {@link AccountId}, for a route that takes the raw request. */
export function accountIdOf({ account }: AuthenticatedRequest): string {
  if (!account) throw new TypeError('the route has no @Auth()');
  return account.accountId;
}
