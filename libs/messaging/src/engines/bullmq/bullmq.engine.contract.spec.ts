import { describe, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
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

/** The server is not ours alone. */
async function forget(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url);
  const keys = await redis.keys(`${prefix}:*`);
  if (keys.length > 0) await redis.del(...keys);
  redis.disconnect();
}
