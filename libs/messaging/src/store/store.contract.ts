import { cancelContract } from './contract/cancel.contract.js';
import { intendContract } from './contract/intend.contract.js';
import { enqueueContract } from './contract/enqueue.contract.js';
import { notificationStepsContract } from './contract/notification-steps.contract.js';
import { reportContract } from './contract/report.contract.js';
import { settleContract } from './contract/settle.contract.js';
import {
  type ContractRunner,
  StoreBench,
  type StoreContract,
  type StoreContractSetup,
} from './contract/store-bench.js';
import { upkeepContract } from './contract/upkeep.contract.js';

export { CONTRACT_CHANNELS } from './contract/store-bench.js';

/**
 * Describes every verb of the store, for all drivers: alone, concurrent, conflicting, in a caller's
 * transaction, after a crash, and fast path against slow path on the same inputs.
 */
export function storeContract(setup: StoreContractSetup, { describe, it }: ContractRunner): void {
  const test: StoreContract['test'] = (name, prove) =>
    it(name, async () => {
      const bench = new StoreBench(setup);
      try {
        await prove(bench);
      } finally {
        await bench.close();
      }
    });
  for (const part of [
    settleContract,
    reportContract,
    enqueueContract,
    intendContract,
    cancelContract,
    notificationStepsContract,
    upkeepContract,
  ])
    part({ setup, describe, test });
}
