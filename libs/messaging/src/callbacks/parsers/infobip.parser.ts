import type { DeliveryReportParser } from '../../ports/delivery-report-parser.js';
import { fieldMapParser } from '../field-map.parser.js';

/**
 * Infobip's delivery reports: up to a hundred `results` in one JSON. The group decides, but for
 * `DELIVERED_TO_OPERATOR`, which is not the handset yet.
 *
 * @see https://www.infobip.com/docs/api/channels/sms/sms-messaging/logs-and-status-reports/receive-outbound-sms-message-report
 * @see https://www.infobip.com/docs/developer-resources/api-fundamentals/message-status-codes
 */
export function infobipParser(): DeliveryReportParser {
  return fieldMapParser({
    entries: 'results',
    reference: 'bulkId',
    messageId: 'messageId',
    recipient: 'to',
    status: ['status.name', 'status.groupName'],
    statuses: {
      delivered_to_operator: 'sent',
      pending: 'sent',
      delivered: 'delivered',
      undeliverable: 'undelivered',
      expired: 'expired',
      rejected: 'rejected',
    },
    errorCode: 'error.name',
    noError: ['NO_ERROR'],
    time: 'doneAt',
  });
}
