import type { DeliveryReport } from '../../message/delivery-report.js';
import { readDeliveryReport } from '../../message/wire-report.js';
import type { Clock } from '../../ports/clock.js';
import type {
  CallbackRequest,
  DeliveryReportParser,
  ParsedReports,
} from '../../ports/delivery-report-parser.js';
import { callbackEntries } from '../../callbacks/callback-entries.js';

const TYPES: readonly string[] = ['sms.delivery_report', 'whatsapp.message_status'];

/**
 * The interface's own form: `{ type, timestamp, data }`, or the bare `data`, one or an array of them,
 * as JSON, form or query. Events of other types are none of ours and are passed over.
 */
export class InterfaceReportParser implements DeliveryReportParser {
  constructor(private readonly clock: Clock) {}

  /** @throws UnreadableCallbackError where there is no entry to read at all. */
  parse(request: CallbackRequest): ParsedReports {
    const entries = callbackEntries(request);
    const now = this.clock.now();
    const reports: DeliveryReport[] = [];
    const errors: string[] = [];
    entries.forEach((entry, index) => {
      const data = dataOf(entry);
      if (data === FOREIGN) return;
      const report = readDeliveryReport(data, now);
      if (typeof report === 'string') errors.push(`entry ${index}: ${report}`);
      else reports.push(report);
    });
    return { reports, errors };
  }
}

const FOREIGN = Symbol('an event of another type');

/** The event's data, or the entry itself where it is bare. */
function dataOf(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null || !Object.hasOwn(entry, 'data')) return entry;
  const { type, data } = entry as { type?: unknown; data: unknown };
  return typeof type === 'string' && !TYPES.includes(type) ? FOREIGN : data;
}
