import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bullMq } from '@dundun/messaging/bullmq';
import { PrivateRedis } from '../../chaos/private-redis.js';
import { eventually } from '../../support/eventually.js';
import { Gate } from '../dispatch/dispatch-fixture.js';

const LANES = 1_000;

const { missing } = PrivateRedis;
const describeWithRedis = missing === undefined ? describe : describe.skip;

describeWithRedis(`many lanes and a broker${missing === undefined ? '' : ` — ${missing}`}`, () => {
  let redis: PrivateRedis;

  beforeAll(async () => {
    redis = await PrivateRedis.start();
  });
  afterAll(() => redis.kill());

  const engine = (queue: string) => bullMq({ connection: redis.url, queue })({ leaseTime: 30_000 });

  it('a thousand at work share their connections and timers', async () => {
    const one = engine('busy');
    const begun = new Set<string>();
    const gate = new Gate();
    const before = timers();
    await one.start(async (lane) => {
      begun.add(lane);
      await gate.opened;
      return undefined;
    });
    for (let n = 0; n < LANES; n++) one.wake(`lane ${n}`);
    await eventually(async () => expect(begun.size).toBe(LANES));
    const connections = String(await redis.call('CLIENT', 'LIST'))
      .trim()
      .split('\n');
    // One for wakes, two for lanes, and the one that asks.
    expect(connections.length).toBeLessThanOrEqual(4);
    expect(timers() - before).toBeLessThan(20);
    gate.open();
    await one.stop();
  });

  it('nothing of a lane is kept once it has nothing to do', async () => {
    const one = engine('once');
    let runs = 0;
    await one.start(() => {
      runs++;
      return Promise.resolve(undefined);
    });
    for (let n = 0; n < LANES; n++) one.wake(`lane ${n}`);
    await eventually(async () => expect(runs).toBe(LANES));
    await eventually(async () => {
      const keys = (await redis.call('KEYS', 'bull:once:*')) as string[];
      expect(keys.filter((key) => /:[0-9a-f]{12}-|:de:|:dn:/.test(key))).toEqual([]);
    });
    await one.stop();
  });

  it('as many wakes as there are messages are a few for the broker', async () => {
    const one = engine('often');
    const gate = new Gate();
    const begun = new Gate();
    await one.start(async () => {
      begun.open();
      await gate.opened;
      return undefined;
    });
    one.wake('busy');
    await begun.opened;
    const before = await calls(redis);
    for (let n = 0; n < 10_000; n++) one.wake('busy');
    gate.open();
    await one.stop();
    expect((await calls(redis)) - before).toBeLessThan(200);
  });
});

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

async function calls(redis: PrivateRedis): Promise<number> {
  const stats = String(await redis.call('INFO', 'stats'));
  return Number(/total_commands_processed:(\d+)/.exec(stats)?.[1]);
}
