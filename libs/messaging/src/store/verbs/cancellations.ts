import { submissionIdOf } from '../../message/ids.js';
import { STATUS_RANK } from '../../message/status.js';
import type { SentSubmission } from '../../ports/message-transport.js';
import type { Sql, StoreDatabase, Transaction } from '../database/store-database.js';
import { BATCH_STATE } from '../rows/batch-state.js';

/** A provider that can cancel messages that it has accepted. */
export interface CancellingProvider {
  readonly name: string;
  /** @default every channel */
  readonly channels?: readonly string[];
}

/** A request to cancel the messages of a batch at one provider. */
export interface Cancellation {
  readonly batch: string;
  readonly provider: string;
  readonly asked: number;
  readonly tries: number;
}

/** Submissions that one statement looks at. */
const WINDOW = 200;

/** Microseconds until messages in flight are looked at again, and the longest wait after a failure. */
const IN_FLIGHT = 2_000_000;
const LONGEST_WAIT = 60_000_000;

/** Microseconds after which a request is given up: no SMSC keeps a message longer. */
const GIVEN_UP = 3 * 86_400_000_000;

/**
 * Requests to providers to cancel accepted messages, written in the transaction of the cancel.
 * A row is one batch at one provider, however many messages it has there; the process that holds the
 * provider's lane of the queue carries it out.
 */
export class Cancellations {
  constructor(
    private readonly database: StoreDatabase,
    /** Those of the app's configuration. */
    readonly providers: readonly CancellingProvider[],
  ) {}

  /**
   * Requests cancels of batches that may have messages at a provider, without steps of notifications: a step whose message
   * has `failed` begins the next one.
   */
  async request(tx: Sql, batches: readonly string[]): Promise<void> {
    const { dialect } = this.database;
    if (batches.length === 0) return;
    const { sending, completed } = BATCH_STATE;
    for (const { name, channels } of this.providers)
      await tx.run(
        `INSERT INTO messaging_cancellation (batch, provider, requested_at, due_at)
         SELECT b.id, ?, ${dialect.now}, ${dialect.now} FROM messaging_batch b
         WHERE b.id IN (${batches.map(() => '?').join(', ')}) AND b.state >= ${sending}
           AND b.notification IS NULL
           AND (b.state < ${completed} OR b.state = ${completed} AND b.poll_at IS NOT NULL)
           ${channels ? `AND b.channel IN (${channels.map(() => '?').join(', ')})` : ''}
         ${dialect.ignoreConflict('messaging_cancellation', 'batch')}`,
        [name, ...batches, ...(channels ?? [])],
      );
  }

  /** Milliseconds until the first request at each of the providers is due. */
  async firstDue(): Promise<readonly { readonly provider: string; readonly dueIn: number }[]> {
    const names = this.providers.map(({ name }) => name);
    if (names.length === 0) return [];
    const rows = await this.database.all<{ provider: string; wait: string | number }>(
      `SELECT provider, min(due_at) - ${this.database.dialect.now} AS wait
       FROM messaging_cancellation WHERE provider IN (${names.map(() => '?').join(', ')})
       GROUP BY provider`,
      names,
    );
    return rows.map(({ provider, wait }) => ({ provider, dueIn: Number(wait) / 1_000 }));
  }

  async nextDue(provider: string): Promise<Cancellation | undefined> {
    const [row] = await this.database.all<Cancellation>(
      `SELECT batch, provider, asked, tries FROM messaging_cancellation
       WHERE provider = ? AND due_at <= ${this.database.dialect.now} ORDER BY due_at LIMIT 1`,
      [provider],
    );
    return row;
  }

  /** The next accepted submissions with messages that are not over, and the last one looked at. */
  async accepted({ batch, provider, asked }: Cancellation): Promise<{
    readonly submissions: readonly SentSubmission[];
    readonly last: number;
  }> {
    const { channels } = this.database;
    const ranks = channels.pendingRanks.filter((rank) => rank > STATUS_RANK.sending);
    const last = asked + WINDOW;
    const rows = await this.database.all<AcceptedRow>(
      `SELECT s.n, s.reference, s.attempt, s.first_sent_at AS "sentAt", m.recipient, b.channel, b.sender
       FROM messaging_submission s
       JOIN messaging_batch b ON b.id = s.batch
       JOIN messaging_message m ON m.batch = s.batch AND m.submission = s.n
         AND m.position BETWEEN s.first_position AND s.last_position
       WHERE s.batch = ? AND s.provider = ? AND s.n > ? AND s.n <= ? AND s.reference IS NOT NULL
         AND m.status IN (${ranks.join(', ')}) AND m.recipient <> ''
       ORDER BY s.n, m.position`,
      [batch, provider, asked, last],
    );
    const found = new Map<number, SentSubmission & { readonly recipients: string[] }>();
    for (const { n, sentAt, recipient, ...row } of rows) {
      const known = found.get(n);
      if (known) known.recipients.push(recipient);
      else {
        const firstSentAt = new Date(Number(sentAt) / 1_000);
        const submissionId = submissionIdOf(batch, n);
        found.set(n, { ...row, submissionId, firstSentAt, recipients: [recipient] });
      }
    }
    return { submissions: [...found.values()], last };
  }

  /** The provider has answered for the submissions up to `last`; after the last one the request ends. */
  async answered({ batch, provider }: Cancellation, last: number): Promise<void> {
    await this.database.transaction(async (tx) => {
      const of = [batch, provider];
      const rows = async (columns: string, condition: string): Promise<number | null> => {
        const [row] = await tx.all<{ n: string | number | null }>(
          `SELECT ${columns} AS n FROM messaging_submission s
           WHERE s.batch = ? AND s.provider = ? AND ${condition}`,
          of,
        );
        return row?.n == null ? null : Number(row.n);
      };
      if (((await rows('max(s.n)', '1 = 1')) ?? -1) > last) return this.#move(tx, of, last, 0);
      const inFlight = await rows('min(s.n)', 's.outcome IS NULL');
      if (inFlight !== null) return this.#move(tx, of, inFlight - 1, IN_FLIGHT);
      await tx.run('DELETE FROM messaging_cancellation WHERE batch = ? AND provider = ?', of);
    });
  }

  async failed({ batch, provider, asked, tries }: Cancellation): Promise<void> {
    const wait = Math.min(LONGEST_WAIT, 1_000_000 * 2 ** tries);
    await this.database.transaction((tx) =>
      this.#move(tx, [batch, provider], asked, wait, Math.min(tries + 1, 30)),
    );
  }

  /** Deletes the requests that are too old to have an effect, also those at former providers. */
  async giveUp(): Promise<void> {
    await this.database.transaction((tx) =>
      tx.run(
        `DELETE FROM messaging_cancellation WHERE requested_at < ${this.database.dialect.now} - ?`,
        [GIVEN_UP],
      ),
    );
  }

  async #move(
    tx: Transaction,
    of: readonly string[],
    asked: number,
    wait: number,
    tries = 0,
  ): Promise<void> {
    await tx.run(
      `UPDATE messaging_cancellation SET asked = ?, tries = ?, due_at = ${this.database.dialect.now} + ?
       WHERE batch = ? AND provider = ?`,
      [asked, tries, wait, ...of],
    );
  }
}

interface AcceptedRow extends Omit<SentSubmission, 'submissionId' | 'firstSentAt' | 'recipients'> {
  readonly n: number;
  readonly sentAt: string | number;
  readonly recipient: string;
}
