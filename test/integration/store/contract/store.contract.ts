import { cancelContract } from './cancel.contract.js';
import { countsContract } from './counts.contract.js';
import { intendContract } from './intend.contract.js';
import { enqueueContract } from './enqueue.contract.js';
import { longTextContract } from './long-text.contract.js';
import { notificationStepsContract } from './notification-steps.contract.js';
import { reportContract } from './report.contract.js';
import { settleContract } from './settle.contract.js';
import {
  type ContractRunner,
  StoreBench,
  type StoreContract,
  type StoreContractSetup,
} from './store-bench.js';
import { textContract } from './text.contract.js';
import { upkeepContract } from './upkeep.contract.js';

export { CONTRACT_CHANNELS } from './store-bench.js';

/**
 * Describes every verb of the store, for all drivers: alone, concurrent, conflicting, in a caller's
 * transaction, after a crash, and fast path against slow path on the same inputs.
 */
export function storeContract(setup: StoreContractSetup, runner: ContractRunner): void {
  prove(setup, runner, [
    settleContract,
    reportContract,
    enqueueContract,
    intendContract,
    cancelContract,
    notificationStepsContract,
    upkeepContract,
    countsContract,
    textContract,
    longTextContract,
  ]);
}

/** The part about texts, for databases with further encodings. */
export function textsOfStoreContract(setup: StoreContractSetup, runner: ContractRunner): void {
  prove(setup, runner, [textContract]);
}

function prove(
  setup: StoreContractSetup,
  { describe, it }: ContractRunner,
  parts: readonly ((contract: StoreContract) => void)[],
): void {
  const test: StoreContract['test'] = (name, proof) =>
    it(name, async () => {
      const bench = new StoreBench(setup);
      try {
        await proof(bench);
      } finally {
        await bench.close();
      }
    });
  for (const part of parts) part({ setup, describe, test });
}
