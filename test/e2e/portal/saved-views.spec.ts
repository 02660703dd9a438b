import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { AuditEntry, Listed, SavedView } from '../../../src/portal/portal-api.js';
import { SavedViewEntity } from '../../../src/portal/portal.tables.js';
import { MOST_VIEWS } from '../../../src/portal/saved-views.service.js';
import { UsersService } from '../../../src/portal/sign-in/users.service.js';
import { ContactsService } from '@dundun/messaging';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type PortalClient, signedIn } from './portal-client.js';

describeEachDatabase('saved views of lists', (database) => {
  let gateway: TestGateway;
  let accountId: string;
  let admin: PortalClient & { readonly email: string };
  let viewer: PortalClient & { readonly email: string };

  beforeAll(async () => {
    gateway = new TestGateway({ DATABASE_URL: database.url });
    await gateway.start();
    accountId = (await gateway.account('views')).accountId;
    admin = await signedIn(gateway, 'admin', accountId);
    viewer = await signedIn(gateway, 'viewer', accountId);
  });
  afterAll(() => gateway.destroy());

  const failed = { page: 'messages', name: 'Went wrong', query: 'status=failed', shared: false };
  const listed = async (client: PortalClient, page = 'messages') =>
    (await client.ok<Listed<SavedView>>('GET', `views?page=${page}`)).data.map(
      ({ name, query, shared }) => [name, query, shared],
    );
  const removeAll = async (client: PortalClient) => {
    const { data } = await client.ok<Listed<SavedView>>('GET', 'views?page=messages');
    for (const { id } of data) await client.ok('DELETE', `views/${id}`);
  };

  it('a view is its person’s alone, is of one list, and is replaced under its name', async () => {
    await viewer.ok('PUT', 'views', failed);
    const replaced = await viewer.ok<SavedView>('PUT', 'views', {
      ...failed,
      name: ' Went wrong ',
      query: '?status=failed&q=+234 801',
    });
    expect(await listed(viewer)).toEqual([['Went wrong', 'status=failed&q=+234+801', false]]);
    expect(await listed(viewer, 'batches')).toEqual([]);
    expect(await listed(admin)).toEqual([]);
    expect((await admin.call('DELETE', `views/${replaced.id}`)).status).toBe(404);
    await viewer.ok('DELETE', `views/${replaced.id}`);
    expect(await listed(viewer)).toEqual([]);
  });

  it('an erasure deletes the views of everybody in the account that search for the person', async () => {
    const view = (client: PortalClient, name: string, query: string, shared = false) =>
      client.ok('PUT', 'views', { page: 'messages', name, query, shared });
    await view(viewer, 'One', 'status=failed&to=%2B234 801 000 0071');
    await view(admin, 'One', 'to=2348010000071', true);
    await view(admin, 'Two', 'to=2348010000072');
    await view(viewer, 'Mail', 'to=Ada@example.com');
    const contacts = gateway.running.app.get(ContactsService, { strict: false });
    await contacts.erase({ phone: '2348010000071' }, { tenant: 'another' });
    expect(await listed(viewer)).toHaveLength(3);
    await contacts.erase({ phone: '2348010000071' }, { tenant: accountId });
    // A worker, too, as its job ends erasures.
    const worker = await new TestGateway({ DATABASE_URL: database.url, ROLE: 'worker' }).start();
    const ofWorker = worker.running.app.get(ContactsService, { strict: false });
    await ofWorker.erase({ email: 'ada@example.com' }, { tenant: accountId });
    await worker.destroy();
    expect(await listed(viewer)).toEqual([]);
    expect(await listed(admin)).toEqual([['Two', 'to=2348010000072', false]]);
    await removeAll(admin);
  });

  it('admins share views with the account, and the audit log has it', async () => {
    const shared = { ...failed, name: 'Ours', shared: true };
    await admin.ok('PUT', 'views', { ...shared, shared: false });
    expect((await viewer.call('PUT', 'views', { body: shared })).status).toBe(403);
    const { id } = await admin.ok<SavedView>('PUT', 'views', shared);
    expect(await listed(admin)).toEqual([['Ours', 'status=failed', true]]);
    expect(await listed(viewer)).toEqual([['Ours', 'status=failed', true]]);
    expect((await viewer.call('DELETE', `views/${id}`)).status).toBe(403);
    const other = await signedIn(gateway, 'admin', (await gateway.account('others')).accountId);
    expect(await listed(other)).toEqual([]);
    await admin.ok('DELETE', `views/${id}`);
    expect(await listed(viewer)).toEqual([]);
    const { data } = await admin.ok<Listed<AuditEntry>>('GET', 'audit');
    expect(data.slice(0, 2).map(({ action, target }) => [action, target])).toEqual([
      ['view.unshared', id],
      ['view.shared', id],
    ]);
  });

  it('what a browser kept is taken once, and leaves names that are there', async () => {
    await viewer.ok('PUT', 'views', failed);
    const body = {
      page: 'messages',
      views: [
        { name: 'Went wrong', query: 'status=rejected' },
        { name: 'Nigeria', query: 'country=NG' },
      ],
    };
    const first = await viewer.ok<Listed<SavedView>>('POST', 'views/import', body);
    expect(await viewer.ok('POST', 'views/import', body)).toEqual(first);
    expect(await listed(viewer)).toEqual([
      ['Nigeria', 'country=NG', false],
      ['Went wrong', 'status=failed', false],
    ]);
    await removeAll(viewer);
  });

  it('a person has a bounded number of views, also where tabs save at once', async () => {
    const many = Array.from({ length: MOST_VIEWS - 2 }, (_, n) => ({ name: `${n}`, query: 'a=b' }));
    await viewer.ok('POST', 'views/import', { page: 'messages', views: many });
    const saved = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        viewer.call('PUT', 'views', { body: { ...failed, page: 'batches', name: `new ${n}` } }),
      ),
    );
    expect(saved.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(saved.filter(({ status }) => status === 422)).toHaveLength(3);
    const refused = await viewer.call('POST', 'views/import', {
      body: { page: 'orders', views: [{ name: 'x', query: '' }] },
    });
    expect(refused.body).toMatchObject({
      error: { code: 'invalid_field', fields: [{ path: 'name' }] },
    });
    expect(await listed(viewer, 'orders')).toEqual([]);
    // One of a name that is there takes no room.
    await viewer.ok('PUT', 'views', { ...failed, name: '0' });
    await admin.ok('PUT', 'views', failed);
    await removeAll(admin);
  });

  it('a wrong view is refused by its field, and nothing is kept', async () => {
    for (const [wrong, field] of [
      [{ name: '  ' }, 'name'],
      [{ name: 'x'.repeat(41) }, 'name'],
      [{ page: '../messages' }, 'page'],
      [{ query: 'x'.repeat(2_001) }, 'query'],
      [{ query: 'é'.repeat(1_000) }, 'query'],
      [{ shared: 'yes' }, 'shared'],
    ] as const) {
      const { status, body } = await admin.call('PUT', 'views', { body: { ...failed, ...wrong } });
      expect([field, status, body]).toMatchObject([
        field,
        422,
        { error: { fields: [{ path: field }] } },
      ]);
    }
    expect(await listed(admin)).toEqual([]);
  });

  it('the views of a person go with the membership and with the user, shared ones stay', async () => {
    const users = gateway.running.app.get(UsersService, { strict: false });
    const views = gateway.running.app
      .get<DataSource>(getDataSourceToken(), { strict: false })
      .getRepository(SavedViewEntity);
    const leaver = await signedIn(gateway, 'admin', accountId);
    const user = await signedIn(gateway, 'viewer', accountId);
    const before = await views.count();
    await leaver.ok('PUT', 'views', failed);
    await leaver.ok('PUT', 'views', { ...failed, name: 'Stays', shared: true });
    await user.ok('PUT', 'views', failed);
    expect(await views.count()).toBe(before + 3);
    await users.remove(leaver.email, accountId);
    await users.remove(user.email);
    expect(await views.count()).toBe(before + 1);
    expect(await listed(admin)).toEqual([['Stays', 'status=failed', true]]);
  });
});
