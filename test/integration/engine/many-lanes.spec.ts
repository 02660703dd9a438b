import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { DispatchEngine } from '@dundun/messaging/ports';
import { bullMq } from '@dundun/messaging/bullmq';
import { PrivateRedis } from '../../chaos/private-redis.js';
import { eventually } from '../../support/eventually.js';
import { describeUnless } from '../../support/servers.js';
import { Gate } from '../dispatch/dispatch-fixture.js';

const LANES = 1_000;
/** Milliseconds: each of them takes some round trips. */
const LIMIT = 100_000;

describeUnless(PrivateRedis.missing, 'many lanes and a broker on redis', () => {
  let redis: PrivateRedis;
  let one: DispatchEngine;
  let gate: Gate;
  let looking: NodeJS.Timeout | undefined;

  beforeAll(async () => {
    redis = await PrivateRedis.start();
  });
  beforeEach(() => {
    gate = new Gate();
  });
  afterEach(async () => {
    clearInterval(looking);
    gate.open();
    await one.stop();
  });
  afterAll(() => redis.kill());

  const engine = (queue: string) => bullMq({ connection: redis.url, queue })({ leaseTime: 30_000 });
  /** Wakes a thousand, and as the wake job does once in a while those that were not drained. */
  const wakeAll = (drained: ReadonlySet<string>) => {
    const wake = () => {
      for (let n = 0; n < LANES; n++) if (!drained.has(`lane ${n}`)) one.wake(`lane ${n}`);
    };
    wake();
    looking = setInterval(wake, 2_000);
  };

  it('a thousand active lanes share connections and timers', async () => {
    one = engine('busy');
    const begun = new Set<string>();
    const before = timers();
    await one.start(async (lane) => {
      begun.add(lane);
      await gate.opened;
      return undefined;
    });
    wakeAll(begun);
    await eventually(async () => expect(begun.size).toBe(LANES), LIMIT);
    const connections = String(await redis.call('CLIENT', 'LIST'))
      .trim()
      .split('\n');
    // One for wakes, two for lanes, and the one that asks.
    expect(connections.length).toBeLessThanOrEqual(4);
    expect(timers() - before).toBeLessThan(20);
  });

  it('an idle lane keeps nothing in memory', async () => {
    one = engine('once');
    const run = new Set<string>();
    await one.start((lane) => {
      run.add(lane);
      return Promise.resolve(undefined);
    });
    wakeAll(run);
    await eventually(async () => expect(run.size).toBe(LANES), LIMIT);
    await eventually(async () => {
      const keys = (await redis.call('KEYS', 'bull:once:*')) as string[];
      expect(keys.filter((key) => /:[0-9a-f]{8}-|:de:|:dn:/.test(key))).toEqual([]);
    });
  });

  it('wakes of many messages are coalesced for the broker', async () => {
    one = engine('often');
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
    expect((await calls(redis)) - before).toBeLessThan(1_000);
  });
});

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

async function calls(redis: PrivateRedis): Promise<number> {
  const stats = String(await redis.call('INFO', 'stats'));
  return Number(/total_commands_processed:(\d+)/.exec(stats)?.[1]);
}
