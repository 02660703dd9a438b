import { given } from '../channels/send.js';
import { MessageValidationError, MessagingError, validated } from '../message/errors.js';
import type { HistoryFilter, ListedMessage, Page } from '../message/views.js';
import type { Duration } from '../ports/option-schema.js';

export interface OperationsFilter extends Omit<HistoryFilter, 'since' | 'until'> {
  /** Accepted before this time, or longer ago than this duration. @default any time */
  readonly olderThan?: Duration | Date | undefined;
  /** Accepted since this time, or within this duration. @default any time */
  readonly youngerThan?: Duration | Date | undefined;
}

/** Which messages a bulk change is for: at least one field must narrow them. */
export type BulkFilter = Omit<OperationsFilter, 'cursor' | 'limit'>;

/** Which messages to send again: of this status, and narrowed by a further field. */
export type ResendFilter = Omit<BulkFilter, 'status'> & {
  readonly status: NonNullable<BulkFilter['status']>;
};

export interface BulkOptions {
  /**
   * Counts, and changes nothing: `skipped` has those that the change would leave alone. The spend
   * guard is not asked. @default false
   */
  readonly dryRun?: boolean | undefined;
}

/** What became of the messages of a bulk change. */
export interface BulkResult {
  /** Messages that the filter found. */
  readonly found: number;
  /** Changed ones; 0 in a dry run. */
  readonly changed: number;
  /** Numbers of those that stayed as they are, by the code of the error. */
  readonly skipped: Readonly<Record<string, number>>;
}

/** Messages that one read finds. */
const PAGE = 200;

/**
 * Changes each message that a filter finds, one after the other.
 * @param change returns why the message stays as it is; with `dryRun` it writes nothing
 * @throws MessageValidationError where nothing narrows the filter
 */
export async function changeEach(
  operations: { messages(filter: OperationsFilter): Promise<Page<ListedMessage>> },
  filter: BulkFilter,
  dryRun: boolean,
  change: (id: string) => Promise<string | undefined>,
): Promise<BulkResult> {
  const { status, ...further } = given(filter, 'filter');
  validated((errors) => {
    if (status === undefined)
      errors.push({ path: 'status', message: 'is missing, such as failed or unknown' });
    if (Object.values(further).every((value) => value === undefined))
      errors.push({
        path: 'filter',
        message: 'must be narrowed, such as by provider, tag, olderThan or youngerThan',
      });
  });
  const result = { found: 0, changed: 0, skipped: {} as Record<string, number> };
  let cursor: string | undefined;
  do {
    const page = await operations.messages({ ...filter, cursor, limit: PAGE });
    cursor = page.nextCursor ?? undefined;
    result.found += page.data.length;
    for (const { id } of page.data) {
      const reason = await change(id).catch(refusalOf);
      if (reason === undefined) result.changed += dryRun ? 0 : 1;
      else result.skipped[reason] = (result.skipped[reason] ?? 0) + 1;
    }
  } while (cursor !== undefined);
  return result;
}

/** The code of an error of one message; an error of the request itself is thrown. */
function refusalOf(error: unknown): string {
  const isOfMessage =
    error instanceof MessagingError &&
    !(error instanceof MessageValidationError && error.fields.some(({ path }) => path !== 'id'));
  if (!isOfMessage) throw error;
  return error.code;
}
