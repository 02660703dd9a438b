import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { DataSource } from 'typeorm';
import type {
  AuditEntry,
  Listed,
  NewSecondFactor,
  OwnSession,
  RecoveryCodes,
  Session,
} from '../../../src/portal/portal-api.js';
import { SetUpLinks } from '../../../src/portal/sign-in/set-up-links.js';
import { SecondFactor } from '../../../src/portal/sign-in/sign-in.tables.js';
import { Browser } from '../../support/browser.js';
import { buildPages } from '../../support/builds.js';
import { wrongInAll } from '../../support/page-check.js';
import { describeEachDatabase } from '../../support/databases.js';
import { describeWithServer } from '../../support/servers.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { codeOf, PASSWORD, PortalClient, signedIn } from './portal-client.js';

// Hashes many passwords.
jest.setTimeout(120_000);

/** An authenticator app: never shows the same code twice. */
class Authenticator {
  readonly #totp: TOTP;
  #shown = 0;

  constructor(secret: string) {
    this.#totp = new TOTP({ secret: Secret.fromBase32(secret) });
  }

  code(at = Date.now()): string {
    return this.#totp.generate({ timestamp: at });
  }

  /**
   * The code of the present period at first, then that of the next one. The gateway takes both for
   * at least 30 s, so that a slow page does not make them stale.
   */
  next(): string {
    const ahead = this.#shown++;
    if (ahead > 1) throw new Error('the gateway takes no code of a later period yet');
    return this.code(Date.now() + ahead * 30_000);
  }
}

