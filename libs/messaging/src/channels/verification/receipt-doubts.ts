import type { RecentOutcomes } from '../../message/outcomes.js';
import {
  receiptEvidence,
  type ReceiptFinding,
  receiptFindings,
  type WitnessedReceipts,
} from '../../message/receipt-doubts.js';
import type { Clock } from '../../ports/clock.js';
import type { StoreDatabase } from '../../store/database/store-database.js';
import { recentOutcomes } from '../../store/reads/recent-outcomes.js';
import { codeChecks } from './code-checks.js';

/** Reads what became of messages, and what second witnesses say of the reports. */
export class ReceiptDoubts {
  constructor(
    private readonly store: { readonly database: StoreDatabase },
    private readonly clock: Pick<Clock, 'now'>,
    private readonly witness: (since: Date) => Promise<readonly WitnessedReceipts[]> = () =>
      Promise.resolve([]),
  ) {}

  /** @param since of messages that were accepted since, in epoch milliseconds */
  async read(since: number): Promise<{
    readonly found: readonly RecentOutcomes[];
    readonly doubts: readonly ReceiptFinding[];
  }> {
    const { database } = this.store;
    const found = await recentOutcomes(database, since);
    const codes = await codeChecks(database, since, this.clock.now());
    const witnessed = await this.witness(new Date(since));
    return { found, doubts: receiptFindings(receiptEvidence(found, codes, witnessed)) };
  }
}
