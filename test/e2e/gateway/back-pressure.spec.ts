import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { DataSource, QueryRunner } from 'typeorm';
import { Agent, request } from 'undici';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type ProbedGateway, Processes } from './built-gateway.js';
import { buildGateway } from '../../support/builds.js';

const HELD = 300;
const ASKED = 1_000;
const TEXT = 'x'.repeat(1_500);
const RECIPIENTS = Array.from({ length: 999 }, (_, index) => String(2_348_000_000_000 + index));

/** Reads go on, writes wait for the lock. */
const STALL = {
  postgres: ['BEGIN', 'LOCK TABLE messaging_batch IN SHARE ROW EXCLUSIVE MODE'],
  mariadb: ['BEGIN', 'SELECT count(*) FROM messaging_batch LOCK IN SHARE MODE'],
  sqlite: ['BEGIN IMMEDIATE'],
};

describeEachDatabase('a gateway whose store does not answer', (database) => {
  const processes = new Processes();
  let gateway: ProbedGateway;
  let source: DataSource;
  let token: string;
  // fetch() would queue requests in this process.
  const agent = new Agent({ connections: 400, pipelining: 1 });

  beforeAll(async () => {
    await buildGateway();
    const settings = { DATABASE_URL: database.url, MAX_PENDING_SENDS: String(HELD) };
    const create = ['account', 'create', '--name', 'acme', '--json'];
    const made = JSON.parse((await processes.dundun(create, settings)).stdout) as {
      account_id: string;
      api_token: string;
    };
    token = made.api_token;
    const add = ['sender', 'add', '--account', made.account_id, '--sender', 'ACME', '--json'];
    await processes.dundun(add, settings);
    gateway = await processes.probedGateway({ ...settings, RATE_LIMIT: '1/h' });
    source = await database.open();
  });
  afterAll(async () => {
    await agent.destroy();
    await processes.destroy();
  });

  async function send(): Promise<{ status: number; retryAfter: unknown; code: unknown }> {
    const answer = await request(`${gateway.url}/ng/v1/sendsms`, {
      dispatcher: agent,
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from: 'ACME', to: RECIPIENTS, body: TEXT }),
    });
    const body = (await answer.body.json()) as { error?: { code: string } };
    return {
      status: answer.statusCode,
      retryAfter: answer.headers['retry-after'],
      code: body.error?.code,
    };
  }

  const batches = async (): Promise<number> =>
    Number((await source.query('SELECT count(*) AS n FROM messaging_batch'))[0].n);

  async function stall(): Promise<QueryRunner> {
    const runner = source.createQueryRunner();
    await runner.connect();
    // On SQLite the gateway's own writer may have to end first.
    for (const sql of STALL[database.kind])
      await eventually(async () => void (await runner.query(sql)));
    return runner;
  }

  it('the gateway holds MAX_PENDING_SENDS sends, answers 503 to more, and accepts again when the database answers', async () => {
    expect((await send()).status).toBe(200);
    const before = await gateway.rest();
    const runner = await stall();
    const answers: Promise<{ status: number; retryAfter: unknown; code: unknown }>[] = [];
    let refused = 0;
    for (let n = 0; n < ASKED; n++) {
      const answer = send();
      answers.push(answer);
      answer.then(
        ({ status }) => status === 503 && refused++,
        () => undefined,
      );
    }
    await eventually(async () => expect(refused).toBe(ASKED - HELD));
    const during = await gateway.rest();
    // Held sends take a few times their bytes; refused ones take nothing.
    const brought = HELD * (RECIPIENTS.join().length + TEXT.length);
    expect(during.bytes - before.bytes).toBeLessThan(12 * brought);
    expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
    const list = await fetch(`${gateway.url}/ng/v1/sms`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(list.status).toBe(200);

    await runner.query('COMMIT');
    await runner.release();
    const answered = await Promise.all(answers);
    const withStatus = (status: number) => answered.filter((answer) => answer.status === status);
    expect([withStatus(200).length, withStatus(503).length]).toEqual([HELD, ASKED - HELD]);
    for (const { retryAfter, code } of withStatus(503))
      expect({ retryAfter, code }).toEqual({ retryAfter: '1', code: 'unavailable' });
    expect((await send()).status).toBe(200);
    // All accepted sends exist once.
    expect(await batches()).toBe(HELD + 2);
    await eventually(async () => {
      expect((await gateway.rest()).bytes - before.bytes).toBeLessThan(8 * 1_048_576);
    });
  });
});
