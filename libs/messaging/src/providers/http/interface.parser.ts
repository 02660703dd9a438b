import type { ChannelRegistry } from '../../message/channel-registry.js';
import type { DeliveryReport } from '../../message/delivery-report.js';
import { readDeliveryReport } from '../../message/wire-report.js';
import type { ChannelStatus } from '../../message/status.js';
import type { Clock } from '../../ports/clock.js';
import type {
  CallbackRequest,
  DeliveryReportParser,
  ParsedReports,
} from '../../ports/delivery-report-parser.js';
import { callbackEntries } from '../../callbacks/callback-entries.js';

/**
 * The interface's own form: `{ type, timestamp, data }`, or the bare `data`, one or an array of them,
 * as JSON, form or query. Events of other types are passed over.
 */
export class InterfaceReportParser implements DeliveryReportParser {
  constructor(
    private readonly clock: Clock,
    private readonly channels: ChannelRegistry,
  ) {}

  /** @throws UnreadableCallbackError where there is no entry to read at all. */
  parse(request: CallbackRequest): ParsedReports {
    const entries = callbackEntries(request);
    const now = this.clock.now();
    const reports: DeliveryReport[] = [];
    const errors: string[] = [];
    entries.forEach((entry, index) => {
      const data = this.#dataOf(entry);
      if (data === FOREIGN) return;
      const report = readDeliveryReport(data, now, (status): status is ChannelStatus =>
        this.channels.isReported(status),
      );
      if (typeof report === 'string') errors.push(`entry ${index}: ${report}`);
      else reports.push(report);
    });
    return { reports, errors };
  }

  /** The event's data, or the entry itself where it is bare. */
  #dataOf(entry: unknown): unknown {
    if (typeof entry !== 'object' || entry === null || !Object.hasOwn(entry, 'data')) return entry;
    const { type, data } = entry as { type?: unknown; data: unknown };
    if (typeof type !== 'string' || this.channels.ofEvent(type)?.wire?.statusEvent === type)
      return data;
    return FOREIGN;
  }
}

const FOREIGN = Symbol('an event of another type');
