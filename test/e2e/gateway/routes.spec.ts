import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountsService, CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { newSecret } from '../../../src/accounts/credentials.js';
import { GatewayChannels } from '../../../src/channel.js';
import { CHANNELS } from '../../../src/channels/index.js';
import { type DeclaredRoute, declaredRoutes } from './declared-routes.js';
import { type Answered, TestGateway } from './test-gateway.js';

/** Public routes. */
const OPEN = [
  'GET /email/unsubscribe/:token',
  'GET /health/live',
  'GET /health/ready',
  'GET /metrics',
  'POST /email/unsubscribe/:token',
  'POST /probes',
];
const MEMBER = '2348012345678';
const NOWHERE = '01993021-0000-7000-8000-000000000000';

/** A valid body, for routes that check the body first. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH /ng/v1/sms/:referenceId': { send_at: '2150-01-01T00:00:00Z' },
  'PATCH /ng/v1/groups/:groupId': { name: 'ours' },
  'POST /ng/v1/groups/:groupId/members': { members: [MEMBER] },
  'POST /ng/v1/vas/verifications/:verificationId/check': { code: '123456' },
  'PATCH /email/ng/v1/messages/:emailId': { send_at: '2150-01-01T00:00:00Z' },
};

const { scopes: SCOPES, tokenScopes: TOKEN_SCOPES } = new GatewayChannels(CHANNELS);

/** Keys need them for the channels of their notifications, which routes do not name. */
const OF_CHANNELS = CHANNELS.flatMap(({ notification }) => notification?.scope ?? []);

/** A credential that is valid, and of the wrong kind; `any`: no kind is wrong. */
const WRONG_KIND = {
  api_key: ({ apiToken }: CreatedAccount) => apiToken,
  api_token: ({ apiKey }: CreatedAccount) => apiKey,
  any: () => undefined,
};

