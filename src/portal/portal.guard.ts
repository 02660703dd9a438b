import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AccountReads, type ReadKind } from '../accounts/account-reads.js';
import { fingerprint } from '../accounts/credentials.js';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { ApiError } from '../http/api-error.js';
import type { HttpRequest } from '../http/http-message.js';
import { replyOf, requestOf } from '../http/http-message.js';
import { type Role, ROLES } from './portal-api.js';
import { accountIn, cookieValueOf, isSameOrigin, type PortalRequest } from './portal-request.js';
import { type SignedIn, SessionsService } from './sign-in/sessions.service.js';

/**
 * The callers that a route admits: everybody, every user, operators, or members of the account with at
 * least this role; `… of any`: also an operator without an account.
 */
export type Access = 'everybody' | 'user' | 'operator' | Role | `${'admin' | 'viewer'} of any`;

export const PortalAccess = Reflector.createDecorator<Access>();

const READS = new Set(['GET', 'HEAD']);

/** Routes whose answers are read while they are sent. */
const EXPORT = /(?:\/export|\.csv)$/;
const FILE = /\/media$/;

/**
 * Refuses in this order: 403 for a change that no page of the portal asks for, 415 for a body that
 * is not JSON, 401 without a session, 404 for an account in the
 * address that is not one of the caller, 403 for a missing second factor that is required, 403 for a
 * suspended account, 403 for a missing role. Reads wait for the turn of their account. The
 * dashboard's routes have no `@PortalAccess()`: they are `viewer of any`, and `accessOf()` tells the
 * dashboard the rights of each caller.
 */
@Injectable()
export class PortalGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly sessions: SessionsService,
    private readonly reads: AccountReads,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const request = requestOf<PortalRequest>(context);
    const targets = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride<Access | undefined>(PortalAccess, targets);
    if (!READS.has(request.method)) this.#checkChange(request);
    request.portal = (await this.#read(request)) ?? null;
    const asked = accountIn(request);
    if (asked !== undefined && request.portal && !request.portal.account && access !== 'everybody')
      throw new ApiError('not_found', 'There is no such account among yours');
    request.browser = cookieValueOf('browser', request, this.environment);
    if (access !== 'everybody') checkAccess(request.portal, access);
    if (request.portal) {
      const { account, user } = request.portal;
      const kind = kindOf(request.routeOptions.url ?? '');
      await this.reads.admit(account?.id ?? user.id, request, replyOf(context), kind);
    }
    return true;
  }

  /** The id of the session, for hooks before the route. @throws ApiError 401 */
  async recognise(request: HttpRequest): Promise<string> {
    const signedIn = await this.#read(request);
    if (!signedIn) throw signedOut();
    return signedIn.sessionId;
  }

  async #read(request: HttpRequest): Promise<SignedIn | undefined> {
    const cookie = cookieValueOf('session', request, this.environment);
    if (cookie === undefined) return undefined;
    // A page that keeps itself up to date does not keep the session of an absent person.
    const isUse = request.headers['x-background'] === undefined;
    // Four statements, which would otherwise run for all requests of a page at once.
    const read = () => this.sessions.read(cookie, { isUse, accountId: accountIn(request) });
    return this.reads.during(fingerprint(cookie), read);
  }

  #checkChange(request: HttpRequest): void {
    if (!isSameOrigin(request, this.environment))
      throw new ApiError(
        'insufficient_scope',
        'Only pages of the portal itself may ask for this; programs use the API with a token',
      );
    const type = request.headers['content-type'] ?? '';
    if (request.method !== 'DELETE' && !/^application\/json\b/i.test(type))
      throw new ApiError('unsupported_media_type');
  }
}

function signedOut(): ApiError {
  return new ApiError('unauthorized', 'Sign in: there is no session, or it has ended');
}

/** @throws ApiError 401, 403 */
function checkAccess(
  signedIn: SignedIn | null,
  access: Exclude<Access, 'everybody'> = 'viewer of any',
): void {
  if (!signedIn) throw signedOut();
  const { user, account } = signedIn;
  if (access === 'user') return;
  if (signedIn.lacksSecondFactor)
    throw new ApiError(
      'insufficient_scope',
      'Set up a second factor first: load the page again, which shows how',
    );
  if (access === 'operator') {
    if (!user.isOperator)
      throw new ApiError('insufficient_scope', 'Only operators of the gateway may do this');
    return;
  }
  if (!account) {
    if (user.isOperator && access.endsWith(' of any')) return;
    throw new ApiError(
      'insufficient_scope',
      'Name the account in the address: /portal/a/{account}/api/…',
    );
  }
  if (account.suspended && !user.isOperator)
    throw new ApiError('account_disabled', 'This account is suspended; contact your provider');
  const role = access.replace(' of any', '') as Role;
  if (!hasRole(account.role, role))
    throw new ApiError('insufficient_scope', `This needs the role ${role}; ask an admin for it`);
}

function kindOf(route: string): ReadKind {
  if (EXPORT.test(route)) return 'export';
  return FILE.test(route) ? 'file' : 'read';
}

export function hasRole(role: Role, wanted: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(wanted);
}

/** Whether to answer whole addresses. @throws ApiError 403 where the role may not ask for them */
export function mayReveal(asked: 'true' | undefined, role: Role): boolean {
  if (asked === undefined) return false;
  if (hasRole(role, 'admin')) return true;
  throw new ApiError('insufficient_scope', 'Only admins see whole addresses; leave out reveal');
}
