import { submissionIdOf } from '../../message/ids.js';
import { STATUS_RANK } from '../../message/status.js';
import { isUnavailable } from '../database/database-errors.js';
import { type Dialect, updater } from '../database/dialect.js';
import { GroupCommit } from '../database/group-commit.js';
import type { StoreDatabase } from '../database/store-database.js';
import { inLockOrder } from '../rows/outcome.js';
import { isMember } from '../rows/tries.js';

/** The last failure of a submission that its provider may have. */
export interface Doubt {
  readonly batch: string;
  readonly n: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly errorCode: string;
  readonly errorText: string;
  /** Failures of its messages that count against `maxAttempts`. */
  readonly countedFailures: number;
}

/** Records why unanswered submissions have no outcome yet; a submission with an outcome keeps that. */
export class Doubts {
  readonly #group: GroupCommit<Doubt, void>;

  constructor(database: StoreDatabase) {
    const { submissions, messages } = statementsFor(database.dialect);
    this.#group = new GroupCommit<Doubt, void>(
      (take) =>
        database.transaction(async (tx) => {
          const latest = new Map(take().map((one) => [submissionIdOf(one.batch, one.n), one]));
          const doubts = [...latest.values()].toSorted(inLockOrder);
          await submissions(tx, doubts);
          await messages(tx, doubts);
          return take().map(() => undefined);
        }),
      { maxItems: 500, isItemError: (error) => !isUnavailable(error) },
    );
  }

  /** Resolves after the commit. */
  record(doubt: Doubt): Promise<void> {
    return this.#group.add(doubt);
  }

  idle(): Promise<void> {
    return this.#group.idle();
  }
}

function statementsFor(dialect: Dialect) {
  return {
    submissions: updater<Doubt>(
      dialect,
      {
        v_batch: ['uuid', ({ batch }) => batch],
        v_n: ['int', ({ n }) => n],
        v_error: ['key', ({ errorCode }) => errorCode],
        v_text: ['text', ({ errorText }) => errorText],
      },
      {
        table: 'messaging_submission',
        set: 'error_code = v_error, error_text = v_text',
        where: `messaging_submission.batch = v_batch AND messaging_submission.n = v_n
          AND ${dialect.residual('messaging_submission.outcome IS NULL')}`,
      },
    ),
    messages: updater<Doubt>(
      dialect,
      {
        v_batch: ['uuid', ({ batch }) => batch],
        v_n: ['int', ({ n }) => n],
        v_first: ['int', ({ firstPosition }) => firstPosition],
        v_last: ['int', ({ lastPosition }) => lastPosition],
        v_error: ['key', ({ errorCode }) => errorCode],
        v_counted_failures: ['int', ({ countedFailures }) => countedFailures],
      },
      {
        table: 'messaging_message',
        set: 'error_code = v_error, counted_failures = v_counted_failures',
        where: `${isMember(dialect)}
          AND ${dialect.residual(`messaging_message.status = ${STATUS_RANK.sending}`)}`,
      },
    ),
  };
}