describe('every route of the gateway', () => {
  const gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true', AUTH_FAILURE_LIMIT: 'off' });
  let routes: DeclaredRoute[];
  let accounts: AccountsService;
  let ours: CreatedAccount;
  let other: CreatedAccount;
  /** An object of `other`, by the name of the parameter that names it. */
  const theirs: Record<string, string> = {};

  beforeAll(async () => {
    await gateway.start();
    ({ accounts } = gateway);
    ours = await gateway.account('ours');
    // With a verified domain, for emails.
    other = gateway.running.demo as CreatedAccount;
    // test/e2e/portal has those of the portal.
    routes = declaredRoutes(gateway.running.app).filter(
      ({ path }) => !`${path}/`.startsWith('/portal/'),
    );
    const sent = await gateway.call('POST', '/ng/v1/sendsms', {
      token: other.apiToken,
      body: { from: 'ACME', to: ['2348012345678'], body: 'x', send_at: '2150-01-01T00:00:00Z' },
    });
    theirs['referenceId'] = String(sent.body['reference_id']);
    const made = await gateway.call('POST', '/ng/v1/webhooks', {
      token: other.apiToken,
      body: { url: 'http://127.0.0.1:65535/' },
    });
    theirs['id'] = String(made.body['webhook_id']);
    const group = await gateway.call('POST', '/ng/v1/groups', {
      token: other.apiToken,
      body: { name: 'theirs' },
    });
    theirs['groupId'] = String(group.body['id']);
    await gateway.call('POST', `/ng/v1/groups/${theirs['groupId']}/members`, {
      token: other.apiToken,
      body: { members: [MEMBER] },
    });
    theirs['member'] = MEMBER;
    const domain = await gateway.call('POST', '/email/ng/v1/domains', {
      token: other.apiKey,
      body: { name: 'other.example.com' },
    });
    theirs['domainId'] = String(domain.body['id']);
    theirs['email'] = 'ada@example.com';
    await gateway.call('POST', '/email/ng/v1/suppressions', {
      token: other.apiKey,
      body: { email: theirs['email'] },
    });
    const contact = await gateway.call('POST', '/whatsapp/ng/v1/contacts', {
      token: other.apiKey,
      body: { phone: MEMBER, opt_in: true },
    });
    theirs['contactId'] = String(contact.body['id']);
    const message = await gateway.call('POST', '/whatsapp/ng/v1/sendwhatsapp', {
      token: other.apiKey,
      body: {
        to: MEMBER,
        message_type: 'template',
        template_name: 'login_code',
        language: 'en',
        params: ['1234'],
      },
    });
    theirs['messageId'] = String(message.body['message_id']);
    const email = await gateway.call('POST', '/email/ng/v1/messages', {
      token: other.apiKey,
      body: {
        from: 'hello@demo.test',
        to: ['bea@example.com'],
        subject: 'x',
        text: 'x',
        send_at: '2150-01-01T00:00:00Z',
      },
    });
    theirs['emailId'] = String(email.body['reference_id']);
    const call = await gateway.call('POST', '/ng/v1/voice/calls', {
      token: other.apiToken,
      body: {
        from: '2348000000001',
        to: [MEMBER],
        text: 'x',
        send_at: '2150-01-01T00:00:00Z',
      },
    });
    theirs['callId'] = String(call.body['reference_id']);
    const order = await gateway.call('POST', '/ng/v1/vas/orders', {
      token: other.apiToken,
      body: { to: MEMBER, product: 'data-ng-1gb', client_reference: 'theirs' },
    });
    theirs['orderId'] = String(order.body['id']);
    const code = await gateway.call('POST', '/ng/v1/vas/verifications', {
      token: other.apiToken,
      body: { to: MEMBER, channel: 'sms' },
    });
    theirs['verificationId'] = String(code.body['id']);
    const notification = await gateway.call('POST', '/ng/v1/notifications', {
      token: other.apiToken,
      body: {
        to: MEMBER,
        via: ['sms'],
        sms: { from: 'ACME', body: 'x' },
        send_at: '2150-01-01T00:00:00Z',
      },
    });
    theirs['notificationId'] = String(notification.body['notification_id']);
  });
  afterAll(() => gateway.destroy());

  const ask = (route: DeclaredRoute, token?: string, ids = {}): Promise<Answered> =>
    gateway.call(route.method, pathOf(route, ids), {
      ...(token !== undefined && { token }),
      ...(['POST', 'PATCH', 'PUT'].includes(route.method) && {
        body: BODIES[`${route.method} ${route.path}`] ?? {},
      }),
    });
  const closed = (): DeclaredRoute[] => routes.filter(({ auth }) => auth !== undefined);
  /** One answer's bytes for all closed routes. */
  const bodies = async (token: (route: DeclaredRoute) => string | undefined) => {
    const answers = await Promise.all(closed().map((route) => ask(route, token(route))));
    return [...new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`))];
  };
  const right = ({ auth }: DeclaredRoute, account: CreatedAccount): string =>
    auth?.kind === 'api_key' ? account.apiKey : account.apiToken;

  it('require every scope that a key can have', () => {
    const required = (kind: 'api_key' | 'api_token') =>
      routes.flatMap(({ auth }) =>
        auth?.kind === kind || auth?.kind === 'any' ? (auth.scope ?? []) : [],
      );
    expect([...new Set([...required('api_key'), ...OF_CHANNELS])].sort()).toEqual(
      [...SCOPES].sort(),
    );
    expect([...new Set(required('api_token'))].sort()).toEqual([...TOKEN_SCOPES].sort());
  });

  it('every route declares its credential, except health, metrics and pages of recipients', () => {
    const open = routes.filter(({ auth }) => auth === undefined);
    expect(open.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(OPEN);
    expect(closed().length).toBeGreaterThan(10);
  });

  it('all routes answer every wrong credential with the same 401', async () => {
    const rotated = await gateway.account('rotated');
    await accounts.rotateToken(rotated.accountId);
    const { keyId, apiKey } = await accounts.createKey(ours.accountId, SCOPES);
    await accounts.revokeKey(ours.accountId, keyId);
    const answers = new Set([
      ...(await bodies(() => undefined)),
      ...(await bodies(({ auth }) => WRONG_KIND[auth?.kind ?? 'any'](ours))),
      ...(await bodies(({ auth }) =>
        newSecret(auth?.kind === 'api_key' ? 'api_key' : 'api_token'),
      )),
      ...(await bodies(({ auth }) => (auth?.kind === 'api_key' ? apiKey : rotated.apiToken))),
    ]);
    expect([...answers]).toEqual([expect.stringMatching(/^401 .*"code":"unauthorized"/)]);
  });

  it('all routes answer a suspended account with the same 403', async () => {
    const suspended = await gateway.account('suspended');
    await accounts.suspend(suspended.accountId);
    const answers = await bodies((route) => right(route, suspended));
    expect(answers).toEqual([expect.stringMatching(/^403 .*"code":"account_disabled"/)]);
  });

  it('routes for API keys answer a key without the scope with 403', async () => {
    for (const route of routes.filter(({ auth }) => auth && auth.kind !== 'api_token')) {
      const others = SCOPES.filter((scope) => scope !== route.auth?.scope);
      const { apiKey } = await accounts.createKey(ours.accountId, others);
      expect(await ask(route, apiKey)).toMatchObject({
        status: 403,
        body: { error: { code: 'insufficient_scope' } },
      });
    }
  });

  it('a route answers another account’s object like an object that does not exist', async () => {
    const named = closed().filter(({ path }) => path.includes(':'));
    expect(named.length).toBeGreaterThan(5);
    for (const route of named) {
      const real = await ask(route, right(route, ours), theirs);
      const none = await ask(route, right(route, ours));
      const told = (answer: Answered): string => JSON.stringify(answer.body);
      expect([route.path, real.status, real.body]).toEqual([route.path, 404, expect.anything()]);
      let unnamed = told(real);
      for (const [name, id] of Object.entries(theirs))
        if (route.path.includes(`:${name}`)) unnamed = unnamed.replaceAll(id, NOWHERE);
      expect(unnamed).toBe(told(none));
    }
    const { body } = await gateway.call('GET', `/ng/v1/sms/${theirs['referenceId']}`, {
      token: other.apiToken,
    });
    expect(body['status']).toBe('scheduled');
  });
});

function pathOf({ path }: DeclaredRoute, ids: Readonly<Record<string, string>>): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? NOWHERE);
}
