import type { DeliveryReport } from '../../message/delivery-report.js';
import { readDeliveryReport } from './interface-callbacks.js';
import { PausedFailure, PermanentFailure } from '../../message/failures.js';
import type { SentSubmission } from '../../ports/message-transport.js';

/** Fetches one page with `GET`; throws a SubmitFailure. */
export type GetPage = (path: string) => Promise<unknown>;

const PATH = '/ng/v1/deliveryreports';
const PAGE = 1000;
/** Most pages of one list, against a service whose cursors never end. */
const MAX_PAGES = 1000;
/** Most lists read at the same time. */
const CONCURRENCY = 4;
/** Longest query in characters: servers refuse request lines above 8 to 16 KiB. */
const MAX_QUERY = 6000;

export interface PollResult {
  readonly reports: readonly DeliveryReport[];
  /** Number of items that could not be read. */
  readonly unreadable: number;
  /** Error because of which reports may be missing. */
  readonly failure: unknown;
}

/** One list, read page by page. */
interface ReportList {
  readonly query: string;
  /** Set where the list belongs to one submission and is requested by its key. */
  readonly submissionId: string | undefined;
}

/**
 * Fetches the reports of sent submissions. Those with a reference share a request (`reference_id` repeated); the
 * others are requested one by one, by their idempotency key. A failed list does not affect the others. After a
 * failure that affects every request, no further list is requested. The fetched reports are returned with the first
 * failure; without any report, the failure is thrown.
 */
export class ReportPoll {
  readonly #reports: DeliveryReport[] = [];
  readonly #byReference = new Map<string, string>();
  #unreadable = 0;
  #refusal: unknown;
  #failure: unknown;
  #answered = false;
  #stopped = false;

  constructor(
    private readonly get: GetPage,
    private readonly now: number,
  ) {}

  async run(submissions: readonly SentSubmission[]): Promise<PollResult> {
    const lists = this.#lists(submissions);
    const reader = async (): Promise<void> => {
      for (const list of lists)
        if (this.#stopped) return;
        else await this.#read(list);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, reader));
    const failure = this.#failure ?? (this.#answered ? undefined : this.#refusal);
    if (failure !== undefined && this.#reports.length === 0) throw failure as Error;
    return { reports: this.#reports, unreadable: this.#unreadable, failure };
  }

  *#lists(submissions: readonly SentSubmission[]): Generator<ReportList> {
    let query = '';
    for (const { submissionId, reference } of submissions) {
      if (reference === null) {
        yield { query: `idempotency_key=${encodeURIComponent(submissionId)}`, submissionId };
        continue;
      }
      this.#byReference.set(reference, submissionId);
      const part = `reference_id=${encodeURIComponent(reference)}`;
      if (query !== '' && query.length + part.length > MAX_QUERY) {
        yield { query, submissionId: undefined };
        query = '';
      }
      query += query === '' ? part : `&${part}`;
    }
    if (query !== '') yield { query, submissionId: undefined };
  }

  async #read({ query, submissionId }: ReportList): Promise<void> {
    let cursor: string | null = null;
    for (let page = 0; page < MAX_PAGES; page++) {
      const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      let body: unknown;
      try {
        body = await this.get(`${PATH}?${query}&limit=${PAGE}${after}`);
      } catch (error) {
        if (error instanceof PermanentFailure) this.#refusal ??= error;
        else this.#failure ??= error;
        this.#stopped ||= error instanceof PausedFailure;
        return;
      }
      this.#answered = true;
      const next = this.#take(body, submissionId);
      if (next === null || next === cursor) return;
      cursor = next;
    }
  }

  /** @returns the next cursor */
  #take(body: unknown, askedFor: string | undefined): string | null {
    const { data, next_cursor: next } = (body ?? {}) as { data?: unknown; next_cursor?: unknown };
    for (const item of Array.isArray(data) ? (data as unknown[]) : []) {
      const report = readDeliveryReport(item, this.now);
      if (typeof report === 'string') {
        this.#unreadable++;
        continue;
      }
      const submissionId = askedFor ?? this.#byReference.get(report.reference ?? '');
      this.#reports.push(submissionId === undefined ? report : { ...report, submissionId });
    }
    return typeof next === 'string' && next !== '' ? next : null;
  }
}
