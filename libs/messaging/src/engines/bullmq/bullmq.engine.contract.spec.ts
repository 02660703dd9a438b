import { describe, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { describeWithServer } from '../../../../../test/support/servers.js';
import { dispatchEngineContract } from '../../testing/dispatch-engine.contract.js';
import { bullMq } from './index.js';

describeWithServer('redis', 'bullmq', (url) => {
  dispatchEngineContract(
    'bullmq',
    {
      create: () => {
        const prefix = `test-${randomBytes(6).toString('hex')}`;
        return { engine: bullMq({ connection: url, prefix })({ leaseTime: 5_000 }) };
      },
    },
    { describe, it },
  );
});

describeWithServer('postgres', 'bullmq', (url) => {
  dispatchEngineContract(
    'bullmq',
    {
      create: () => {
        const queue = `test-${randomBytes(6).toString('hex')}`;
        return { engine: bullMq({ connection: url, queue })({ leaseTime: 2_000 }) };
      },
    },
    { describe, it },
  );
});