describe('the second factor', () => {
  const gateway = new TestGateway({
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  const signIn = (email: string, secondFactor?: string, client = new PortalClient(gateway)) =>
    client.call('POST', 'session', {
      body: { email, password: PASSWORD, ...(secondFactor !== undefined && { secondFactor }) },
    });

  async function withFactor(role: 'viewer' | 'admin' | 'operator' = 'viewer', accountId?: string) {
    const account = accountId ?? (await gateway.account()).accountId;
    const member = await signedIn(gateway, role, account);
    const prepared = await member.ok<NewSecondFactor>('POST', 'second-factor', {
      current: PASSWORD,
    });
    const app = new Authenticator(prepared.secret);
    const { codes } = await member.ok<RecoveryCodes>('POST', 'second-factor/confirm', {
      code: app.next(),
    });
    return { account, member, app, codes, prepared };
  }

  it('a user who switched it on signs in with the password and a code, and not without', async () => {
    const { member, app, prepared } = await withFactor();
    expect(prepared.uri).toMatch(/^otpauth:\/\/totp\/.*secret=/);
    expect(prepared.qr.path).toMatch(/^M\d+ \d+h1v1h-1z/);
    expect(await member.ok('GET', 'second-factor')).toMatchObject({ recoveryCodes: 10 });
    const client = new PortalClient(gateway);
    expect(await signIn(member.email, undefined, client)).toMatchObject({
      status: 200,
      body: { user: null, missing: 'code' },
    });
    expect(client.cookie).toBeUndefined();
    expect((await signIn(member.email, '000000', client)).status).toBe(401);
    expect(client.cookie).toBeUndefined();
    expect(await signIn(member.email, app.next(), client)).toMatchObject({
      status: 200,
      body: { user: { email: member.email }, missing: null },
    });
    expect((await client.call('GET', 'webhooks')).status).toBe(200);
  });

  it('a wrong password is answered like before, with or without a code', async () => {
    const { member, app } = await withFactor();
    const answers = await Promise.all(
      [undefined, app.code()].map((secondFactor) =>
        new PortalClient(gateway).call('POST', 'session', {
          body: { email: member.email, password: 'not the password', secondFactor },
        }),
      ),
    );
    for (const { status, text } of answers)
      expect(`${status} ${text}`).toContain(
        '401 {"error":{"code":"unauthorized","message":"The e-m',
      );
  });

  it('a code works once, also for two requests at the same time', async () => {
    const { member, app, codes } = await withFactor();
    const code = app.next();
    const answers = await Promise.all([signIn(member.email, code), signIn(member.email, code)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
    expect((await signIn(member.email, code)).status).toBe(401);
    expect((await signIn(member.email, codes[0])).status).toBe(200);
  });

  it('a recovery code replaces the phone once', async () => {
    const { member, codes } = await withFactor();
    expect(new Set(codes).size).toBe(10);
    const [code = ''] = codes;
    expect((await signIn(member.email, code.toLowerCase().replaceAll('-', ' '))).status).toBe(200);
    expect((await signIn(member.email, code)).status).toBe(401);
    expect(await member.ok('GET', 'second-factor')).toMatchObject({ recoveryCodes: 9 });
    const renewed = await member.ok<RecoveryCodes>('POST', 'second-factor/recovery-codes', {
      code: codes[1],
    });
    expect((await signIn(member.email, codes[2])).status).toBe(401);
    expect((await signIn(member.email, renewed.codes[0])).status).toBe(200);
  });

  it('ten wrong codes for a user stop further ones from every network', async () => {
    const { member, app } = await withFactor();
    const answers: number[] = [];
    for (let n = 0; n < 11; n++)
      answers.push((await signIn(member.email, String(100_000 + n))).status);
    expect(answers).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
    expect((await signIn(member.email, app.next())).status).toBe(429);
    // The session that the person has goes on.
    expect((await member.call('GET', 'webhooks')).status).toBe(200);
  });

  it('switching it on needs the password and a code, and ends the other sessions', async () => {
    const { accountId } = await gateway.account();
    const member = await signedIn(gateway, 'viewer', accountId);
    const elsewhere = new PortalClient(gateway);
    expect((await signIn(member.email, undefined, elsewhere)).status).toBe(200);
    expect(
      await member.call('POST', 'second-factor', { body: { current: 'not the password' } }),
    ).toMatchObject({ status: 422, body: { error: { fields: [{ path: 'current' }] } } });
    const { secret } = await member.ok<NewSecondFactor>('POST', 'second-factor', {
      current: PASSWORD,
    });
    // Not confirmed: the password alone still signs in.
    expect((await signIn(member.email)).body).toMatchObject({ missing: null });
    expect(
      await member.call('POST', 'second-factor/confirm', { body: { code: '123456' } }),
    ).toMatchObject({ status: 422, body: { error: { fields: [{ path: 'code' }] } } });
    await member.ok('POST', 'second-factor/confirm', { code: new Authenticator(secret).next() });
    expect((await elsewhere.call('GET', 'webhooks')).status).toBe(401);
    expect((await member.call('GET', 'webhooks')).status).toBe(200);
    const again = await member.call('POST', 'second-factor', { body: { current: PASSWORD } });
    expect(again.status).toBe(422);
  });

  it('the key is stored encrypted, and neither key nor code is in the log', async () => {
    const { codes, prepared } = await withFactor();
    const rows = await gateway.running.app
      .get(DataSource, { strict: false })
      .manager.find(SecondFactor);
    for (const { secret } of rows) expect(secret).toMatch(/^enc1\./);
    const log = gateway.log.join('\n');
    for (const secret of [prepared.secret, ...codes]) expect(log).not.toContain(secret);
  });

  it('an account that requires it opens for members with one only, and shows the others how', async () => {
    const { accountId } = await gateway.account();
    const admin = await signedIn(gateway, 'admin', accountId);
    const member = await signedIn(gateway, 'viewer', accountId);
    expect(await admin.ok('PATCH', 'security', { requiresSecondFactor: true })).toMatchObject({
      requiresSecondFactor: true,
    });
    for (const path of ['webhooks', 'context', 'messages', 'live'])
      expect(await member.call('GET', path)).toMatchObject({
        status: 403,
        body: {
          error: { code: 'insufficient_scope', message: expect.stringContaining('second factor') },
        },
      });
    expect(await member.ok<Session>('GET', 'session')).toMatchObject({
      user: { email: member.email },
      missing: 'second factor',
    });
    const { secret } = await member.ok<NewSecondFactor>('POST', 'second-factor', {
      current: PASSWORD,
    });
    await member.ok('POST', 'second-factor/confirm', { code: new Authenticator(secret).next() });
    expect(await member.ok<Session>('GET', 'session')).toMatchObject({ missing: null });
    expect((await member.call('GET', 'webhooks')).status).toBe(200);
    const other = (await gateway.account()).accountId;
    const stranger = await signedIn(gateway, 'viewer', other);
    expect((await stranger.call('GET', 'webhooks')).status).toBe(200);
  });

  it('an operator resets it for a user who lost the phone, which the audit log shows', async () => {
    const { member, account } = await withFactor('admin');
    const operator = await signedIn(gateway, 'operator', account);
    const { data } = await operator.ok<{
      data: { userId: string; email: string; hasSecondFactor: boolean }[];
    }>('GET', 'members');
    const row = data.find(({ email }) => email === member.email);
    expect(row?.hasSecondFactor).toBe(true);
    const path = `users/${row?.userId ?? ''}/second-factor/reset`;
    expect((await member.call('POST', path)).status).toBe(403);
    await operator.ok('POST', path);
    expect((await member.call('GET', 'webhooks')).status).toBe(401);
    expect((await signIn(member.email)).body).toMatchObject({ missing: null });
    const anyAccount = await signedIn(gateway, 'operator');
    const audit = await anyAccount.ok<Listed<AuditEntry>>('GET', 'audit');
    expect(audit.data.find(({ action }) => action === 'user.second_factor_reset')).toMatchObject({
      userEmail: operator.email,
      target: row?.userId,
    });
  });

  it('a link for a new password does not replace the second factor', async () => {
    const { member, app } = await withFactor();
    const links = gateway.running.app.get(SetUpLinks, { strict: false });
    const { link } = await links.reset(member.email);
    const setUp = (secondFactor?: string) =>
      new PortalClient(gateway).call('POST', 'setup', {
        body: {
          code: codeOf(link),
          email: member.email,
          password: 'a new and longer phrase',
          ...(secondFactor !== undefined && { secondFactor }),
        },
      });
    expect(await setUp()).toMatchObject({ status: 200, body: { user: null, missing: 'code' } });
    expect(await setUp('000000')).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'secondFactor' }] } },
    });
    expect((await signIn(member.email)).body).toMatchObject({ missing: 'code' });
    expect(await setUp(app.next())).toMatchObject({ status: 200, body: { missing: null } });
  });
});

