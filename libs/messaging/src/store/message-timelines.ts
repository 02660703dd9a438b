import type { MessageTimeline, ReportView } from '../message/views.js';
import type { BatchScope } from './batches.js';
import type { ReportLog } from './report-log.js';
import type { SubmittedMessages } from './submitted-messages.js';

/** Entries of the log read at a time. */
const PAGE = 1_000;

/** The life of one message, read back whole. */
export class MessageTimelines {
  constructor(
    private readonly messages: SubmittedMessages,
    private readonly log: ReportLog,
  ) {}

  /** @throws MessageNotFoundError */
  async find(id: string, scope: BatchScope): Promise<MessageTimeline> {
    const message = await this.messages.find(id, scope);
    const { batchId, position } = message;
    return { ...message, reports: await this.#reports(batchId, position, scope) };
  }

  async #reports(batch: string, position: number, scope: BatchScope): Promise<ReportView[]> {
    const reports: ReportView[] = [];
    let cursor: string | null = null;
    do {
      const filter = { batchIds: [batch], limit: PAGE, ...(cursor !== null && { cursor }) };
      const page = await this.log.find(scope, filter, position);
      reports.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return reports;
  }
}
