import { beforeAll, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { createConnection } from 'mysql2/promise';
import { Processes, type RunningGateway } from '../e2e/gateway/built-gateway.js';
import { buildGateway } from '../support/builds.js';
import { describeEachDatabase, type TestDatabase } from '../support/databases.js';
import { Seed } from './seed.js';
import { until } from './until.js';

const isFull = process.env['CHAOS'] === 'full';
const PAIRS = Number(process.env['TWIN_PAIRS'] ?? (isFull ? 200 : 2));
/** Each pair is the load beside which the others start. */
const AT_ONCE = isFull ? 4 : 2;
jest.setTimeout(isFull ? 7_200_000 : 180_000);

/** Longest time of a pair, in ms: a start ends after 30 s without progress, and each step is one. */
const LIMIT = 240_000;

describeEachDatabase('twin start', (database) => {
  const seed = new Seed();
  beforeAll(() => buildGateway());

  it(`of ${PAIRS} pairs of gateways that start together on an empty database, ${AT_ONCE} pairs at a time, each one listens, or ends with its reason`, async () => {
    seed.begin('twin start');
    const ends = { pairs: 0, listening: 0, killed: 0, refused: [] as string[] };
    let begun = 0;
    const startPair = async (own: string, pair: number) => {
      const processes = new Processes();
      const settings = { DATABASE_URL: await emptied(database, own, pair) };
      // Some pairs are of one that is killed at some moment of its start, and one that goes on.
      const isKilled = isFull ? pair % 5 === 4 : pair === 1;
      const killAfter = isKilled ? seed.below(3_000) : undefined;
      const settled = await settledWithin(
        [processes.gateway(settings), processes.gateway(settings)],
        async () => {
          if (killAfter === undefined) return;
          await new Promise((resolve) => setTimeout(resolve, killAfter));
          processes.killFirst();
        },
      );
      ends.pairs++;
      for (const one of settled) {
        if (one.status === 'fulfilled') ends.listening++;
        else if (/ended with null/.test(String(one.reason))) ends.killed++;
        else ends.refused.push(String(one.reason));
      }
      await processes.destroy();
      if (isFull) process.stdout.write(`twin start on ${database.kind}: ${JSON.stringify(ends)}\n`);
      expect(settled.some(({ status }) => status === 'fulfilled')).toBe(true);
    };
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const own = await database.another();
        while (begun < PAIRS) await startPair(own, begun++);
      }),
    );
    expect(ends.listening + ends.killed + ends.refused.length).toBe(2 * PAIRS);
    // A reason is no stack.
    for (const refused of ends.refused) {
      expect(refused).toMatch(/Dundun cannot start: /);
      expect(refused).not.toMatch(/\n {4}at /);
    }
  });
});

/** @returns how each start ended; fails where one neither listens nor ends */
async function settledWithin(
  starts: readonly Promise<RunningGateway>[],
  disturb: () => Promise<void>,
): Promise<PromiseSettledResult<RunningGateway>[]> {
  let settled: PromiseSettledResult<RunningGateway>[] | undefined;
  void Promise.allSettled(starts).then((all) => (settled = all));
  await disturb();
  return until(() => settled, LIMIT, 'a start neither listens nor ends');
}

/** @returns the address of an empty database: `own`, dropped and created again, or a new file */
async function emptied({ kind, url }: TestDatabase, own: string, pair: number): Promise<string> {
  if (kind === 'sqlite') return `${own}-${pair}`;
  const name = new URL(own).pathname.slice(1);
  if (kind === 'postgres') {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return own;
  }
  const connection = await createConnection({ uri: url, multipleStatements: true });
  await connection.query(`DROP DATABASE ${name}; CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
  await connection.end();
  return own;
}
