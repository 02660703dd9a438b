import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type {
  AccountSettings,
  DoNotCall,
  ApiKeys,
  AuditEntry,
  CreatedAccount,
  CreatedApiKey,
  Domain,
  Group,
  InvitationLink,
  Listed,
  Members,
  RotatedToken,
  Security,
  SenderRequest,
  Senders,
  Session,
  SmppPair,
  SmppSettings,
  Suppression,
  NewTemplate,
  Template,
  TestEvent,
  WebhookAttempt,
  Webhooks,
  WebhookEvents,
  WebhookSecret,
  WebhookSuccess,
} from '../../../src/portal/portal-api.js';
import { AccountSettings as OwnSettings } from '../../../src/accounts/account-settings.js';
import { SmppCredentials } from '../../../src/smpp/smpp-credentials.service.js';
import { answer, Receiver } from '../../integration/webhooks/receiver.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { commandLine } from '../gateway/command-line.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { codeOf, PortalClient, signedIn } from './portal-client.js';

const TO = '2348012345678';

describeOneDatabase('the settings of an account', (database) => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let account: { accountId: string; apiToken: string; apiKey: string };
  let admin: PortalClient;
  let viewer: PortalClient;
  let operator: PortalClient;

  beforeAll(async () => {
    gateway = new TestGateway({
      DATABASE_URL: database.url,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      SENDER_APPROVAL: 'operator',
    });
    await gateway.start();
    receiver = await Receiver.start();
    account = await gateway.account('settings');
    [admin, viewer, operator] = await Promise.all([
      signedIn(gateway, 'admin', account.accountId),
      signedIn(gateway, 'viewer', account.accountId),
      signedIn(gateway, 'operator', account.accountId),
    ]);
  });
  afterAll(async () => {
    await gateway.destroy();
    await receiver.close();
  });

  const send = (token: string, body: object = {}) =>
    gateway.call('POST', '/ng/v1/sendsms', {
      token,
      body: { from: 'ACME', to: [TO], body: 'Hello', delivery_report: 'yes', ...body },
    });

  it('a rotated token is shown once, works at once and ends the former one', async () => {
    const before = await admin.ok<Security>('GET', 'security');
    expect(before.token?.lastFour).toBe(account.apiToken.slice(-4));
    const { token, info } = await admin.ok<RotatedToken>('POST', 'security/rotate');
    expect(info.lastFour).toBe(token.slice(-4));
    expect((await send(account.apiToken)).status).toBe(401);
    expect((await send(token)).status).toBe(200);
    account = { ...account, apiToken: token };
    const shown = await admin.call('GET', 'security');
    expect(shown.text).not.toContain(token);
  });

  it('a test event arrives signed, and the attempts show it with its answer', async () => {
    const { webhook, secret } = await admin.ok<WebhookSecret>('POST', 'webhooks', {
      url: receiver.url,
      events: ['email.bounced'],
    });
    expect(secret).toMatch(/^whsec_/);
    const { deliveryId } = await admin.ok<TestEvent>('POST', `webhooks/${webhook.id}/test`);
    await eventually(async () => {
      const { data } = await viewer.ok<Listed<WebhookAttempt>>(
        'GET',
        `webhooks/${webhook.id}/attempts`,
      );
      expect(data).toMatchObject([
        {
          deliveryId,
          type: 'webhook.test',
          attempt: 1,
          statusCode: 204,
          error: null,
          errorText: null,
          state: 'delivered',
          nextAttemptAt: null,
        },
      ]);
    });
    const listed = await viewer.ok<Webhooks>('GET', 'webhooks');
    expect(listed.data).toMatchObject([{ id: webhook.id, status: 'enabled', failingSince: null }]);
    expect(listed.kinds).toEqual(
      expect.arrayContaining(['sms.delivery_report', 'email.bounced', 'email.domain_verified']),
    );
    const rotated = await admin.ok<WebhookSecret>('POST', `webhooks/${webhook.id}/rotate-secret`);
    expect(rotated.secret).not.toBe(secret);
    expect(rotated.webhook.previousSecretUntil).not.toBeNull();
    await admin.ok('PATCH', `webhooks/${webhook.id}`, { enabled: false });
    expect(await admin.call('POST', `webhooks/${webhook.id}/test`)).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'webhook' }] } },
    });
    await admin.ok('DELETE', `webhooks/${webhook.id}`);
  });

  it('a failed callback is shown masked with its next attempt, and is sent again on request', async () => {
    receiver.respond = answer(500);
    const { webhook } = await admin.ok<WebhookSecret>('POST', 'webhooks', { url: receiver.url });
    expect((await send(account.apiToken)).status).toBe(200);
    const attempts = async () =>
      (await viewer.ok<Listed<WebhookAttempt>>('GET', `webhooks/${webhook.id}/attempts`)).data;
    await eventually(async () =>
      expect(await attempts()).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ error: 'http_status', statusCode: 500, state: 'due' }),
        ]),
      ),
    );
    const failed = (await attempts()).find(({ state }) => state === 'due')!;
    expect(failed.nextAttemptAt).not.toBeNull();
    expect(failed.errorText).toContain('answered with an error');
    expect(failed.request).toContain('+234 801 ••• 5678');
    expect(failed.request).not.toContain(TO);
    receiver.respond = answer(204);
    const { deliveryId } = failed;
    expect(await admin.ok('POST', `webhooks/${webhook.id}/redeliver`, { deliveryId })).toEqual({
      redelivered: 1,
    });
    await eventually(async () =>
      expect(await attempts()).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ deliveryId, attempt: 1, redeliveries: 1, statusCode: 204 }),
          expect.objectContaining({ deliveryId, attempt: 1, redeliveries: 0, statusCode: 500 }),
        ]),
      ),
    );
    const none = { deliveryId: '01993021-0000-7000-8000-000000000000' };
    expect(
      (await admin.call('POST', `webhooks/${webhook.id}/redeliver`, { body: none })).status,
    ).toBe(404);
    await admin.ok('DELETE', `webhooks/${webhook.id}`);
  });

  it('a message from the page, and its repetition, have callbacks, and their attempts say of what', async () => {
    receiver.respond = answer(204);
    const { webhook } = await admin.ok<WebhookSecret>('POST', 'webhooks', { url: receiver.url });
    const attempts = async () =>
      (await viewer.ok<Listed<WebhookAttempt>>('GET', `webhooks/${webhook.id}/attempts`)).data;
    const { batchId } = await admin.ok<{ batchId: string }>('POST', 'messages', {
      channel: 'sms',
      from: 'ACME',
      to: [TO],
      content: { kind: 'text', text: 'Hello' },
    });
    const told = async (batch: string) =>
      (await attempts()).flatMap(({ messageId, status }) =>
        messageId === `${batch}-0` ? [String(status)] : [],
      );
    await eventually(async () =>
      expect((await told(batchId)).toSorted()).toEqual(['delivered', 'sent']),
    );
    const again = await admin.ok<{ batchId: string }>('POST', `messages/${batchId}-0/resend`, {});
    await eventually(async () =>
      expect((await told(again.batchId)).toSorted()).toEqual(['delivered', 'sent']),
    );
    expect(await viewer.ok('GET', `callbacks/${batchId}-0`)).toMatchObject({
      asked: true,
      data: [{ status: 'sent' }, { status: 'delivered' }],
    });
    const { body } = await send(account.apiToken, { delivery_report: 'none' });
    const silent = await viewer.ok('GET', `callbacks/${String(body['reference_id'])}-0`);
    expect(silent).toMatchObject({ asked: false, data: [] });
    await admin.ok('DELETE', `webhooks/${webhook.id}`);
  });

  it('attempts are found by event, result, code and time, and counted by hour and day', async () => {
    receiver.respond = answer(500);
    const { webhook } = await admin.ok<WebhookSecret>('POST', 'webhooks', { url: receiver.url });
    const path = `webhooks/${webhook.id}`;
    const found = async (filter: string) =>
      (await viewer.ok<Listed<WebhookAttempt>>('GET', `${path}/attempts?${filter}`)).data.length;
    await admin.ok('POST', `${path}/test`);
    await eventually(async () => expect(await found('code=500')).toBe(1));
    receiver.respond = answer(204);
    await admin.ok('POST', `${path}/test`);
    await eventually(async () => expect(await found('code=204')).toBe(1));
    const now = Date.now();
    const [before, after] = [now - 60_000, now + 60_000].map((at) => new Date(at).toISOString());
    for (const [filter, expected] of [
      ['event=webhook.test', 2],
      ['event=sms.delivery_report', 0],
      ['result=success', 1],
      ['result=failed', 1],
      ['result=failed&code=204', 0],
      ['code=timeout', 0],
      [`since=${before}`, 2],
      [`since=${before}&until=${after}&event=webhook.test&result=failed`, 1],
      [`until=${before}`, 0],
    ] as const)
      expect([filter, await found(filter)]).toEqual([filter, expected]);
    for (const wrong of ['result=some', 'code=5', 'since=yesterday', 'cursor=1.1'])
      expect([wrong, (await viewer.call('GET', `${path}/attempts?${wrong}`)).status]).toEqual([
        wrong,
        422,
      ]);
    for (const [period, slots] of [
      ['24h', 24],
      ['14d', 14],
    ] as const) {
      const success = await viewer.ok<WebhookSuccess>('GET', `${path}/success?period=${period}`);
      expect(success.slots).toHaveLength(slots);
      const sum = (of: 'succeeded' | 'failed') =>
        success.slots.reduce((total, slot) => total + slot[of], 0);
      expect([sum('succeeded'), sum('failed')]).toEqual([1, 1]);
      expect(success.countedSince).toBeNull();
    }
    await admin.ok('DELETE', path);
  });

  it('attempts are listed by time in pages without gaps', async () => {
    receiver.respond = answer(204);
    const { webhook } = await admin.ok<WebhookSecret>('POST', 'webhooks', { url: receiver.url });
    const path = `webhooks/${webhook.id}`;
    const page = (query: string) =>
      viewer.ok<Listed<WebhookAttempt>>('GET', `${path}/attempts?${query}`);
    for (let tests = 0; tests < 5; tests++) await admin.ok('POST', `${path}/test`);
    await eventually(async () => expect((await page('limit=100')).data).toHaveLength(5));
    const all = (await page('limit=100')).data.map(({ deliveryId }) => deliveryId);
    const paged: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = `limit=2&event=webhook.test${cursor && `&cursor=${cursor}`}`;
      const { data, nextCursor }: Listed<WebhookAttempt> = await page(query);
      paged.push(...data.map(({ deliveryId }) => deliveryId));
      cursor = nextCursor;
    }
    expect(paged).toEqual(all);
    await admin.ok('DELETE', path);
  });

  it('the catalogue has an example of every kind of callback that a webhook may choose', async () => {
    const { data } = await viewer.ok<WebhookEvents>('GET', 'webhooks/events');
    const { kinds } = await viewer.ok<Webhooks>('GET', 'webhooks');
    expect(data.map(({ type }) => type).toSorted()).toEqual(kinds.toSorted());
    for (const { type, example, summary } of data) {
      expect([type, JSON.parse(example)]).toEqual([type, expect.objectContaining({ type })]);
      expect([type, summary]).toEqual([type, expect.stringMatching(/^\S.+[^.]$/)]);
    }
  });

  it('a sender ID that an admin adds is used only after an operator approved it', async () => {
    const shop = { channel: 'sms', sender: 'SHOP' };
    expect(await admin.ok('POST', 'senders', shop)).toEqual({
      ...shop,
      state: 'pending',
    });
    const from = { from: 'SHOP' };
    expect((await send(account.apiToken, from)).body).toMatchObject({
      error: { code: 'sender_not_registered' },
    });
    const asked = { accountId: account.accountId, ...shop };
    expect(await operator.ok<Listed<SenderRequest>>('GET', 'sender-requests')).toEqual({
      data: [{ ...asked, accountName: 'settings', as: 'sender ID' }],
      nextCursor: null,
    });
    await operator.ok('POST', 'sender-requests/approve', asked);
    expect((await send(account.apiToken, from)).status).toBe(200);
    const again = await operator.call('POST', 'sender-requests/reject', { body: asked });
    expect(again.status).toBe(404);
    expect(await viewer.ok<Senders>('GET', 'senders')).toMatchObject({
      data: [
        { channel: 'sms', sender: 'ACME', state: 'approved' },
        { channel: 'sms', sender: 'SHOP', state: 'approved' },
      ],
      ofChannels: { sms: ['ACME', 'SHOP'], whatsapp: [expect.stringMatching(/^234\d{10}$/)] },
      approval: 'operator',
    });
    await admin.ok('DELETE', 'senders/sms/SHOP');
    expect((await send(account.apiToken, from)).status).toBe(422);
    expect(
      await admin.call('POST', 'senders', { body: { ...shop, sender: '12345' } }),
    ).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'sender' }] } },
    });
  });

  it('a caller id that an admin adds is called from only after an operator approved it', async () => {
    const caller = { channel: 'voice', sender: '2348000000077' };
    const ring = () =>
      gateway.call('POST', '/ng/v1/voice/calls', {
        token: account.apiToken,
        body: { from: caller.sender, to: ['2348012345678'], text: 'Hello' },
      });
    expect(await admin.ok('POST', 'senders', caller)).toEqual({ ...caller, state: 'pending' });
    expect((await ring()).body).toMatchObject({ error: { code: 'caller_not_registered' } });
    const estimate = {
      channel: 'voice',
      from: caller.sender,
      to: ['2348012345678'],
      content: { kind: 'call', text: 'Hello' },
    };
    expect(await admin.call('POST', 'messages/estimate', { body: estimate })).toMatchObject({
      status: 422,
      body: { error: { code: 'caller_not_registered', fields: [{ path: 'from' }] } },
    });
    const asked = { accountId: account.accountId, ...caller };
    expect(await operator.ok<Listed<SenderRequest>>('GET', 'sender-requests')).toEqual({
      data: [{ ...asked, accountName: 'settings', as: 'caller id' }],
      nextCursor: null,
    });
    await operator.ok('POST', 'sender-requests/approve', asked);
    expect((await ring()).status).toBe(200);
    expect((await admin.call('POST', 'messages/estimate', { body: estimate })).status).toBe(200);
    expect(await viewer.ok<Senders>('GET', 'senders')).toMatchObject({
      ofChannels: { voice: [caller.sender] },
    });
    await admin.ok('DELETE', `senders/voice/${caller.sender}`);
    expect((await ring()).status).toBe(422);
    await admin.ok('POST', 'senders', caller);
    await operator.ok('POST', 'sender-requests/reject', asked);
    expect((await operator.ok<Listed<SenderRequest>>('GET', 'sender-requests')).data).toEqual([]);
    const wrong = await admin.call('POST', 'senders', { body: { ...caller, sender: 'ACME' } });
    expect([wrong.status, wrong.body]).toMatchObject([422, { error: { fields: [{}] } }]);
    const email = await admin.call('POST', 'senders', { body: { ...caller, channel: 'email' } });
    expect(email.status).toBe(404);
  });

  it('a number on the do-not-call list gets no marketing call, and is masked until it is asked for', async () => {
    const phone = '2348012345699';
    await operator.ok('POST', 'senders', { channel: 'voice', sender: '2348000000078' });
    const ring = (category: string) =>
      gateway.call('POST', '/ng/v1/voice/calls', {
        token: account.apiToken,
        body: { from: '2348000000078', to: [phone], text: 'Hello', category },
      });
    expect((await viewer.call('POST', 'do-not-call', { body: { phone } })).status).toBe(403);
    await admin.ok('POST', 'do-not-call', { phone });
    expect((await ring('marketing')).body).toMatchObject({ error: { code: 'do_not_call' } });
    expect((await ring('transactional')).status).toBe(200);
    const listed = await viewer.ok<Listed<DoNotCall>>('GET', 'do-not-call');
    expect(listed.data).toMatchObject([{ phone: '+234 801 ••• 5699', category: 'marketing' }]);
    expect((await viewer.call('GET', 'do-not-call?reveal=true')).status).toBe(403);
    const named = await viewer.ok<Listed<DoNotCall>>('GET', `do-not-call?phone=${phone}`);
    expect(named.data).toMatchObject([{ phone }]);
    const wrong = await admin.call('POST', 'do-not-call', { body: { phone: '12' } });
    expect(wrong).toMatchObject({ status: 422, body: { error: { fields: [{ path: 'phone' }] } } });
    await admin.ok('POST', 'do-not-call/remove', { phone });
    expect((await ring('marketing')).status).toBe(200);
    expect((await admin.call('POST', 'do-not-call/remove', { body: { phone } })).status).toBe(404);
  });

  it('an invitation is listed until it is used or withdrawn', async () => {
    const { invitation, link } = await admin.ok<InvitationLink>('POST', 'members', {
      role: 'sender',
      email: 'new@example.com',
    });
    expect((await admin.ok<Members>('GET', 'members')).invitations).toEqual([invitation]);
    const other = { code: codeOf(link), email: 'other@example.com', password: 'quite a long one' };
    const wrong = await new PortalClient(gateway).call('POST', 'setup', { body: other });
    expect(wrong.status).toBe(422);
    await new PortalClient(gateway).setUp(link, 'new@example.com');
    const { data, invitations } = await admin.ok<Members>('GET', 'members');
    expect(invitations).toEqual([]);
    expect(data).toContainEqual(
      expect.objectContaining({ email: 'new@example.com', role: 'sender', isSelf: false }),
    );
    const second = await admin.ok<InvitationLink>('POST', 'members', { role: 'viewer' });
    await admin.ok('DELETE', `members/invitations/${second.invitation.id}`);
    const gone = {
      code: codeOf(second.link),
      email: 'x@example.com',
      password: 'quite a long one',
    };
    expect((await new PortalClient(gateway).call('POST', 'setup', { body: gone })).status).toBe(
      404,
    );
  });

  it('a key has the chosen scopes, is shown once and ends when it is revoked', async () => {
    const made = await admin.ok<CreatedApiKey>('POST', 'keys', { scopes: ['email:read'] });
    expect(made).toMatchObject({ scopes: ['email:read'], expiresAt: null });
    const read = () => gateway.call('GET', '/email/ng/v1/domains', { token: made.key });
    expect((await read()).status).toBe(200);
    const listed = await admin.ok<ApiKeys>('GET', 'keys');
    expect(listed.data.find(({ id }) => id === made.id)).toMatchObject({ status: 'active' });
    expect(JSON.stringify(listed)).not.toContain('svk_');
    await admin.ok('DELETE', `keys/${made.id}`);
    expect((await read()).status).toBe(401);
    expect(await admin.call('POST', 'keys', { body: { scopes: ['all'] } })).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'scopes[0]' }] } },
    });
  });

  it('groups, templates, domains and suppressions are those of the API', async () => {
    const group = await admin.ok<Group>('POST', 'groups', { name: 'Friends' });
    await admin.ok('POST', `groups/${group.id}/members`, { members: [TO] });
    expect(await viewer.ok('GET', `groups/${group.id}/members`)).toMatchObject({
      data: [{ addresses: ['+234 801 ••• 5678'] }],
    });
    expect(await admin.ok('GET', `groups/${group.id}/members?reveal=true`)).toMatchObject({
      data: [{ addresses: [TO] }],
    });
    for (const path of [`groups/${group.id}/members`, 'suppressions'])
      expect((await viewer.call('GET', `${path}?reveal=true`)).status).toBe(403);
    const csv = await admin.call('GET', `groups/${group.id}/members.csv`);
    expect([csv.status, csv.text]).toEqual([200, `phone,email,name\r\n${TO},,\r\n`]);
    expect((await viewer.call('GET', `groups/${group.id}/members.csv`)).status).toBe(403);
    const template: NewTemplate = {
      name: 'hello',
      language: 'en',
      category: 'utility',
      status: 'approved',
      paramsCount: 1,
    };
    const shown = { ...template, paramNames: null, body: null };
    expect(await admin.ok('POST', 'templates', template)).toEqual(shown);
    const templates = await viewer.ok<Listed<Template>>('GET', 'templates?limit=1');
    expect(templates).toEqual({ data: [shown], nextCursor: expect.any(String) });
    const domain = await admin.ok<Domain>('POST', 'domains', { name: 'mail.example.com' });
    expect(domain).toMatchObject({ status: 'pending', verifiedAt: null });
    expect((await viewer.ok<Listed<Domain>>('GET', 'domains')).data).toEqual([domain]);
    const email = 'ada@example.com';
    await admin.ok('POST', 'suppressions', { email });
    const list = (client: PortalClient, query = '') =>
      client.ok<Listed<Suppression>>('GET', `suppressions${query}`);
    expect((await list(viewer)).data).toMatchObject([{ email: 'a•••@example.com' }]);
    expect((await list(viewer, `?email=${email}`)).data).toMatchObject([{ email }]);
    expect((await list(admin, '?reveal=true')).data).toMatchObject([{ email }]);
    await admin.ok('POST', 'suppressions/lift', { email });
    expect((await list(admin)).data).toEqual([]);
  });

  it('an admin changes the words of the account, which opt out within a second', async () => {
    const mine = { stop: ['genug', 'aus'], start: ['los'], stopReply: 'Adieu', startReply: '' };
    const changed = await admin.ok<AccountSettings>('PATCH', 'account-settings', mine);
    expect(changed).toMatchObject({ words: mine, rate: null, defaultRate: '1000/s', orders: null });
    expect(changed.defaultWords.stop).toContain('unsubscribe');
    expect(await admin.ok('GET', 'account-settings')).toEqual(changed);
    expect((await viewer.call('GET', 'account-settings')).status).toBe(403);
    for (const [wrong, path] of [
      [{ stop: ['...'] }, 'stop'],
      [{ start: ['genug'] }, 'start'],
      [{ stop: 'genug' }, 'stop'],
      [{ stopReply: 'x'.repeat(1_001) }, 'stopReply'],
    ] as const)
      expect(
        await admin.call('PATCH', 'account-settings', { body: { ...mine, ...wrong } }),
      ).toMatchObject({ status: 422, body: { error: { fields: [{ path }] } } });
    const settings = gateway.running.app.get(OwnSettings, { strict: false });
    const meaning = (text: string) =>
      settings.inbound.consent?.(text, { tenant: account.accountId } as never);
    await eventually(async () => expect(meaning('Genug!')).toBe('opted_out'));
    const none = { stop: [], start: [], stopReply: '', startReply: '' };
    expect(await admin.ok('PATCH', 'account-settings', none)).toMatchObject({ words: none });
    await eventually(async () => expect(meaning('Genug!')).toBeUndefined());
  });

  it('operators alone change the rate and the orders of an account', async () => {
    const path = `accounts/${account.accountId}`;
    const caps = { currency: 'NGN', daily: '50000', perNumber: '5000' };
    for (const [method, name, body] of [
      ['PATCH', 'rate', { rate: '5/s' }],
      ['POST', 'orders', caps],
      ['DELETE', 'orders', undefined],
    ] as const)
      expect((await admin.call(method, `${path}/${name}`, { body })).status).toBe(403);
    await operator.ok('PATCH', `${path}/rate`, { rate: '5/s' });
    await operator.ok('POST', `${path}/orders`, caps);
    expect(await admin.ok('GET', 'account-settings')).toMatchObject({ rate: '5/s', orders: caps });
    for (const [name, body, field] of [
      ['rate', { rate: 'fast' }, 'rate'],
      ['orders', { ...caps, daily: 'much' }, 'daily'],
    ] as const)
      expect(
        await operator.call(name === 'rate' ? 'PATCH' : 'POST', `${path}/${name}`, { body }),
      ).toMatchObject({ status: 422, body: { error: { fields: [{ path: field }] } } });
    expect((await operator.call('POST', 'accounts/acc_none/orders', { body: caps })).status).toBe(
      404,
    );
    await operator.ok('PATCH', `${path}/rate`, { rate: '' });
    await operator.ok('DELETE', `${path}/orders`);
    expect(await admin.ok('GET', 'account-settings')).toMatchObject({ rate: null, orders: null });
  });

  it('a pair for SMPP is shown once, changed, rotated and removed', async () => {
    const alphabets = { dataCoding0: 'latin1', dataCoding1: 'ascii' };
    const made = await admin.ok<SmppPair>('POST', 'smpp', alphabets);
    const credentials = gateway.running.app.get(SmppCredentials, { strict: false });
    const binds = async ({ systemId, password }: SmppPair) =>
      (await credentials.verify(systemId, password, '127.0.0.1')) !== undefined;
    expect(await binds(made)).toBe(true);
    const listed = await admin.call('GET', 'smpp');
    expect(listed.body).toMatchObject({
      listens: false,
      data: [{ systemId: made.systemId, lastBoundAt: null, ...alphabets }],
    });
    expect(listed.text).not.toContain(made.password);
    await admin.ok('PATCH', `smpp/${made.systemId}`, { ...alphabets, dataCoding0: 'gsm7' });
    const { data } = await admin.ok<SmppSettings>('GET', 'smpp');
    expect(data).toMatchObject([{ dataCoding0: 'gsm7', dataCoding1: 'ascii' }]);
    const wrong = { ...alphabets, dataCoding0: 'ebcdic' };
    expect((await admin.call('PATCH', `smpp/${made.systemId}`, { body: wrong })).status).toBe(422);
    const rotated = await admin.ok<SmppPair>('POST', `smpp/${made.systemId}/rotate`);
    expect([await binds(made), await binds(rotated)]).toEqual([false, true]);
    await admin.ok('DELETE', `smpp/${made.systemId}`);
    expect(await binds(rotated)).toBe(false);
    expect((await viewer.call('GET', 'smpp')).status).toBe(403);
  });

  it('operators make, suspend and resume accounts, and open any of them', async () => {
    const made = await operator.ok<CreatedAccount>('POST', 'accounts', { name: 'fresh' });
    const { data } = await operator.ok<Listed<{ id: string; status: string }>>('GET', 'accounts');
    expect(data[0]).toMatchObject({ id: made.id, name: 'fresh', status: 'active' });
    expect(JSON.stringify(data)).not.toMatch(/tok_|svk_/);
    operator.account = made.id;
    const session = await operator.ok<Session>('GET', 'session');
    expect(session.account).toEqual({
      id: made.id,
      name: 'fresh',
      role: 'admin',
      suspended: false,
    });
    await operator.ok('POST', `accounts/${made.id}/suspend`);
    expect((await send(made.apiToken)).status).toBe(403);
    await operator.ok('POST', `accounts/${made.id}/resume`, { waiting: 'cancel' });
    expect(await operator.ok('GET', 'carriers')).toEqual({
      data: [
        {
          name: 'simulator',
          channels: ['sms', 'whatsapp', 'email', 'vas'],
          rateLimit: null,
          pausedLanes: {},
        },
        { name: 'voice-simulator', channels: ['voice'], rateLimit: null, pausedLanes: {} },
      ],
    });
    operator.account = undefined;
  });

  it('every change is in the audit log with its person, in words and without a secret', async () => {
    const { data } = await admin.ok<Listed<AuditEntry>>('GET', 'audit?limit=100');
    const actions = new Set(data.map(({ action }) => action));
    for (const action of [
      'token.rotated',
      'webhook.added',
      'webhook.tested',
      'webhook.secret_rotated',
      'webhook.redelivered',
      'sender.requested',
      'sender.approved',
      'sender.deleted',
      'member.invited',
      'user.joined',
      'key.created',
      'key.revoked',
      'group.created',
      'group.exported',
      'group.revealed',
      'suppressions.revealed',
      'template.changed',
      'domain.added',
      'suppression.added',
      'suppression.lifted',
      'account.words_changed',
      'account.rate_changed',
      'orders.allowed',
      'orders.forbidden',
      'smpp.added',
      'smpp.changed',
      'smpp.rotated',
      'smpp.removed',
    ])
      expect([action, actions.has(action)]).toEqual([action, true]);
    const rotated = data.find(({ action }) => action === 'token.rotated')!;
    expect(rotated).toMatchObject({
      userEmail: expect.stringMatching(/^admin-/),
      ip: expect.stringMatching(/127\.0\.0\.1|::1/),
      title: expect.stringContaining('API token'),
    });
    for (const { title, action } of data) expect(title).not.toBe(action);
    const invited = data.filter(({ action }) => action === 'member.invited');
    expect(invited.map(({ targetText }) => targetText)).toContain('new@example.com: sender');
    const text = JSON.stringify(data) + gateway.log.join('\n');
    expect(text).not.toMatch(/(?:tok|svk)_[0-9A-Za-z]{20}|whsec_[0-9A-Za-z+/]{8}|ada@example\.com/);
    expect((await viewer.call('GET', 'audit')).status).toBe(403);
    const pages: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page: Listed<AuditEntry> = await admin.ok('GET', `audit?limit=7${query}`);
      pages.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(pages.slice(0, 20)).toEqual(data.slice(0, 20).map(({ id }) => id));
  });

  it('a change that fails leaves no entry in the audit log', async () => {
    const count = async () =>
      (await admin.ok<Listed<AuditEntry>>('GET', 'audit?limit=100')).data.filter(
        ({ action }) => action === 'webhook.added',
      ).length;
    const before = await count();
    const body = { url: 'ftp://example.com' };
    expect((await admin.call('POST', 'webhooks', { body })).status).toBe(422);
    expect(await count()).toBe(before);
  });

  it('the command line invites, lists, resets and removes users, and decides on sender IDs', async () => {
    const settings = { NODE_ENV: 'test', DATABASE_URL: gateway.databaseUrl };
    const dundun = async (...args: string[]) => {
      const { code, stdout, stderr } = await commandLine(
        [...args, '--json'],
        settings,
        process.cwd(),
      );
      return JSON.parse(code === 0 ? stdout : stderr) as Record<string, unknown>;
    };
    const of = ['--account', account.accountId];
    const invited = await dundun('user', 'invite', ...of, '--role', 'viewer');
    expect(invited).toMatchObject({
      account_id: account.accountId,
      role: 'viewer',
      link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:3000\/portal\/setup#code=[\w-]{43}$/),
    });
    const person = new PortalClient(gateway);
    await person.setUp(String(invited['link']), 'person@example.com');
    expect(await dundun('user', 'list', ...of)).toMatchObject({
      users: expect.arrayContaining([
        expect.objectContaining({
          email: 'person@example.com',
          operator: 'no',
          accounts: [`${account.accountId}:viewer`],
        }),
      ]),
    });
    const named = ['--user', 'person@example.com'];
    const { link } = await dundun('user', 'reset', ...named);
    await person.setUp(String(link), 'person@example.com', 'a completely new phrase');
    await dundun('user', 'remove', ...named);
    expect((await person.call('GET', 'webhooks')).status).toBe(401);
    expect(await dundun('user', 'reset', ...named)).toMatchObject({ error: { code: 'not_found' } });
    const someone = await dundun('user', 'invite', '--role', 'operator');
    const session = await new PortalClient(gateway).setUp(
      String(someone['link']),
      'op@example.com',
    );
    expect(session).toMatchObject({ user: { isOperator: true }, account: null });
    expect(await dundun('user', 'invite', '--role', 'admin')).toMatchObject({
      error: { code: 'invalid_field' },
    });
    expect(await dundun('user', 'invite', '--role', 'boss')).toMatchObject({
      error: { code: 'invalid_usage' },
    });
    await admin.ok('POST', 'senders', { channel: 'sms', sender: 'LATER' });
    const sender = [...of, '--sender', 'LATER'];
    expect(await dundun('sender', 'approve', ...sender)).toMatchObject({ status: 'approved' });
    expect(await dundun('sender', 'reject', ...sender)).toMatchObject({
      error: { code: 'not_found' },
    });
    expect(await dundun('sender', 'list', ...of)).toMatchObject({
      senders: [{ sender: 'ACME' }, { sender: 'LATER', state: 'approved' }],
    });
  });
});
