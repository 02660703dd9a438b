import { MessagingService } from '@dundun/messaging';
import type { INestApplicationContext } from '@nestjs/common';
import { hashPassword } from '../../../src/secrets/password-hash.js';
import type { Role, Session } from '../../../src/portal/portal-api.js';
import { MemberEntity, User } from '../../../src/portal/portal.tables.js';
import { SessionsService } from '../../../src/portal/sign-in/sessions.service.js';
import { type DeclaredRoute, declaredRoutes } from '../gateway/declared-routes.js';
import type { TestGateway } from '../gateway/test-gateway.js';

export interface PortalAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export interface PortalCall {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const PASSWORD = 'a long and quiet river';

/** A browser of one person: keeps the cookie, and sends the headers of a page of the portal. */
export class PortalClient {
  cookie: string | undefined;
  /** Cookie by which a later sign-in knows the browser again. */
  browser: string | undefined;
  /** The account whose pages are open; `undefined`: those of no account. */
  account: string | undefined;

  constructor(private readonly gateway: TestGateway) {}

  async call(method: string, path: string, { body, headers }: PortalCall = {}) {
    const isChange = method !== 'GET';
    const account = this.account === undefined ? '' : `a/${this.account}/`;
    const response = await fetch(`${this.gateway.url}/portal/${account}api/${path}`, {
      method,
      headers: {
        cookie: [this.cookie, this.browser].filter(Boolean).join('; '),
        ...(isChange && { 'sec-fetch-site': 'same-origin' }),
        ...(isChange && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(isChange && method !== 'DELETE' && { body: JSON.stringify(body ?? {}) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair] = line.split(';');
      if (line.startsWith('dundun-browser=')) this.browser = pair;
      else this.cookie = line.includes('Max-Age=0') ? undefined : pair;
    }
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    const answer: PortalAnswer = {
      status: response.status,
      headers: response.headers,
      body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
      text,
    };
    return answer;
  }

  /** The body of an answer that must be a success. */
  async ok<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.call(method, path, body === undefined ? {} : { body });
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
    return answer.body as T;
  }

  setUp(link: string, email: string, password = PASSWORD): Promise<Session> {
    return this.ok('POST', 'setup', { code: codeOf(link), email, password });
  }
}

export function codeOf(link: string): string {
  return /#code=([\w-]+)$/.exec(link)?.[1] ?? '';
}

let people = 0;

/** One hash for all: it takes a quarter of a second of CPU. */
let hashed: Promise<string> | undefined;

/** A new user, signed in without a link: a member of the account, or an operator. */
export async function signedIn(
  gateway: TestGateway,
  role: Role | 'operator',
  accountId: string | null = null,
): Promise<PortalClient & { readonly email: string }> {
  const { app } = gateway.running;
  const id = `usr_test${++people}`;
  const email = `${role}-${people}@example.com`;
  const password = await (hashed ??= hashPassword(PASSWORD));
  const createdAt = new Date();
  await app.get(MessagingService, { strict: false }).transaction(async (manager) => {
    const operator = Number(role === 'operator');
    await manager.insert(User, { id, email, password, operator, createdAt });
    if (role !== 'operator' && accountId !== null)
      await manager.insert(MemberEntity, { accountId, userId: id, role, createdAt });
  });
  const sessions = app.get(SessionsService, { strict: false });
  const client = new PortalClient(gateway);
  client.cookie = `dundun=${await sessions.start(id, { ip: '127.0.0.1', accountId })}`;
  return Object.assign(client, { email });
}

export type PortalRoute = Pick<DeclaredRoute, 'method' | 'path' | 'access'>;

const PREFIX = '/portal/api/';

/** Every route of the portal's API, the dashboard's included; paths below `portal/api/`. */
export function portalRoutes(app: INestApplicationContext): PortalRoute[] {
  return declaredRoutes(app)
    .filter(({ path }) => path.startsWith(PREFIX))
    .map((route) => ({ ...route, path: route.path.slice(PREFIX.length) }));
}
