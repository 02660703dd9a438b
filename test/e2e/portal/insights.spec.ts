import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import type { Insights } from '../../../src/portal/portal-api.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from '../gateway/test-gateway.js';
import { type PortalClient, signedIn } from './portal-client.js';

describeOneDatabase('the Insights of the portal', (database) => {
  let gateway: TestGateway;
  let viewer: PortalClient;
  let stranger: PortalClient;
  let operator: PortalClient;
  let accountId: string;

  beforeAll(async () => {
    gateway = new TestGateway({ DATABASE_URL: database.url });
    await gateway.start();
    const [one, other] = [await gateway.account('one'), await gateway.account('other')];
    accountId = one.accountId;
    [viewer, stranger, operator] = await Promise.all([
      signedIn(gateway, 'viewer', one.accountId),
      signedIn(gateway, 'viewer', other.accountId),
      signedIn(gateway, 'operator'),
    ]);
    const send = (token: string, from: string, to: string[]) =>
      gateway.call('POST', '/ng/v1/sendsms', { token, body: { from, to, body: 'Hello' } });
    // The simulator delivers one number and not the other.
    await send(one.apiToken, 'ACME', ['2348012340001', '14165550001', '2348012349901']);
    await send(other.apiToken, 'ACME', ['2348012340002']);
    await eventually(async () => {
      const { total } = await operator.ok<Insights>('GET', 'insights');
      const { messages, delivered, failed } = total.current;
      if (messages !== 4 || delivered !== 3 || failed !== 1) throw new Error('reports are missing');
    });
  });
  afterAll(() => gateway.destroy());

  it('people see the outcomes of their account, operators those of all by account', async () => {
    const { total, groups, slots } = await viewer.ok<Insights>('GET', 'insights?by=country');
    expect(total.current).toMatchObject({ messages: 3, delivered: 2, failed: 1, parts: 3 });
    expect(total.current.statuses).toEqual({ delivered: 2, undelivered: 1 });
    expect(total.current.toDelivered?.p95).toBeGreaterThan(0);
    expect(groups.map(({ name, current }) => [name, current.messages])).toEqual([
      ['NG', 2],
      ['CA', 1],
    ]);
    expect(slots).toHaveLength(24);
    expect(slots.at(-1)?.messages).toBe(3);
    const theirs = await stranger.ok<Insights>('GET', 'insights?by=sender');
    expect(theirs.groups.map(({ name, current }) => [name, current.messages])).toEqual([
      ['ACME', 1],
    ]);
    const all = await operator.ok<Insights>('GET', 'insights?by=tenant&period=7d');
    expect(all.groups.map(({ current }) => current.messages)).toEqual([3, 1]);
  });

  it('members read that a carrier was chosen by outcome, operators by which figures of all accounts', async () => {
    const { data } = await viewer.ok<{ data: { id: string }[] }>('GET', 'messages?limit=1');
    const { id } = data[0]!;
    const figures = 'b: 97.1 % of 1,204 delivered in 4 s, a: 88.0 % of 960 delivered in 31 s';
    await gateway.running.app
      .get<DataSource>(getDataSourceToken(), { strict: false })
      .query(`UPDATE messaging_submission SET reason = '${figures}'`);
    const detailOf = async (client: PortalClient) => {
      const { timeline } = await client.ok<{ timeline: { kind: string; detail: string }[] }>(
        'GET',
        `messages/${id}`,
      );
      return timeline.find(({ kind }) => kind === 'attempt')?.detail;
    };
    expect(await detailOf(viewer)).toBe('Attempt 1; chosen by outcome');
    expect(await detailOf(operator)).toBe(`Attempt 1; ${figures}`);
    operator.account = accountId;
    expect(await detailOf(operator)).toBe(`Attempt 1; ${figures}`);
    operator.account = undefined;
  });

  it('a filter narrows the figures, and what is wrong is named', async () => {
    const canada = await viewer.ok<Insights>('GET', 'insights?by=sender&country=CA');
    expect(canada.total.current.messages).toBe(1);
    for (const query of ['by=colour', 'period=1y', 'by=tenant'])
      expect(await viewer.call('GET', `insights?${query}`)).toMatchObject({
        status: 422,
        body: { error: { code: 'invalid_field' } },
      });
  });
});
