import { Logger } from '@nestjs/common';
import type { DeliveryReport } from '../../message/events.js';
import { PermanentFailure, UncertainFailure } from '../../message/errors.js';
import type { SentSubmission, Submission } from '../../ports/message-transport.js';
import type { HttpSettings } from './http.options.js';
import { readDeliveryReport } from './interface-callbacks.js';
import { askForEach, type FetchedReports, fieldOf, type Wire } from './wire.js';

const REPORTS = '/ng/v1/deliveryreports';
const PAGE = 1000;
/** Most pages of one list, against a service whose cursors never end. */
const MAX_PAGES = 1000;
const CONCURRENCY = 4;
/** Longest query in characters: servers refuse request lines above 8 to 16 KiB. */
const MAX_QUERY = 6000;

interface ReportList {
  readonly query: string;
  /** Set where the list belongs to one submission and is requested by its key. */
  readonly submissionId?: string;
}

/** SMS on the interface: `sendsms` and `deliveryreports` (sections 2.1, 2.2 and 4.1). */
export class SmsWire implements Wire {
  readonly credential = 'apiToken';
  readonly path = '/ng/v1/sendsms';
  readonly idField = 'reference_id';
  readonly #logger = new Logger(SmsWire.name);

  constructor(private readonly settings: Pick<HttpSettings, 'textField' | 'deliveryReport'>) {}

  bodyOf({ sender, recipients, content, deliveryReport }: Submission): Record<string, unknown> {
    if (content.kind !== 'text')
      throw new PermanentFailure('unsupported_content', 'An SMS carries text only');
    return {
      from: sender,
      to: recipients,
      [this.settings.textField.sms]: content.text,
      delivery_report: this.settings.deliveryReport ?? deliveryReport,
    };
  }

  /** Submissions with a reference share requests; others have one each, by idempotency key. */
  async fetch(
    submissions: readonly SentSubmission[],
    get: (path: string) => Promise<unknown>,
    now: number,
  ): Promise<FetchedReports> {
    const reports: DeliveryReport[] = [];
    const ids = new Map(submissions.map((one) => [one.reference, one.submissionId]));
    ids.delete(null);
    let unreadable = 0;
    const failure = await askForEach(listsOf(submissions), CONCURRENCY, async (list) => {
      for await (const item of itemsOf(list, get)) {
        const report = readDeliveryReport(item, now);
        if (typeof report === 'string') {
          unreadable++;
          continue;
        }
        const submissionId = list.submissionId ?? ids.get(report.reference);
        reports.push(submissionId === undefined ? report : { ...report, submissionId });
      }
    });
    if (unreadable > 0)
      this.#logger.warn(
        `${unreadable} fetched delivery reports could not be read and were left out`,
      );
    return { reports, failure };
  }
}

function* listsOf(submissions: readonly SentSubmission[]): Generator<ReportList> {
  let query = '';
  for (const { submissionId, reference } of submissions) {
    if (reference === null) {
      yield { query: `&idempotency_key=${encodeURIComponent(submissionId)}`, submissionId };
      continue;
    }
    const part = `&reference_id=${encodeURIComponent(reference)}`;
    if (query.length + part.length > MAX_QUERY) {
      yield { query };
      query = '';
    }
    query += part;
  }
  if (query !== '') yield { query };
}

async function* itemsOf(
  { query }: ReportList,
  get: (path: string) => Promise<unknown>,
): AsyncGenerator<unknown> {
  let cursor = '';
  for (let page = 0; page < MAX_PAGES; page++) {
    const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const body = await get(`${REPORTS}?limit=${PAGE}${query}${after}`);
    const items = fieldOf(body, 'data');
    if (!Array.isArray(items))
      throw new UncertainFailure('invalid_answer', 'The service answered without a report list');
    yield* items as unknown[];
    const next = fieldOf(body, 'next_cursor');
    if (typeof next !== 'string' || next === '' || next === cursor) return;
    cursor = next;
  }
}
