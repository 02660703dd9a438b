import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { buildPages } from '../../support/builds.js';
import { TestGateway } from '../gateway/test-gateway.js';
import {
  PASSWORD,
  type PortalAnswer,
  type PortalClient,
  type PortalRoute,
  portalRoutes,
  signedIn,
} from './portal-client.js';

const NOWHERE = '01993021-0000-7000-8000-000000000000';
const MEMBER = '2348012345678';

/** A valid body, for routes that check the body before the id. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH webhooks/:id': { enabled: true },
  'PATCH members/:userId': { role: 'viewer' },
  'PATCH groups/:id': { name: 'ours' },
  'POST tokens/:id/rotate': { overlapHours: 0 },
  'POST groups/:id/members': { members: [MEMBER] },
  'POST accounts/:id/resume': { waiting: 'send' },
  'PATCH smpp/:systemId': { dataCoding0: 'gsm7', dataCoding1: 'auto' },
};

const nameOf = ({ method, path }: PortalRoute): string => `${method} ${path}`;

describe('every route of the portal', () => {
  const gateway = new TestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  let routes: PortalRoute[];
  let ours: string;
  let clients: Record<'viewer' | 'sender' | 'admin' | 'operator', PortalClient>;
  /** Objects of another account, by the first segment of the path and the parameter. */
  const theirs: Record<string, string> = {};

  beforeAll(async () => {
    await buildPages();
    await gateway.start();
    routes = portalRoutes(gateway.running.app);
    ours = (await gateway.account('ours')).accountId;
    clients = {
      viewer: await signedIn(gateway, 'viewer', ours),
      sender: await signedIn(gateway, 'sender', ours),
      admin: await signedIn(gateway, 'admin', ours),
      operator: await signedIn(gateway, 'operator', ours),
    };
    const { accountId: others } = await gateway.account('theirs');
    const other = await signedIn(gateway, 'admin', others);
    await signedIn(gateway, 'viewer', others);
    const { data: members } = await other.ok<{ data: { userId: string; isSelf: boolean }[] }>(
      'GET',
      'members',
    );
    theirs['members/userId'] = members.find(({ isSelf }) => !isSelf)?.userId ?? '';
    const invited = await other.ok<{ invitation: { id: string } }>('POST', 'members', {
      role: 'viewer',
    });
    theirs['members/id'] = invited.invitation.id;
    const hook = await other.ok<{ webhook: { id: string } }>('POST', 'webhooks', {
      url: 'http://127.0.0.1:65535/',
    });
    theirs['webhooks/id'] = hook.webhook.id;
    await other.ok('POST', 'senders', { channel: 'sms', sender: 'THEIRS' });
    theirs['senders/channel'] = 'sms';
    theirs['senders/sender'] = 'THEIRS';
    const pair = await other.ok<{ systemId: string }>('POST', 'smpp', {
      dataCoding0: 'gsm7',
      dataCoding1: 'auto',
    });
    theirs['smpp/systemId'] = pair.systemId;
    const group = await other.ok<{ id: string }>('POST', 'groups', { name: 'theirs' });
    theirs['groups/id'] = group.id;
    await other.ok('POST', `groups/${group.id}/members`, { members: [MEMBER] });
    const inGroup = await other.ok<{ data: { id: string }[] }>('GET', `groups/${group.id}/members`);
    theirs['groups/contactId'] = inGroup.data[0]?.id ?? '';
    const key = await other.ok<{ id: string }>('POST', 'keys', { scopes: ['email:read'] });
    theirs['keys/id'] = key.id;
    const token = await other.ok<{ id: string }>('POST', 'tokens', { name: 'theirs', scopes: [] });
    theirs['tokens/id'] = token.id;
    const view = await other.ok<{ id: string }>('PUT', 'views', {
      page: 'messages',
      name: 'theirs',
      query: 'status=failed',
      shared: true,
    });
    theirs['views/id'] = view.id;
    const domain = await other.ok<{ id: string }>('POST', 'domains', { name: 'their.example.com' });
    theirs['domains/id'] = domain.id;
  });
  afterAll(() => gateway.destroy());

  const pathOf = ({ path }: PortalRoute, ids: Readonly<Record<string, string>> = {}): string =>
    path.replaceAll(
      /:(\w+)/g,
      (_, name: string) => ids[`${path.split('/')[0]}/${name}`] ?? NOWHERE,
    );

  const ask = (
    client: PortalClient,
    route: PortalRoute,
    {
      ids = {},
      headers = {},
    }: { ids?: Record<string, string>; headers?: Record<string, string> } = {},
  ): Promise<PortalAnswer> =>
    client.call(route.method, pathOf(route, ids), { body: BODIES[nameOf(route)] ?? {}, headers });

  /** The answers of these routes, each one once. */
  const statuses = async (
    asked: readonly PortalRoute[],
    work: (route: PortalRoute) => Promise<PortalAnswer>,
  ) => {
    const found = new Map<string, string[]>();
    for (const route of asked) {
      const { status, body } = await work(route);
      const { code = '' } = (body['error'] ?? {}) as { code?: string };
      const key = `${status} ${code}`;
      found.set(key, [...(found.get(key) ?? []), nameOf(route)]);
    }
    return Object.fromEntries(found);
  };

  const only = (asked: readonly PortalRoute[], key: string) =>
    asked.length === 0 ? {} : { [key]: asked.map(nameOf) };

  const closed = () => routes.filter(({ access }) => access !== 'everybody');
  const changes = () => routes.filter(({ method }) => method !== 'GET');

  it('every route declares who may call it, except those of the dashboard', () => {
    expect(routes.length).toBeGreaterThan(50);
    const dashboard = routes.filter(({ access }) => access === undefined).map(({ path }) => path);
    expect(dashboard).toContain('context');
    const first = new Set(dashboard.map((path) => path.split('/')[0]));
    const own = new Set(
      routes.filter(({ access }) => access !== undefined).map(({ path }) => path.split('/')[0]),
    );
    expect([...first].filter((segment) => own.has(segment))).toEqual([]);
    expect(
      routes
        .filter(({ access }) => access === 'everybody')
        .map(nameOf)
        .toSorted(),
    ).toEqual(['GET session', 'POST session', 'POST setup', 'POST setup/check']);
  });

  it('without a session every other route answers 401', async () => {
    const { cookie } = clients.viewer;
    clients.viewer.cookie = undefined;
    const asked = closed();
    expect(await statuses(asked, (route) => ask(clients.viewer, route))).toEqual(
      only(asked, '401 unauthorized'),
    );
    clients.viewer.cookie = cookie;
  });

  it('a role that is too low is answered 403 on every route', async () => {
    const lower = {
      sender: ['viewer'],
      admin: ['viewer', 'sender'],
      operator: ['viewer', 'sender', 'admin'],
    } as const;
    for (const [access, roles] of Object.entries(lower))
      for (const role of roles) {
        const asked = routes.filter(
          (route) =>
            route.access === access || (access === 'admin' && route.access === 'admin of any'),
        );
        expect(asked.length).toBeGreaterThan(0);
        expect([role, await statuses(asked, (route) => ask(clients[role], route))]).toEqual([
          role,
          only(asked, '403 insufficient_scope'),
        ]);
      }
  });

  it('a viewer cannot make changes by the routes of the dashboard', async () => {
    const asked = changes().filter(
      ({ access, path }) => access === undefined && !path.includes('estimate'),
    );
    const answers = await statuses(asked, (route) => ask(clients.viewer, route));
    expect(Object.keys(answers).filter((key) => !/^40[34]/.test(key))).toEqual([]);
  });

  it('objects of another account are answered like objects that do not exist', async () => {
    const named = routes.filter(
      ({ path, access }) => path.includes(':') && access !== undefined && access !== 'operator',
    );
    expect(named.length).toBeGreaterThan(15);
    for (const route of named) {
      const real = await ask(clients.admin, route, { ids: theirs });
      const none = await ask(clients.admin, route);
      expect([nameOf(route), real.status, none.status]).toEqual([nameOf(route), 404, 404]);
      let unnamed = real.text;
      for (const id of Object.values(theirs)) unnamed = unnamed.replaceAll(id, NOWHERE);
      expect(unnamed).toBe(none.text);
    }
  });

  it('every route below the address of an account that is not one of the person answers 404', async () => {
    clients.admin.account = gateway.running.demo?.accountId;
    const asked = closed().filter(({ access }) => access !== 'operator');
    expect(await statuses(asked, (route) => ask(clients.admin, route))).toEqual(
      only(asked, '404 not_found'),
    );
    clients.operator.account = 'acc_unknown';
    expect((await clients.operator.call('GET', 'messages')).status).toBe(404);
    expect(await clients.operator.ok('GET', 'session')).toMatchObject({ user: {}, account: null });
    clients.admin.account = undefined;
    clients.operator.account = undefined;
  });

  it('a change from a page of another origin is refused on every route, also of a signed-out person', async () => {
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
      { origin: 'null', 'sec-fetch-site': 'same-origin' },
    ];
    for (const headers of foreign) {
      const answers = await statuses(changes(), (route) =>
        ask(clients.operator, route, { headers }),
      );
      expect(Object.keys(answers).filter((key) => !key.startsWith('403'))).toEqual([]);
    }
    expect((await clients.operator.call('GET', 'session')).body).toMatchObject({ user: {} });
  });

  it('a change without Origin and Sec-Fetch-Site, and one that is not JSON, are refused', async () => {
    const own = changes().filter(({ access }) => access !== undefined);
    for (const route of own) {
      const [host] = [gateway.url.replace('http://', '')];
      const send = (headers: Record<string, string>) =>
        plain(route.method, pathOf(route), { host, cookie: clients.operator.cookie!, ...headers });
      expect([nameOf(route), (await send({ 'content-type': 'application/json' })).status]).toEqual([
        nameOf(route),
        403,
      ]);
      if (route.method === 'DELETE') continue;
      expect([nameOf(route), (await send({ origin: gateway.url })).status]).toEqual([
        nameOf(route),
        415,
      ]);
    }
  });

  const plain = async (method: string, path: string, headers: Record<string, string>) => {
    const sent = request(
      `${gateway.url}/portal/${path.startsWith('/') ? path.slice(1) : `api/${path}`}`,
      { method, headers },
    );
    sent.end(headers['content-type'] === undefined ? undefined : '{}');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const body = await text(answer);
    return { status: answer.statusCode, body };
  };

  it('a foreign Host is refused on every route and page', async () => {
    const hosts = [
      'evil.example',
      `evil.example:${new URL(gateway.url).port}`,
      '127.0.0.1.evil.example',
      '10.0.0.1',
    ];
    const cookie = clients.operator.cookie!;
    for (const host of hosts) {
      for (const route of closed().filter(({ method }) => method === 'GET'))
        expect([
          nameOf(route),
          (await plain('GET', pathOf(route), { host, cookie })).status,
        ]).toEqual([nameOf(route), 403]);
      for (const page of ['/', '/messages', '/assets/index.js', '/messages/1/2'])
        expect([page, (await plain('GET', page, { host })).status]).toEqual([page, 403]);
    }
    for (const host of ['localhost', '[::1]:80', gateway.url.replace('http://', '')])
      expect((await plain('GET', 'session', { host })).status).toBe(200);
  });

  it('a page is also served with a slash at the end of its address', async () => {
    for (const [path, status, base] of [
      ['', 200, './'],
      ['messages', 200, '../'],
      ['settings/webhook', 200, '../../'],
      ['a/acc_1', 200, './'],
      ['a/acc_1/messages', 200, '../'],
      ['api/session', 404, undefined],
    ] as const) {
      const answer = await fetch(`${gateway.url}/portal/${path}${path && '/'}`);
      const found = /<base href="([^"]+)"/.exec(await answer.text())?.[1];
      expect([path, answer.status, found]).toEqual([path, status, base]);
    }
  });

  it('the suspension of an account ends its members’ sessions, and closes it until it is resumed', async () => {
    const { accountId } = await gateway.account('suspended');
    const elsewhere = (await gateway.account('elsewhere')).accountId;
    const member = await signedIn(gateway, 'admin', accountId);
    const other = await signedIn(gateway, 'admin', elsewhere);
    const operator = await signedIn(gateway, 'operator', accountId);
    const former = member.cookie;
    await clients.operator.ok('POST', `accounts/${accountId}/suspend`);
    expect((await member.call('GET', 'webhooks')).status).toBe(401);
    expect((await other.call('GET', 'webhooks')).status).toBe(200);
    const { email } = member;
    expect(await member.ok('POST', 'session', { email, password: PASSWORD })).toMatchObject({
      account: { id: accountId, suspended: true },
    });
    const asked = closed().filter(({ access }) => access !== 'user' && access !== 'operator');
    expect(await statuses(asked, (route) => ask(member, route))).toEqual(
      only(asked, '403 account_disabled'),
    );
    expect((await operator.call('GET', 'webhooks')).status).toBe(200);
    await clients.operator.ok('POST', `accounts/${accountId}/resume`, { waiting: 'send' });
    expect((await member.call('GET', 'webhooks')).status).toBe(200);
    member.cookie = former;
    expect((await member.call('GET', 'webhooks')).status).toBe(401);
  });

  it('a new role, and the end of a membership, count at the next request', async () => {
    const { accountId } = await gateway.account('changing');
    const [admin, member] = [
      await signedIn(gateway, 'admin', accountId),
      await signedIn(gateway, 'viewer', accountId),
    ];
    const { data } = await admin.ok<{ data: { userId: string; isSelf: boolean }[] }>(
      'GET',
      'members',
    );
    const [self, other] = [data.find(({ isSelf }) => isSelf)!, data.find(({ isSelf }) => !isSelf)!];
    expect((await member.call('GET', 'security')).status).toBe(403);
    await admin.ok('PATCH', `members/${other.userId}`, { role: 'admin' });
    expect((await member.call('GET', 'security')).status).toBe(200);
    await admin.ok('DELETE', `members/${other.userId}`);
    expect((await member.call('GET', 'security')).status).toBe(403);
    expect(await member.ok('GET', 'session')).toMatchObject({ account: null, accounts: [] });
    expect((await admin.call('DELETE', `members/${self.userId}`)).status).toBe(422);
    expect(
      (await admin.call('PATCH', `members/${self.userId}`, { body: { role: 'viewer' } })).status,
    ).toBe(422);
  });
});
