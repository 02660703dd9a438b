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
import type { Scope } from '../channel.js';
import { ApiError } from '../http/api-error.js';
import {
  type HttpReply,
  type HttpRequest,
  type LoggedRequest,
  replyOf,
  requestOf,
} from '../http/http-message.js';
import { AccountReads, type ReadKind } from './account-reads.js';
import {
  CredentialUse,
  CredentialVerifier,
  type Principal,
  type Spending,
  spendingOf,
  type Unauthorized,
  type WantedKind,
} from './credentials.js';
import { networkOf, RequestLimits } from './limits.js';
import { type Fresh, whenKnown } from './row-cache.js';

export interface AuthRequirement {
  readonly kind: WantedKind;
  /** The scope that a key must have, and a token that has scopes. */
  readonly scope?: Scope | undefined;
}

export const AuthRequired = Reflector.createDecorator<AuthRequirement>();

/** What a route reads, where its answer is read while it is sent. @default 'read' */
export const Reads = Reflector.createDecorator<ReadKind>();

export interface AuthenticatedRequest extends LoggedRequest {
  account: Principal | null;
}

/**
 * Refuses in this order: 401 for an invalid credential, 403 for a suspended account, 403 for a
 * missing scope. Each process limits requests per credential, and those without a valid one per
 * network; the `RateLimit` headers follow draft-ietf-httpapi-ratelimit-headers. Reads wait for the turn
 * of their account.
 */
@Injectable()
export class AuthGuard implements CanActivate {
  readonly #logger = new Logger('Auth');

  constructor(
    private readonly reflector: Reflector,
    private readonly credentials: CredentialVerifier,
    private readonly use: CredentialUse,
    private readonly limits: RequestLimits,
    private readonly reads: AccountReads,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const requirement = this.reflector.getAllAndOverride(AuthRequired, [
      context.getHandler(),
      context.getClass(),
    ]);
    const request = requestOf<AuthenticatedRequest>(context);
    const reply = replyOf(context);
    await this.admit(request, reply, requirement);
    const kind = this.reflector.get(Reads, context.getHandler());
    await this.reads.admit(accountIdOf(request), request, reply, kind);
    return true;
  }

  /** For `@AuthWithin()`. @throws ApiError 401, 403 or 429 */
  admit(
    request: AuthenticatedRequest,
    reply: HttpReply,
    { kind, scope }: AuthRequirement,
  ): Fresh<true> {
    return whenKnown(this.#valid(request, kind, reply), (principal) => {
      if (scope && isLimited(principal)) requireScope(principal, scope);
      request.account = principal;
      this.use.note(principal.id);
      return true;
    });
  }

  /** The id of a credential of any kind, for hooks before the route. @throws ApiError 401 or 403 */
  async recognise(request: HttpRequest): Promise<string> {
    return (await this.#valid(request as LoggedRequest, 'any')).id;
  }

  /** @throws ApiError 401, 403 or 429 */
  #valid(request: LoggedRequest, kind: WantedKind, reply?: HttpReply): Fresh<Principal> {
    return whenKnown(this.credentials.verify(request.headers.authorization, kind), (found) => {
      const isRefused = 'cause' in found;
      request.credential = isRefused ? (found.former ?? null) : found;
      if (isRefused) throw this.#unauthorized(request, found);
      if (reply) this.#count(found, reply);
      if (found.suspended)
        throw new ApiError('account_disabled', 'This account is suspended; contact your provider');
      return found;
    });
  }

  /** @throws ApiError 429 with `Retry-After` */
  #count({ id }: Principal, reply: HttpReply): void {
    const { requests } = this.limits;
    if (!requests) return;
    const { max, per } = requests.rate;
    const { remaining, reset } = requests.take(id);
    reply.header('ratelimit-policy', `"credential";q=${max};w=${per / 1_000}`);
    reply.header('ratelimit', `"credential";r=${Math.max(0, remaining)};t=${reset}`);
    if (remaining < 0)
      throw new ApiError('rate_limited', 'Too many requests with this credential; wait a moment', {
        headers: { 'retry-after': String(reset) },
      });
  }

  #unauthorized(request: HttpRequest, { cause, former }: Unauthorized): ApiError {
    const { remaining = 0, reset } = this.limits.failures?.take(networkOf(request.ip)) ?? {};
    // One line per window, so that a flood of guesses does not flood the log.
    if (remaining >= -1)
      this.#logger.log({
        message: 'unauthorized',
        cause,
        account: former?.accountId,
        ip: request.ip,
        route: request.routeOptions.url,
        request: request.id,
        ...(remaining < 0 && { throttled: true }),
      });
    if (remaining < 0)
      return new ApiError(
        'rate_limited',
        'Too many requests without a valid credential from this address; check the credential',
        { headers: { 'retry-after': String(reset) } },
      );
    return new ApiError(
      'unauthorized',
      'No valid credential; send the header "Authorization: Bearer " and the token or key, without spaces or line breaks',
      { headers: { 'www-authenticate': 'Bearer' } },
    );
  }
}

/** Whether its scopes say what it may do: a token without any may do all that tokens may. */
export function isLimited({ kind, scopes }: Pick<Principal, 'kind' | 'scopes'>): boolean {
  return kind === 'api_key' || scopes.length > 0;
}

/** @throws ApiError 403 where the credential lacks the scope */
export function requireScope(
  { kind, scopes }: Pick<Principal, 'kind' | 'scopes'>,
  scope: Scope,
): void {
  if (!scopes.includes(scope))
    throw new ApiError(
      'insufficient_scope',
      `This ${kind === 'api_key' ? 'key' : 'token'} lacks the scope ${scope}; use one that has it`,
    );
}

export function Auth(kind: WantedKind, scope: Scope): ClassDecorator & MethodDecorator {
  return applyDecorators(AuthWithin({ kind, scope }), UseGuards(AuthGuard));
}

/**
 * As {@link Auth}, but the handler calls `AuthGuard.admits()` first, because Nest's guard call
 * doubles the cost of a request. Without that call the request has no account.
 */
export function AuthWithin(requirement: AuthRequirement): ClassDecorator & MethodDecorator {
  const { kind, scope } = requirement;
  const scopes = scope === undefined ? [] : [scope];
  return applyDecorators(
    AuthRequired(requirement),
    ...(kind === 'any'
      ? [ApiSecurity('api_token', scopes), ApiSecurity('api_key', scopes)]
      : [ApiSecurity(kind, scopes)]),
  );
}

/** The credential of the request; the route needs `@Auth()`. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): Principal =>
  principalOf(requestOf<AuthenticatedRequest>(context)),
);

/** Account and credential of a send; the route needs `@Auth()`. */
export const Spends = createParamDecorator((_data: unknown, context: ExecutionContext): Spending =>
  spendingOfRequest(requestOf<AuthenticatedRequest>(context)),
);

export function spendingOfRequest(request: AuthenticatedRequest): Spending {
  return spendingOf(principalOf(request));
}

/** Id of the account of the request; the route needs `@Auth()`. */
export const AccountId = createParamDecorator((_data: unknown, context: ExecutionContext): string =>
  accountIdOf(requestOf<AuthenticatedRequest>(context)),
);

function accountIdOf(request: AuthenticatedRequest): string {
  return principalOf(request).accountId;
}

function principalOf({ account }: AuthenticatedRequest): Principal {
  if (!account) throw new TypeError('the route has no @Auth()');
  return account;
}
