import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { eventually } from '../../../../../test/support/eventually.js';
import { describeWithServer } from '../../../../../test/support/servers.js';
import { dispatchEngineContract } from '../../testing/dispatch-engine.contract.js';
import { bullMq } from './index.js';

const unique = () => `test-${randomBytes(6).toString('hex')}`;

describeWithServer('redis', 'bullmq', (url) => {
  dispatchEngineContract(
    'bullmq',
    {
      create: () => {
        const prefix = unique();
        return {
          engine: bullMq({ connection: url, prefix })({ leaseTime: 5_000 }),
          close: () => forget(url, prefix),
        };
      },
    },
    { describe, it },
  );
});

describeWithServer('redis', 'a queue of several databases', (url) => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([
    ['a second database on the queue is warned of once, with the remedy', ['one', 'other'], 1],
    ['the same database is not told', ['one', 'one'], 0],
    ['a database that is not known is not told', ['one', undefined], 0],
  ])('a wake of %s', async (_, [first, second], warnings) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const prefix = unique();
    const engineOf = (database: string | undefined) =>
      bullMq({ connection: url, prefix })({
        leaseTime: 5_000,
        identity: () => Promise.resolve(database),
      });
    const [accepting, working] = [engineOf(first), engineOf(second)];
    const drained: string[] = [];
    await working.start(async (lane) => {
      drained.push(lane);
      return undefined;
    });
    for (const lane of ['a:sms', 'b:sms']) accepting.wake(lane);
    await eventually(async () => expect(drained.toSorted()).toEqual(['a:sms', 'b:sms']));
    expect(warn.mock.calls.filter(([line]) => String(line).startsWith('Another database'))).toEqual(
      Array(warnings).fill([
        expect.stringMatching(
          /queue messaging with the prefix .*; give each database a queue of its own/,
        ),
      ]),
    );
    await Promise.all([accepting.stop(), working.stop()]);
    await forget(url, prefix);
  });
});

/** The server is not ours alone. */
async function forget(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url);
  const keys = await redis.keys(`${prefix}:*`);
  if (keys.length > 0) await redis.del(...keys);
  redis.disconnect();
}
