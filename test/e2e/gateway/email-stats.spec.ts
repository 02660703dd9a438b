import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

const BASE = '/email/ng/v1';
const COUNTERS = [
  'sent',
  'delivered',
  'delayed',
  'bounced',
  'complained',
  'rejected',
  'expired',
  'unsubscribed',
] as const;

interface Row {
  readonly message_id: string;
  readonly status: string;
  readonly tags: readonly string[];
}

describeEachDatabase('statistics of emails', (db) => {
  let gateway: TestGateway;
  let token: string;

  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: db.url }).start();
    token = gateway.running.demo?.apiKey ?? '';
  });
  afterAll(() => gateway.destroy());

  const ask = async (method: string, path: string, body?: object) =>
    (await gateway.call(method, BASE + path, { token, ...(body && { body }) })).body;
  const send = async (recipients: readonly string[], more: object = {}): Promise<string> => {
    const text = { from: 'hello@demo.test', subject: 'Hello', text: 'Hello' };
    return String(
      (await ask('POST', '/messages', { ...text, recipients, ...more }))['reference_id'],
    );
  };

  async function rows(query = ''): Promise<Row[]> {
    const all: Row[] = [];
    for (let cursor: unknown = ''; cursor !== null;) {
      const next = cursor === '' ? '' : `&cursor=${encodeURIComponent(String(cursor))}`;
      const page = await ask('GET', `/messages?limit=7${query}${next}`);
      all.push(...(page['data'] as Row[]));
      cursor = page['next_cursor'];
    }
    return all;
  }

  /** Messages with each event, by their own events. */
  async function counted(query = ''): Promise<Record<string, number>> {
    const found = await rows(query);
    const counts: Record<string, number> = { accepted: found.length };
    for (const name of COUNTERS) counts[name] = 0;
    for (const { message_id } of found) {
      const { data } = await ask('GET', `/messages/${message_id}/events`);
      const events = new Set((data as { event: string }[]).map(({ event }) => event));
      for (const name of COUNTERS) if (events.has(name)) counts[name]! += 1;
    }
    return counts;
  }

  async function stats(query = ''): Promise<Record<string, number>> {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const { data } = await ask('GET', `/stats?until=${until}${query}`);
    const counts: Record<string, number> = {};
    for (const { start: _start, ...item } of data as Record<string, number>[])
      for (const [name, count] of Object.entries(item)) counts[name] = (counts[name] ?? 0) + count;
    return counts;
  }

  it('statistics of emails equal the messages and their events after every simulated outcome', async () => {
    const outcomes = 'ada bea bounced full blocked complained delayed rejected late-bounce reply';
    const people = outcomes.split(' ').map((name) => `${name}@example.com`);
    await send(people, { tags: ['all', 'first'] });
    await send(
      people.map((one) => one.replace('.com', '.net')),
      { tags: ['all'] },
    );
    const settled = () =>
      eventually(async () => {
        const left = (await rows()).map(({ status }) => status);
        for (const status of ['queued', 'sending', 'sent']) expect(left).not.toContain(status);
        expect(left.filter((status) => status === 'bounced')).toHaveLength(8);
        expect(left.filter((status) => status === 'complained')).toHaveLength(2);
      });
    await settled();
    // Suppressed addresses among others, and a cancelled email.
    await send(['bounced@example.com', 'complained@example.com', 'cy@example.com']);
    const later = await send(['dan@example.com'], { send_at: '2150-01-01T00:00:00Z' });
    await ask('DELETE', `/messages/${later}`);
    await settled();
    for (const query of ['', '&tag=all', '&tag=first', '&tag=none'])
      expect([query, await stats(query)]).toEqual([query, await counted(query)]);
    expect(await stats('&interval=hour')).toEqual(await stats());
    expect(await stats('&domain=demo.test')).toEqual(await stats());
    expect(await stats()).toMatchObject({
      accepted: 24,
      delayed: 2,
      bounced: 8,
      complained: 2,
      rejected: 4,
    });
  });
});
