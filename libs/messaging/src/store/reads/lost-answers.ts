import type { DeliveryReport } from '../../message/events.js';
import { messageIdOf, submissionIdOf } from '../../message/ids.js';
import { addressIdentity, formsOf } from '../../message/phone-identity.js';
import { STATUS_RANK } from '../../message/status.js';
import type { ProviderMessage } from '../../ports/message-transport.js';
import type { Dialect } from '../database/dialect.js';
import type { StoreDatabase } from '../database/store-database.js';
import {
  EXACTNESS,
  LONGEST_START,
  settledBy,
  type UnansweredMessage,
} from '../rows/listed-messages.js';
import { SUBMISSION_OUTCOME } from '../rows/outcome.js';
import type { MessageRecords } from './messages/message-records.js';

interface Asked {
  readonly provider: string;
  readonly recipient: string;
  /** Milliseconds. */
  readonly takenAt: number;
}

interface Row {
  readonly batch: string;
  readonly position: number;
  readonly n: number;
  readonly recipient: string;
  readonly sender: string;
  /** Microseconds. */
  readonly intendedAt: string | number;
  readonly isUnknown: string | number;
}

interface Owner {
  readonly batch: string;
  readonly n: number;
  readonly reference: string | null;
  readonly messageId: string | null;
}

/** Finds the messages without an answer in what a provider lists; see {@link settledBy}. */
export class LostAnswers {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(
    private readonly database: StoreDatabase,
    private readonly records: Pick<MessageRecords, 'contents'>,
  ) {
    this.#sql = statementsFor(database.dialect);
  }

  /** @returns the reports of the listed messages that are ours, with their submissions */
  async find(listed: readonly ProviderMessage[], provider: string): Promise<DeliveryReport[]> {
    const left = await this.#withoutAnswered(listed);
    if (left.length === 0) return [];
    const rows = await this.#fitting(left, provider);
    const owners = await this.#owners(rows);
    const owned = new Set(owners.values());
    const ours = await this.#withTexts(
      rows.filter(({ batch, n }) => !owned.has(submissionIdOf(batch, n))),
    );
    const settled = settledBy(
      left.filter(({ report }) => !owners.has(report.messageId)),
      ours,
    );
    return left.flatMap((one) => {
      const submissionId = owners.get(one.report.messageId) ?? settled.get(one)?.submissionId;
      return submissionId === undefined ? [] : { ...one.report, submissionId };
    });
  }

  /** Those whose id no answer gave. */
  async #withoutAnswered(listed: readonly ProviderMessage[]): Promise<readonly ProviderMessage[]> {
    if (listed.length === 0) return [];
    const { names, answered } = this.#sql;
    const bound = names.bind(listed.map(({ report }) => report.messageId));
    const rows = await this.database.all<{ name: string }>(answered, [...bound, ...bound]);
    const known = new Set(rows.map(({ name }) => name));
    return listed.filter(({ report }) => !known.has(report.messageId));
  }

  async #fitting(listed: readonly ProviderMessage[], provider: string): Promise<readonly Row[]> {
    const asked = listed.flatMap(({ report, takenAt }) =>
      formsOf(addressIdentity(report.recipient)).map((recipient) => {
        return { provider, recipient, takenAt: takenAt.getTime() };
      }),
    );
    const { times, fitting } = this.#sql;
    const bound = times.bind(asked);
    const rows = await this.database.all<Row>(fitting, [...bound, ...bound]);
    return [...new Map(rows.map((row) => [submissionIdOf(row.batch, row.n), row])).values()];
  }

  /** The submissions that reports with an id have settled before, by that id. */
  async #owners(rows: readonly Row[]): Promise<ReadonlyMap<string, string>> {
    if (rows.length === 0) return new Map();
    const { batches, owners } = this.#sql;
    const bound = batches.bind([...new Set(rows.map(({ batch }) => batch))]);
    const found = await this.database.all<Owner>(owners, bound);
    return new Map(
      found.flatMap(({ batch, n, reference, messageId }) => {
        const name = messageId ?? reference;
        return name === null ? [] : [[name, submissionIdOf(batch, n)] as const];
      }),
    );
  }

  async #withTexts(rows: readonly Row[]): Promise<readonly UnansweredMessage[]> {
    const ids = rows.map(({ batch, position }) => messageIdOf(batch, position));
    const contents = await this.records.contents(ids, { codes: true });
    return rows.map(({ batch, position, n, recipient, sender, intendedAt, isUnknown }) => {
      const content = contents.get(messageIdOf(batch, position));
      const text = content?.kind === 'text' ? content['text'] : undefined;
      return {
        submissionId: submissionIdOf(batch, n),
        recipient,
        sender,
        intendedAt: Number(intendedAt) / 1_000,
        text: typeof text === 'string' ? text : undefined,
        isUnknown: Number(isUnknown) === 1,
      };
    });
  }
}

function statementsFor(dialect: Dialect) {
  const names = dialect.rows<string>({ v_name: ['key', (name) => name] });
  const batches = dialect.rows<string>({ v_batch: ['uuid', (batch) => batch] });
  const times = dialect.rows<Asked>({
    v_provider: ['key', ({ provider }) => provider],
    v_recipient: ['key', ({ recipient }) => recipient],
    v_from: ['bigint', ({ takenAt }) => (takenAt - EXACTNESS - LONGEST_START) * 1_000],
    v_until: ['bigint', ({ takenAt }) => (takenAt + EXACTNESS) * 1_000],
  });
  const { unknown } = SUBMISSION_OUTCOME;
  const fitting = (outcome: string) => `SELECT m.batch, m.position, s.n, m.recipient, b.sender,
      s.first_sent_at AS "intendedAt",
      CASE WHEN s.outcome = ${unknown} AND m.status = ${STATUS_RANK.unknown} AND m.submission = s.n
        THEN 1 ELSE 0 END AS "isUnknown"
    FROM ${times.keyed}
    ${dialect.join} messaging_submission s ON s.outcome ${outcome}
      AND s.provider = v_provider AND s.first_sent_at BETWEEN v_from AND v_until
      AND s.reference IS NULL AND s.last_position = s.first_position
    JOIN messaging_message m ON m.batch = s.batch AND m.position = s.first_position
      AND m.recipient = v_recipient
    JOIN messaging_batch b ON b.id = s.batch`;
  return {
    names,
    batches,
    times,
    answered: `SELECT v_name AS name FROM ${names.keyed}
        ${dialect.join} messaging_submission s ON s.reference = v_name
      UNION SELECT v_name AS name FROM ${names.keyed}
        ${dialect.join} messaging_message m ON m.reference = v_name`,
    fitting: `${fitting(`= ${unknown}`)} UNION ALL ${fitting('IS NULL')}`,
    owners: `SELECT s.batch, s.n, r.reference, r.message_id AS "messageId"
      FROM ${batches.keyed}
      ${dialect.join} messaging_report r ON r.batch = v_batch
      JOIN messaging_message m ON m.batch = r.batch AND m.position = r.position
      JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
        AND s.outcome = ${unknown}`,
  };
}
