import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { MessagingService } from '@dundun/messaging';
import type { DataSource, QueryRunner } from 'typeorm';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

/** Until it is given up batches are read, and none is stored. */
const HELD = {
  sqlite: ['BEGIN IMMEDIATE', 'SELECT 1', 'ROLLBACK'],
  postgres: ['BEGIN', 'LOCK TABLE messaging_batch IN SHARE ROW EXCLUSIVE MODE', 'ROLLBACK'],
  mariadb: ['SELECT 1', 'LOCK TABLES messaging_batch READ', 'UNLOCK TABLES'],
};

/** What readiness says while a transaction of the process does not end. */
const OPEN = {
  sqlite: { status: 'down', reason: 'transaction_open' },
  postgres: { status: 'up' },
  mariadb: { status: 'up' },
};

const REASON = { sqlite: 'locked', postgres: 'no_answer', mariadb: 'no_answer' };

describeEachDatabase('a gateway whose writes wait', (database) => {
  let gateway: TestGateway;
  let source: DataSource;
  let holder: QueryRunner;
  let token: string;

  beforeAll(async () => {
    gateway = new TestGateway({ DATABASE_URL: database.url });
    await gateway.start();
    token = (await gateway.account()).apiToken;
    source = await database.open();
    holder = source.createQueryRunner();
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    await holder.release();
    await gateway.destroy();
  });

  const send = () =>
    gateway.call('POST', '/ng/v1/sendsms', {
      token,
      body: { from: 'ACME', to: ['2348012345678'], body: 'Hello' },
    });
  const ready = () => gateway.call('GET', '/health/ready');
  const live = () => gateway.call('GET', '/health/live');
  /** As if the process had worked for so many more milliseconds. */
  const later = (more: number) => {
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + more);
  };
  const open = () => {
    const [begin = '', lock = '', give = ''] = HELD[database.kind];
    return { take: [begin, lock], give };
  };

  it('readiness is red with its reason after 5 s of a lock, liveness is not, and both are green after it', async () => {
    expect(await ready()).toMatchObject({ status: 200, body: { details: { database: {} } } });
    const { take, give } = open();
    for (const statement of take) await holder.query(statement);
    const waiting = send();
    await eventually(async () =>
      expect(await ready()).toMatchObject({
        status: 503,
        body: {
          error: {
            database: {
              status: 'down',
              reason: REASON[database.kind],
              longest_wait_ms: expect.any(Number),
            },
          },
        },
      }),
    );
    later(120_000);
    expect(await live()).toMatchObject({ status: 200, body: { status: 'ok' } });
    jest.restoreAllMocks();
    await holder.query(give);
    expect((await waiting).status).toBe(200);
    await eventually(async () => expect((await ready()).status).toBe(200));
    const warned = gateway.log.filter((line) => line.includes('locked by another process'));
    expect(warned.length > 0).toBe(database.kind === 'sqlite');
  });

  it('liveness fails once a transaction has run no statement for a minute, and not before', async () => {
    let [begin, end] = [(): void => undefined, (): void => undefined];
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const until = new Promise<void>((resolve) => (end = resolve));
    const messaging = gateway.running.app.get(MessagingService, { strict: false });
    const own = messaging.transaction(async (manager) => {
      await manager.query('SELECT 1');
      begin();
      await until;
    });
    await begun;
    later(50_000);
    expect((await live()).status).toBe(200);
    jest.restoreAllMocks();
    later(70_000);
    await eventually(async () =>
      expect(await live()).toMatchObject({ status: 503, body: { status: 'stuck' } }),
    );
    await eventually(async () => {
      const { body } = await ready();
      expect(body).toMatchObject({ details: { database: OPEN[database.kind] } });
    });
    jest.restoreAllMocks();
    end();
    await own;
    await eventually(async () => expect((await ready()).status).toBe(200));
    expect(await live()).toMatchObject({ status: 200 });
  });
});
