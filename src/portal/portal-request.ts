import { parsedUrl } from '@dundun/messaging/values';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import type { Environment } from '../config/environment.js';
import { ApiError } from '../http/api-error.js';
import { type HttpRequest, requestOf } from '../http/http-message.js';
import type { Actor } from './audit.js';
import type { Role } from './portal-api.js';
import type { Visitor } from './sign-in/known-places.js';
import type { SignedIn } from './sign-in/sessions.service.js';

export const PORTAL_PATH = 'portal';

/**
 * The account of a page of the portal and of its requests, `/portal/a/{account}/…`. The front routes
 * them without it, and the guard reads it from the address as it was asked.
 */
export const ACCOUNT_IN_ADDRESS = /^\/portal\/a\/([\w-]{1,64})(?=[/?]|$)/;

/** `undefined`: the address names no account. */
export function accountIn({ originalUrl }: Pick<HttpRequest, 'originalUrl'>): string | undefined {
  return ACCOUNT_IN_ADDRESS.exec(originalUrl)?.[1];
}

const API = `/${PORTAL_PATH}/api`;

export interface PortalRequest extends HttpRequest {
  /** Set by the guard; `null`: signed out. */
  portal: SignedIn | null;
  /** Set by the guard: the cookie by which a later sign-in knows the browser again. */
  browser: string | undefined;
}

/** Whether the route is one of the portal, or below its API. */
export function isPortalRoute(route = '', { api = false } = {}): boolean {
  return `${route}/`.startsWith(`${api ? API : `/${PORTAL_PATH}`}/`);
}

export type HostSettings = Pick<Environment, 'NODE_ENV' | 'PUBLIC_URL'>;

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/**
 * Whether a browser may reach the portal under this host: that of `PUBLIC_URL`, or a loopback
 * address. Another name that leads here may belong to an attacker (DNS rebinding).
 */
export function isOwnHost(host: string | undefined, { PUBLIC_URL }: HostSettings): boolean {
  if (host === undefined) return false;
  const written = parsedUrl(`http://${host}`);
  if (!written || written.username !== '' || written.pathname !== '/') return false;
  if (LOOPBACK.test(written.hostname)) return true;
  const own = new URL(PUBLIC_URL);
  // A default port may be written or not.
  return new URL(`${own.protocol}//${host}`).host === own.host;
}

/** Whether the request was made by a page of the portal itself. */
export function isSameOrigin({ headers }: HttpRequest, settings: HostSettings): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site !== undefined;
  const url = parsedUrl(origin);
  if (!url) return false;
  return url.host === headers.host || url.origin === new URL(settings.PUBLIC_URL).origin;
}

/**
 * Refuses requests to the portal under foreign host names, and sets the headers of its API. Call it
 * before Nest registers its routes.
 */
export function guardPortalHosts(fastify: FastifyInstance, settings: HostSettings): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const { url } = request.routeOptions;
    if (!isPortalRoute(url)) return done();
    if (isPortalRoute(url, { api: true })) reply.headers(API_HEADERS);
    if (isOwnHost(request.headers.host, settings)) return done();
    done(
      new ApiError(
        'insufficient_scope',
        'The portal is not served under this host name; its operator sets PUBLIC_URL to its address',
      ),
    );
  });
}

/** Leads people who open the address of the gateway in a browser to the portal. */
export function leadToPortal(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ method, url, headers: { accept = '' } }, reply, done) => {
    const isPage = method === 'GET' && /^\/(?:\?|$)/.test(url) && accept.includes('text/html');
    if (!isPage) return done();
    void reply.header('vary', 'Accept').redirect(`/${PORTAL_PATH}`);
  });
}

const API_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * `__Host-` binds the cookie to this host and to TLS. Outside production a gateway without TLS has
 * a plain one.
 */
function isSecure({ headers }: HttpRequest, { NODE_ENV, PUBLIC_URL }: HostSettings): boolean {
  if (NODE_ENV === 'production') return true;
  const { protocol, host } = new URL(PUBLIC_URL);
  return protocol === 'https:' && headers.host === host;
}

/** The cookies of a browser: that of its session, and one by which a later sign-in knows it again. */
export type CookieKind = 'session' | 'browser';

/** Longest time that browsers keep a cookie, in seconds. */
const KEPT = 400 * 24 * 3_600;

function cookieName(kind: CookieKind, request: HttpRequest, settings: HostSettings): string {
  const name = kind === 'session' ? 'dundun' : 'dundun-browser';
  return isSecure(request, settings) ? `__Host-${name}` : name;
}

/** The value of a cookie: 43 characters of base64url. */
export function cookieValueOf(
  kind: CookieKind,
  request: HttpRequest,
  settings: HostSettings,
): string | undefined {
  const name = `${cookieName(kind, request, settings)}=`;
  const pairs = (request.headers.cookie ?? '').split(/; */);
  const value = pairs.find((pair) => pair.startsWith(name))?.slice(name.length);
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
}

/** `Set-Cookie`; an empty value deletes the cookie. */
export function cookieOf(
  kind: CookieKind,
  value: string,
  request: HttpRequest,
  settings: HostSettings,
): string {
  const name = cookieName(kind, request, settings);
  const secure = isSecure(request, settings) ? '; Secure' : '';
  const age = kind === 'browser' ? `; Max-Age=${KEPT}` : '';
  const ended = value === '' ? '; Max-Age=0' : age;
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}${ended}`;
}

/** @throws TypeError on a route that is open to everybody */
function signedInOf(context: ExecutionContext): SignedIn {
  const { portal } = requestOf<PortalRequest>(context);
  if (!portal) throw new TypeError('the route is open to everybody');
  return portal;
}

export const Current = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  signedInOf(context),
);

/** A person who works in an account. */
export interface InAccount {
  readonly accountId: string;
  readonly role: Role;
  /** For the audit log. */
  readonly actor: Actor & { readonly accountId: string };
}

/** The person in the account of the request; the route needs a role. */
export const Caller = createParamDecorator(
  (_data: unknown, context: ExecutionContext): InAccount => {
    const { account } = signedInOf(context);
    if (!account) throw new TypeError('the route needs no account');
    const { id: accountId, role } = account;
    return { accountId, role, actor: { ...actorOf(context), accountId } };
  },
);

/** The address and the known browser of the request, for limits of guesses. */
export const VisitorOf = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const { ip, browser } = requestOf<PortalRequest>(context);
  const visitor: Visitor = { ip, browser };
  return visitor;
});

/** For the audit log. */
export const By = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  actorOf(context),
);

function actorOf(context: ExecutionContext): Actor {
  const { user, account } = signedInOf(context);
  const { ip } = requestOf<PortalRequest>(context);
  return { userId: user.id, ip, accountId: account?.id ?? null };
}
