import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { DataSource, type QueryRunner } from 'typeorm';
import { migrateDatabase, pendingMigrations } from '@dundun/messaging/migrations';
import { parseDatabaseUrl } from '../../../src/config/database-url.js';
import { dataSourceOptions } from '../../../src/gateway-database.js';
import { type DatabaseKind, describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Processes, type RunningGateway } from './built-gateway.js';
import { buildGateway } from '../../support/builds.js';

const TOKEN = /tok_[0-9A-Za-z]{49}/;

/** Sessions of this database, and those of them that wait for a table; none on SQLite. */
const SESSIONS = {
  postgres: `SELECT count(*) AS all_of_them, count(*) FILTER (WHERE wait_event_type = 'Lock') AS waiting
    FROM pg_stat_activity WHERE datname = current_database()`,
  mariadb: `SELECT count(*) AS all_of_them, sum(state LIKE 'Waiting for table%') AS waiting
    FROM information_schema.processlist WHERE db = DATABASE()`,
};

/** Until they are given up accounts can be read, and none made. */
const HELD = {
  postgres: ['BEGIN', 'LOCK TABLE gateway_account IN SHARE MODE', 'COMMIT'],
  mariadb: ['SELECT 1', 'LOCK TABLES gateway_account READ', 'UNLOCK TABLES'],
};

describeEachDatabase('gateways that start together on one new database', (database) => {
  let processes: Processes;
  let source: DataSource;
  let settings: Record<string, string>;

  beforeAll(() => buildGateway());
  beforeEach(async () => {
    processes = new Processes();
    const url = await database.another();
    settings = { DATABASE_URL: url };
    source = new DataSource(dataSourceOptions({ DATABASE_URL: parseDatabaseUrl(url) }));
    await source.initialize();
  });
  afterEach(async () => {
    await processes.destroy();
    await source.destroy();
  });

  const sessions = async (which: 'all_of_them' | 'waiting'): Promise<number> => {
    if (database.kind === 'sqlite') return 0;
    const [row] = await source.query<Record<string, unknown>[]>(SESSIONS[database.kind]);
    return Number(row?.[which]);
  };
  const reached = (which: 'all_of_them' | 'waiting', number: number) =>
    eventually(async () => {
      if (database.kind === 'sqlite') return;
      expect(await sessions(which)).toBeGreaterThanOrEqual(number);
    });

  it('when one gateway is killed during migration another completes it and a third starts on it', async () => {
    const kill = await processes.haltedGateway('gateway_credential', settings);
    const before = await sessions('all_of_them');
    const starting = processes.gateway(settings);
    starting.catch(() => undefined);
    await reached('all_of_them', before + 1);
    await kill();
    const other = await starting;
    await eventually(async () => expect(other.output).toMatch(TOKEN));
    expect(await pendingMigrations(source)).toEqual([]);
    const third = await processes.gateway(settings);
    await expectDelivered(third, TOKEN.exec(other.output)?.[0] ?? '');
  });

  it('gateways that start together create one demo account', async () => {
    await migrateDatabase(source);
    const holder = source.createQueryRunner();
    const give = await hold(database.kind, holder);
    const starting = [processes.gateway(settings), processes.gateway(settings)];
    for (const one of starting) one.catch(() => undefined);
    // One has the lock and waits for the table, the other for the lock.
    await reached('waiting', 1);
    await give();
    await holder.release();
    await Promise.all(starting);
    expect(await source.query('SELECT name FROM gateway_account')).toEqual([{ name: 'demo' }]);
  });
});

async function hold(kind: DatabaseKind, runner: QueryRunner): Promise<() => Promise<unknown>> {
  if (kind === 'sqlite') return () => Promise.resolve();
  const [begin = '', lock = '', give = ''] = HELD[kind];
  await runner.query(begin);
  await runner.query(lock);
  return () => runner.query(give);
}

async function expectDelivered({ url }: RunningGateway, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = await fetch(`${url}/ng/v1/sendsms`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ from: 'ACME', to: ['2348012345678'], body: 'Hello' }),
  });
  const { reference_id: id } = (await sent.json()) as { reference_id: string };
  await eventually(async () => {
    const read = await fetch(`${url}/ng/v1/sms/${id}`, { headers });
    expect(await read.json()).toMatchObject({ counts: { delivered: 1 } });
  });
}
