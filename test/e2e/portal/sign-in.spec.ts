import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import type { AuditEntry, Listed } from '../../../src/portal/portal-api.js';
import { UserLink } from '../../../src/portal/portal.tables.js';
import { SetUpLinks } from '../../../src/portal/sign-in/set-up-links.js';
import { UsersService } from '../../../src/portal/sign-in/users.service.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { codeOf, PASSWORD, PortalClient, signedIn } from './portal-client.js';

// Hashes many passwords.
jest.setTimeout(120_000);

describe('the first start and set-up links', () => {
  const gateway = new TestGateway();
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  const users = () => gateway.running.app.get(UsersService, { strict: false });
  const links = () => gateway.running.app.get(SetUpLinks, { strict: false });
  const database = () => gateway.running.app.get(DataSource, { strict: false });

  it('the link of the first start makes an operator who is admin of the demo account', async () => {
    const demo = gateway.running.demo!;
    expect(demo.setup).toMatch(/^http:\/\/.*\/portal\/setup#code=[\w-]{43}$/);
    const client = new PortalClient(gateway);
    const code = codeOf(demo.setup);
    expect(await client.ok('POST', 'setup/check', { code })).toMatchObject({
      kind: 'first',
      email: null,
      accountName: 'demo',
      role: 'admin',
      isOperator: true,
    });
    const session = await client.setUp(demo.setup, 'Ada@Example.com');
    expect(session).toMatchObject({
      user: { email: 'ada@example.com', isOperator: true },
      account: { id: demo.accountId, name: 'demo', role: 'admin', suspended: false },
      accounts: [{ id: demo.accountId }],
      simulator: true,
    });
    expect(await client.ok('GET', 'session')).toEqual(session);
    const again = await client.call('POST', 'setup', {
      body: { code, email: 'eve@example.com', password: PASSWORD },
    });
    expect(again).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found', message: expect.stringContaining('used already') } },
    });
  });

  it('a wrong and an expired link are explained and change nothing', async () => {
    const { accountId } = await gateway.account();
    const actor = { userId: null, ip: null, accountId };
    const made = await links().invite({ accountId, role: 'viewer', operator: false }, actor);
    await database().manager.update(UserLink, { id: made.id }, { expiresAt: new Date(1) });
    const client = new PortalClient(gateway);
    const setUp = (code: string) =>
      client.call('POST', 'setup', {
        body: { code, email: 'late@example.com', password: PASSWORD },
      });
    expect(await setUp(codeOf(made.link))).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringContaining('has expired') } },
    });
    expect(await setUp('nothing-of-ours')).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringContaining('is wrong') } },
    });
    expect(client.cookie).toBeUndefined();
    expect((await users().list()).map(({ user }) => user.email)).not.toContain('late@example.com');
  });

  it('a short password and a repetitive password are refused by name', async () => {
    const demo = await gateway.account();
    const actor = { userId: null, ip: null, accountId: demo.accountId };
    const { link } = await links().invite(
      { accountId: demo.accountId, role: 'viewer', operator: false },
      actor,
    );
    const client = new PortalClient(gateway);
    for (const password of ['elevenchars', 'aaaaaaaaaaaaaaaa', 'short@example.com'])
      expect(
        await client.call('POST', 'setup', {
          body: { code: codeOf(link), email: 'short@example.com', password },
        }),
      ).toMatchObject({ status: 422, body: { error: { fields: [{ path: 'password' }] } } });
    await client.setUp(link, 'short@example.com');
  });

  it('two concurrent uses of one link make one user', async () => {
    const { accountId } = await gateway.account();
    const actor = { userId: null, ip: null, accountId };
    const { link } = await links().invite({ accountId, role: 'viewer', operator: false }, actor);
    const answers = await Promise.all(
      ['one@example.com', 'two@example.com'].map((email) =>
        new PortalClient(gateway).call('POST', 'setup', {
          body: { code: codeOf(link), email, password: PASSWORD },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
    expect(await users().list(accountId)).toHaveLength(1);
  });

  it('an invitation adds an account to a user only with the password of that user', async () => {
    const [one, two] = [await gateway.account('one'), await gateway.account('two')];
    const member = await signedIn(gateway, 'viewer', one.accountId);
    const email = member.email;
    const actor = { userId: null, ip: null, accountId: two.accountId };
    const { link } = await links().invite(
      { accountId: two.accountId, role: 'sender', operator: false },
      actor,
    );
    const client = new PortalClient(gateway);
    const wrong = { code: codeOf(link), email, password: 'another long password' };
    expect(await client.call('POST', 'setup', { body: wrong })).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'password' }] } },
    });
    expect(await client.setUp(link, email)).toMatchObject({
      account: { id: two.accountId, role: 'sender' },
      accounts: [{ id: one.accountId, role: 'viewer' }, { id: two.accountId }],
    });
  });

  it('a link for a new password ends the sessions of the user and replaces the password', async () => {
    const { accountId } = await gateway.account();
    const member = await signedIn(gateway, 'admin', accountId);
    const email = member.email;
    const { link } = await links().reset(email);
    const fresh = 'a new and longer phrase';
    const client = new PortalClient(gateway);
    expect(await client.ok('POST', 'setup/check', { code: codeOf(link) })).toMatchObject({
      kind: 'reset',
      email,
    });
    const other = { code: codeOf(link), email: 'other@example.com', password: fresh };
    expect((await client.call('POST', 'setup', { body: other })).status).toBe(422);
    expect(await client.setUp(link, email, fresh)).toMatchObject({ account: { id: accountId } });
    expect((await member.call('GET', 'webhooks')).status).toBe(401);
    const signIn = (password: string) =>
      new PortalClient(gateway).call('POST', 'session', { body: { email, password } });
    expect((await signIn(PASSWORD)).status).toBe(401);
    expect((await signIn(fresh)).status).toBe(200);
  });

  it('no code of a link and no cookie is in the log', async () => {
    const { accountId } = await gateway.account();
    const actor = { userId: null, ip: null, accountId };
    const { link } = await links().invite({ accountId, role: 'viewer', operator: false }, actor);
    const client = new PortalClient(gateway);
    await client.setUp(link, 'quiet@example.com');
    const log = gateway.log.join('\n');
    for (const secret of [codeOf(link), client.cookie!.split('=')[1]!, PASSWORD, 'quiet@example'])
      expect(log).not.toContain(secret);
  });
});