describe('operators with PORTAL_OPERATOR_SECOND_FACTOR=required', () => {
  const gateway = new TestGateway({ PORTAL_OPERATOR_SECOND_FACTOR: 'required' });
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  it('set one up before any page opens, while members need none', async () => {
    const { accountId } = await gateway.account();
    const operator = await signedIn(gateway, 'operator');
    const member = await signedIn(gateway, 'viewer', accountId);
    expect((await member.call('GET', 'webhooks')).status).toBe(200);
    expect((await operator.call('GET', 'accounts')).status).toBe(403);
    expect(await operator.ok<Session>('GET', 'session')).toMatchObject({
      missing: 'second factor',
    });
    const { secret } = await operator.ok<NewSecondFactor>('POST', 'second-factor', {
      current: PASSWORD,
    });
    await operator.ok('POST', 'second-factor/confirm', { code: new Authenticator(secret).next() });
    expect((await operator.call('GET', 'accounts')).status).toBe(200);
  });
});

describeWithServer('chromium', 'the second factor in the pages', () => {
  const gateway = new TestGateway();
  let browser: Browser;
  beforeAll(async () => {
    await buildPages();
    await gateway.start();
    browser = await Browser.open(gateway.url);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway.destroy();
  });

  it('a member of an account that requires one sets it up, signs in with a code, and ends another session', async () => {
    const { accountId } = await gateway.account();
    const admin = await signedIn(gateway, 'admin', accountId);
    const member = await signedIn(gateway, 'viewer', accountId);
    await admin.ok('PATCH', 'security', { requiresSecondFactor: true });
    const page = await browser.page();
    const look = async (name: string): Promise<string[]> => {
      const wrong = await wrongInAll(page, name);
      await page.setViewportSize({ width: 1280, height: 860 });
      return wrong;
    };
    const signInAs = async (): Promise<void> => {
      await page.getByLabel('E-mail').fill(member.email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await page.goto(`${gateway.url}/portal/`);
    await signInAs();
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('img', { name: 'QR code of the key' }).waitFor();
    expect(await look('second-factor-key')).toEqual([]);
    const app = new Authenticator((await page.locator('.copy code').textContent()) ?? '');
    await page.getByLabel('Code', { exact: true }).fill(app.next());
    await page.getByRole('button', { name: 'Switch it on' }).click();
    const codes = (await page.getByLabel('Recovery codes').textContent())?.split('\n') ?? [];
    expect(codes).toHaveLength(10);
    expect(await look('second-factor-codes')).toEqual([]);
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signInAs();
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
    expect(await look('second-factor-code')).toEqual([]);
    await page.getByLabel('Code', { exact: true }).fill(app.next());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    const elsewhere = new PortalClient(gateway);
    await elsewhere.ok('POST', 'session', {
      email: member.email,
      password: PASSWORD,
      secondFactor: codes[0],
    });
    await page.goto(`${gateway.url}/portal/settings/security`);
    await page.getByText('Recovery codes left').waitFor();
    expect(await look('security-second-factor')).toEqual([]);
    await page.getByRole('button', { name: /^End the session/ }).click();
    await page.getByRole('button', { name: 'End it' }).click();
    await page.getByText('Session ended').waitFor();
    expect((await elsewhere.call('GET', 'webhooks')).status).toBe(401);
    expect(browser.complaints).toEqual([]);
  });
});

describeEachDatabase('the sessions of a user', (db) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = new TestGateway({ DATABASE_URL: db.url });
    await gateway.start();
  });
  afterAll(() => gateway.destroy());

  it('many sign-ins of a user from one browser at once all start a session, and prepared keys replace each other', async () => {
    const { accountId } = await gateway.account();
    const member = await signedIn(gateway, 'viewer', accountId);
    const browser = new PortalClient(gateway);
    await browser.ok('POST', 'session', { email: member.email, password: PASSWORD });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => {
        const tab = new PortalClient(gateway);
        tab.browser = browser.browser;
        const body = { email: member.email, password: PASSWORD };
        return tab.call('POST', 'session', { body });
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    const prepared = await Promise.all(
      [1, 2, 3].map(() => member.call('POST', 'second-factor', { body: { current: PASSWORD } })),
    );
    expect(prepared.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('are listed with address and browser, and end one by one by their owner alone', async () => {
    const { accountId } = await gateway.account();
    const member = await signedIn(gateway, 'viewer', accountId);
    const other = await signedIn(gateway, 'viewer', accountId);
    const elsewhere = new PortalClient(gateway);
    const { status } = await elsewhere.call('POST', 'session', {
      body: { email: member.email, password: PASSWORD },
      headers: { 'user-agent': 'Mozilla/5.0 (Test)' },
    });
    expect(status).toBe(200);
    const { data } = await member.ok<Listed<OwnSession>>('GET', 'session/all');
    expect(data).toHaveLength(2);
    const theirs = data.find(({ isCurrent }) => !isCurrent);
    expect(theirs).toMatchObject({ ip: '127.0.0.1', userAgent: 'Mozilla/5.0 (Test)' });
    const shown = theirs?.id ?? '';
    expect((await other.call('DELETE', `session/all/${shown}`)).status).toBe(404);
    expect((await elsewhere.call('GET', 'webhooks')).status).toBe(200);
    await member.ok('DELETE', `session/all/${shown}`);
    expect((await elsewhere.call('GET', 'webhooks')).status).toBe(401);
    expect((await member.ok<Listed<OwnSession>>('GET', 'session/all')).data).toHaveLength(1);
  });
});
