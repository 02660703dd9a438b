import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type Answered, TestGateway } from './test-gateway.js';

describeOneDatabase('groups of the gateway', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let other: CreatedAccount;

  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: db.url, MAX_RECIPIENTS: '5' }).start();
    account = await gateway.account();
    other = await gateway.account('other');
  });
  afterAll(() => gateway.destroy());

  let numbers = 0;
  const number = (): string => `23480${String(++numbers).padStart(4, '0')}0000`;
  const ask = (method: string, path: string, body?: object, who = account): Promise<Answered> =>
    gateway.call(method, `/ng/v1${path}`, { token: who.apiToken, ...(body && { body }) });
  const group = async (members: readonly string[], who = account): Promise<string> => {
    const made = await ask('POST', '/groups', { name: 'Friends' }, who);
    expect(made.status).toBe(201);
    const id = String(made.body['id']);
    if (members.length > 0) await ask('POST', `/groups/${id}/members`, { members }, who);
    return id;
  };
  const send = (to: readonly string[], headers: Record<string, string> = {}): Promise<Answered> =>
    gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      body: { from: 'ACME', to, body: 'Hello' },
      headers,
    });
  const sentTo = async (sent: Answered): Promise<unknown> => {
    expect(sent).toMatchObject({ status: 200 });
    const { body } = await ask('GET', `/sms/${String(sent.body['reference_id'])}`);
    return body['to'];
  };

  it('groups are created, renamed, filled, emptied and deleted', async () => {
    const made = await ask('POST', '/groups', { name: 'Friends' });
    expect(made).toMatchObject({ status: 201, body: { name: 'Friends', size: 0 } });
    const id = String(made.body['id']);
    expect(id).toMatch(/^grp_[0-9A-Za-z]{10,}$/);
    const [a, b, c] = [number(), number(), number()];
    const added = await ask('POST', `/groups/${id}/members`, { members: [a, b, c, a] });
    expect(added).toMatchObject({ status: 200, body: { id, size: 3 } });
    expect(await ask('PATCH', `/groups/${id}`, { name: 'Best' })).toMatchObject({
      status: 200,
      body: { name: 'Best', size: 3, created_at: made.body['created_at'] },
    });
    const first = await ask('GET', `/groups/${id}/members?limit=2`);
    const cursor = String(first.body['next_cursor']);
    const second = await ask('GET', `/groups/${id}/members?limit=2&cursor=${cursor}`);
    expect(second.body['next_cursor']).toBeNull();
    const all = [first, second].flatMap(({ body }) => body['data'] as Record<string, unknown>[]);
    expect(all.map(({ phone }) => phone)).toEqual([a, b, c]);

    expect((await ask('DELETE', `/groups/${id}/members/${a}`)).status).toBe(204);
    const byId = await ask('DELETE', `/groups/${id}/members/${String(all[1]?.['id'])}`);
    expect(byId.status).toBe(204);
    expect(await ask('DELETE', `/groups/${id}/members/${a}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
    expect((await ask('GET', `/groups/${id}`)).body['size']).toBe(1);
    expect((await ask('DELETE', `/groups/${id}`)).status).toBe(204);
    expect((await ask('GET', `/groups/${id}`)).status).toBe(404);
  });

  it('groups are listed in pages, only to their own account', async () => {
    const ids = await Promise.all(Array.from({ length: 3 }, () => group([], other)));
    const listed: string[] = [];
    let cursor: string | null = '';
    do {
      const query: string = `?limit=2${cursor && `&cursor=${cursor}`}`;
      const { status, body } = await ask('GET', `/groups${query}`, undefined, other);
      expect(status).toBe(200);
      listed.push(...(body['data'] as { id: string }[]).map(({ id }) => id));
      cursor = body['next_cursor'] as string | null;
    } while (cursor !== null);
    expect(listed.toSorted()).toEqual(ids.toSorted());
    expect(await ask('GET', '/groups?cursor=x')).toMatchObject({
      status: 422,
      body: { error: { details: [{ path: 'cursor' }] } },
    });
  });

  it('a send takes groups beside numbers and sends to each number once', async () => {
    const [a, b, c] = [number(), number(), number()];
    const [one, two] = [await group([a, b]), await group([b, c])];
    const sent = await send([one, c, two, c]);
    expect(sent.body['recipients_processed']).toBe(3);
    expect(await sentTo(sent)).toEqual([a, b, c]);
    await eventually(async () => {
      const { body } = await ask('GET', `/sms/${String(sent.body['reference_id'])}`);
      expect(body['counts']).toEqual({ delivered: 3 });
    });
  });

  it('a send names unknown and foreign groups by their index', async () => {
    const theirs = await group([number()], other);
    const bodies: unknown[] = [];
    for (const id of [theirs, 'grp_0000000000'])
      bodies.push((await send([number(), id, theirs])).body['error']);
    expect(bodies[0]).toMatchObject({
      code: 'invalid_field',
      details: [{ path: 'to[1]', message: 'names a group that does not exist' }],
    });
    expect(bodies[1]).toMatchObject({ details: [{ path: 'to[1]' }, { path: 'to[2]' }] });
  });

  it('all members of a group count against the recipient limit of a send', async () => {
    const full = await group(Array.from({ length: 5 }, number));
    expect((await send([full, full])).status).toBe(200);
    // The same five again and again: too much to read, however few they are in the end.
    const members = await ask('GET', `/groups/${full}/members`);
    const phones = (members.body['data'] as { phone: string }[]).map(({ phone }) => phone);
    const copies = await Promise.all(Array.from({ length: 6 }, () => group(phones)));
    expect((await send(copies.slice(0, 3))).status).toBe(200);
    expect(await send(copies)).toMatchObject({
      status: 422,
      body: { error: { details: [{ path: 'to', message: expect.stringMatching(/at most 5/) }] } },
    });
    expect(await send([full, number()])).toMatchObject({
      status: 422,
      body: { error: { details: [{ path: 'to', message: expect.stringMatching(/at most 5/) }] } },
    });
    expect(await send([await group([])])).toMatchObject({
      status: 422,
      body: { error: { details: [{ path: 'to' }] } },
    });
  });

  it('changing or deleting a group does not change accepted batches', async () => {
    const [a, b] = [number(), number()];
    const id = await group([a]);
    const headers = { 'idempotency-key': `group-${Date.now()}` };
    const sent = await send([id], headers);
    await ask('POST', `/groups/${id}/members`, { members: [b] });
    expect((await send([id], headers)).body).toEqual(sent.body);
    await ask('DELETE', `/groups/${id}`);
    expect(await sentTo(sent)).toEqual([a]);
    const again = await send([id], headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(sent.body);
    expect((await send([id])).status).toBe(422);
  });

  it('members are added all or none, and wrong ones are named', async () => {
    const id = await group([]);
    const wrong = await ask('POST', `/groups/${id}/members`, {
      members: [number(), '+2348012345678', 7],
      extra: 1,
    });
    expect(wrong).toMatchObject({
      status: 422,
      body: {
        error: { details: [{ path: 'extra' }, { path: 'members[1]' }, { path: 'members[2]' }] },
      },
    });
    for (const members of [[], 'x', undefined, Array.from({ length: 10_001 }, number)])
      expect(await ask('POST', `/groups/${id}/members`, { members })).toMatchObject({
        status: 422,
        body: { error: { details: [{ path: 'members' }] } },
      });
    for (const name of ['', ' ', 'x'.repeat(256), 7, 'a\0b'])
      expect(await ask('POST', '/groups', { name })).toMatchObject({
        status: 422,
        body: { error: { details: [{ path: 'name' }] } },
      });
    expect((await ask('GET', `/groups/${id}`)).body['size']).toBe(0);
  });
});