describe('signing in', () => {
  const gateway = new TestGateway();
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  it('ten wrong passwords for a name are answered alike, and the eleventh attempt is refused', async () => {
    const { accountId } = await gateway.account();
    const member = await signedIn(gateway, 'viewer', accountId);
    for (const email of [member.email, 'nobody@example.com']) {
      const answers = [];
      for (let n = 0; n < 11; n++)
        answers.push(
          await new PortalClient(gateway).call('POST', 'session', {
            body: { email, password: `wrong password ${n}` },
          }),
        );
      const bodies = new Set(answers.slice(0, 10).map(({ status, text }) => `${status} ${text}`));
      expect([...bodies]).toEqual([
        '401 {"error":{"code":"unauthorized","message":"The e-mail address or the password is wrong"}}',
      ]);
      expect(answers[10]).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
      expect(Number(answers[10]?.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    // The right password is refused too, until the quarter of an hour is over, except from a browser
    // that has signed in to the name before.
    const body = { email: member.email, password: PASSWORD };
    expect((await new PortalClient(gateway).call('POST', 'session', { body })).status).toBe(429);
    expect((await member.call('GET', 'webhooks')).status).toBe(200);
  });

  it('the cookie is HttpOnly, SameSite=Strict and new at each sign-in', async () => {
    const { accountId } = await gateway.account();
    const member = await signedIn(gateway, 'viewer', accountId);
    const body = { email: member.email, password: PASSWORD };
    const before = member.cookie;
    const { headers } = await member.call('POST', 'session', { body });
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^dundun=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
      // Outlives the session: a later sign-in knows the browser by it.
      expect.stringMatching(
        /^dundun-browser=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/,
      ),
    ]);
    expect(member.cookie).not.toBe(before);
    const former = new PortalClient(gateway);
    former.cookie = before;
    expect((await former.call('GET', 'webhooks')).status).toBe(401);
  });

  it('a person changes the own password with the current one, which ends the other sessions', async () => {
    const { accountId } = await gateway.account();
    const member = await signedIn(gateway, 'viewer', accountId);
    const { email } = member;
    const elsewhere = new PortalClient(gateway);
    await elsewhere.ok('POST', 'session', { email, password: PASSWORD });
    const fresh = 'another long phrase';
    const change = (body: object) => member.call('POST', 'session/password', { body });
    for (const [path, body] of [
      ['current', { current: 'not the password', password: fresh }],
      ['password', { current: PASSWORD, password: 'short' }],
      ['password', { current: PASSWORD, password: 'aaaaaaaaaaaaaa' }],
    ] as const)
      expect(await change(body)).toMatchObject({
        status: 422,
        body: { error: { fields: [{ path }] } },
      });
    expect((await elsewhere.call('GET', 'webhooks')).status).toBe(200);
    expect((await change({ current: PASSWORD, password: fresh })).status).toBe(204);
    expect((await elsewhere.call('GET', 'webhooks')).status).toBe(401);
    expect((await member.call('GET', 'webhooks')).status).toBe(200);
    const signIn = (password: string) =>
      elsewhere.call('POST', 'session', { body: { email, password } });
    expect((await signIn(PASSWORD)).status).toBe(401);
    expect((await signIn(fresh)).status).toBe(200);
    const operator = await signedIn(gateway, 'operator');
    const { data } = await operator.ok<Listed<AuditEntry>>('GET', 'audit');
    expect(data.find(({ action }) => action === 'user.password_changed')).toMatchObject({
      userEmail: email,
      title: 'Set a new password',
    });
    expect((await change({ current: 'x', password: fresh })).status).toBe(422);
  });

  it('a session ends at sign-out, and after 30 minutes without a request of an operator', async () => {
    const { accountId } = await gateway.account();
    const [member, operator] = [
      await signedIn(gateway, 'viewer', accountId),
      await signedIn(gateway, 'operator', accountId),
    ];
    const database = gateway.running.app.get(DataSource, { strict: false });
    const ago = Date.now() - 31 * 60_000;
    await database.query(`UPDATE gateway_session SET last_used_at = ${ago}`);
    expect((await operator.call('GET', 'webhooks')).status).toBe(401);
    const { cookie } = member;
    expect((await member.call('GET', 'webhooks')).status).toBe(200);
    expect((await member.call('DELETE', 'session')).status).toBe(204);
    expect(member.cookie).toBeUndefined();
    member.cookie = cookie;
    expect((await member.call('GET', 'webhooks')).status).toBe(401);
    expect(await member.ok('GET', 'session')).toMatchObject({ user: null, account: null });
  });
});

describe('signing in behind a proxy', () => {
  const gateways = {
    trusted: new TestGateway({ TRUSTED_PROXIES: '127.0.0.1,::1' }),
    not: new TestGateway(),
  };
  beforeAll(() => Promise.all(Object.values(gateways).map((gateway) => gateway.start())));
  afterAll(() => Promise.all(Object.values(gateways).map((gateway) => gateway.destroy())));

  it('X-Forwarded-For counts as the address of the person only from a trusted proxy', async () => {
    const body = { email: 'nobody@example.com', password: 'a wrong password' };
    const last = async (gateway: TestGateway, spread: boolean): Promise<number> => {
      let status = 0;
      for (let n = 0; n < 11; n++) {
        const headers = { 'x-forwarded-for': `203.0.113.${spread ? n : 1}` };
        ({ status } = await new PortalClient(gateway).call('POST', 'session', { body, headers }));
      }
      return status;
    };
    expect(await last(gateways.trusted, true)).toBe(401);
    expect(await last(gateways.trusted, false)).toBe(429);
    expect(await last(gateways.not, true)).toBe(429);
  });
});
