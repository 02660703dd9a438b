import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { buildGateway } from '../../support/builds.js';
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { PgBouncer } from '../../support/pgbouncer.js';
import { describeWithServer } from '../../support/servers.js';
import { Processes, type RunningGateway } from '../../e2e/gateway/built-gateway.js';

const PRODUCTION = {
  NODE_ENV: 'production',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
};

describeWithServer('pgbouncer', 'gateways behind PgBouncer in transaction mode', () => {
  describeEachDatabase('its server', (database) => suite(database), ['postgres']);
});

function suite(database: TestDatabase): void {
  let processes: Processes;
  let pooler: PgBouncer;
  let server: Client;
  let settings: Record<string, string>;

  beforeAll(() => buildGateway());
  beforeEach(async () => {
    const direct = await database.another();
    processes = new Processes();
    pooler = await PgBouncer.before(direct);
    settings = { DATABASE_URL: pooler.url, PREPARED_STATEMENTS: 'false' };
    server = new Client({ connectionString: direct });
    await server.connect();
  });
  afterEach(async () => {
    await processes.destroy();
    await server.end();
    await pooler.stop();
  });

  const locks = async (): Promise<number> => {
    const { rows } = await server.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_locks l JOIN pg_database d ON d.oid = l.database
       WHERE locktype = 'advisory' AND datname = current_database()`,
    );
    return rows[0]?.n ?? -1;
  };
  /** Settings that a session has left to the clients after it. */
  const leftSettings = async (): Promise<string[]> => {
    const clients = Array.from({ length: 10 }, () => new Client({ connectionString: pooler.url }));
    await Promise.all(clients.map((client) => client.connect()));
    const answers = await Promise.all(
      clients.map((client) =>
        client.query<{ name: string }>(
          `SELECT name FROM pg_settings, pg_sleep(0.1) 
           WHERE source = 'session' AND name <> 'application_name' AND name NOT LIKE 'transaction\\_%'`,
        ),
      ),
    );
    await Promise.all(clients.map((client) => client.end()));
    return answers.flatMap(({ rows }) => rows.map(({ name }) => name));
  };

  it('two gateways start at once on an empty database, and leave no lock and no setting', async () => {
    const gateways = await Promise.all([processes.gateway(settings), processes.gateway(settings)]);
    await eventually(async () =>
      expect(gateways.map(({ output }) => /tok_\w+/.exec(output)?.[0])).toContainEqual(
        expect.any(String),
      ),
    );
    const { rows } = await server.query('SELECT name FROM gateway_account');
    expect(rows).toEqual([{ name: 'demo' }]);
    expect(await locks()).toBe(0);
    await expectDelivered(gateways);
    expect(await leftSettings()).toEqual([]);
    // Each says once that it does not hear LISTEN.
    await eventually(async () =>
      expect(gateways.map(({ output }) => output.split('LISTEN is not heard').length - 1)).toEqual([
        1, 1,
      ]),
    );
  });

  it('`database migrate` runs twice at once, and a gateway in production starts on its tables', async () => {
    const production = { ...settings, ...PRODUCTION };
    const refused = await processes.failingGateway(production);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('migrations behind'),
    });
    const migrate = () => processes.dundunProcess(['database', 'migrate', '--json'], production);
    const [one, other] = await Promise.all([migrate(), migrate()]);
    for (const { code, stdout } of [one, other])
      expect([code, stdout]).toEqual([0, '{"status":"up to date"}\n']);
    expect(await locks()).toBe(0);
    // Stored secrets are encrypted at the start, and their table is rewritten.
    const gateway = await processes.gateway(production);
    expect(await leftSettings()).toEqual([]);
    await gateway.stop('SIGTERM');
  });

  it('a gateway starts after one that was killed while it migrated', async () => {
    const kill = await processes.haltedGateway('gateway_credential', settings);
    expect(await locks()).toBe(1);
    const starting = processes.gateway(settings);
    starting.catch(() => undefined);
    await kill();
    await starting;
    await processes.gateway(settings);
    expect(await locks()).toBe(0);
  });
}

async function expectDelivered(gateways: readonly RunningGateway[]): Promise<void> {
  const token = gateways.flatMap(({ output }) => /tok_\w+/.exec(output) ?? [])[0];
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  for (const { url } of gateways) {
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
}
