import type { FieldError, SmsMessage } from '@dundun/messaging';
import { isSenderId, SENDER_ID_RULE } from '../accounts/senders.js';
import { invalidFields } from '../http/api-error.js';
import { listErrors, readText, TEXT_RULE } from '../http/fields.js';
import { parseTimestamp, TIMESTAMP_RULE } from '../http/rfc3339.js';
import { checkUnknown, fieldsOf } from '../http/validation.js';
import {
  DELIVERY_REPORTS,
  type DeliveryReportWish,
  RECIPIENTS,
  SendSms,
  SMS_TEXT,
} from './sms.dto.js';

const FIELDS = fieldsOf(SendSms);

/**
 * Checks by the rules of {@link SendSms} without class-validator: 0.14 µs instead of 3.7 µs for one
 * recipient, where a whole send takes 60 µs of CPU time. A spec compares the errors of both.
 * @throws ApiError 422 naming every wrong field, wrong recipients as `to[3]` (the first ten)
 */
export function readSendSms(request: Readonly<Record<string, unknown>>): {
  readonly message: SmsMessage & { readonly to: readonly string[] };
  readonly textField: string;
} {
  const errors: FieldError[] = [];
  checkUnknown(request, FIELDS, errors);
  const { from, to, send_at, delivery_report = 'none' } = request;
  if (!isSenderId(from)) errors.push({ path: 'from', message: SENDER_ID_RULE });
  errors.push(...listErrors('to', to, RECIPIENTS));
  const { text: body = '', field: textField } = readText(request, SMS_TEXT);
  if (body === '') errors.push({ path: textField, message: TEXT_RULE });
  const deliveryReport = delivery_report as DeliveryReportWish;
  if (!DELIVERY_REPORTS.includes(deliveryReport))
    errors.push({ path: 'delivery_report', message: 'must be none or yes' });
  const sendAt = parseTimestamp(send_at);
  if (send_at !== undefined && !sendAt) errors.push({ path: 'send_at', message: TIMESTAMP_RULE });
  if (errors.length > 0) throw invalidFields(errors);
  const message = { from: from as string, to: to as string[], body, deliveryReport, sendAt };
  return { message, textField };
}
