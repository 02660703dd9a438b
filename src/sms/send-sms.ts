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
import type { FieldError } from '@dundun/messaging';

/** A checked send request (interface section 2.1). */
export interface CheckedSendSms {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
  /** The name of the field in which the caller sent the text. */
  readonly textField: (typeof SMS_TEXT)[number];
  readonly deliveryReport: DeliveryReportWish;
  readonly sendAt: Date | undefined;
}

const FIELDS = fieldsOf(SendSms);

/**
 * Checks the body of `POST /ng/v1/sendsms` by the rules of {@link SendSms}, without
 * class-validator: 0.14 µs instead of 3.7 µs for one recipient. A whole send takes 60 µs of CPU
 * time. Both take 5 ms for 100,000 recipients, because a list is one rule. A spec compares the
 * errors of both.
 *
 * @throws ApiError 422 naming every wrong field, wrong recipients as `to[3]` (the first ten)
 */
export function readSendSms(request: Readonly<Record<string, unknown>>): CheckedSendSms {
  const errors: FieldError[] = [];
  checkUnknown(request, FIELDS, errors);
  const { from, to, send_at: sendAt, delivery_report: deliveryReport = 'none' } = request;
  if (!isSenderId(from)) errors.push({ path: 'from', message: SENDER_ID_RULE });
  errors.push(...listErrors('to', to, RECIPIENTS));
  const { text = '', field: textField } = readText(request, SMS_TEXT);
  if (text === '') errors.push({ path: textField, message: TEXT_RULE });
  if (!isDeliveryReport(deliveryReport))
    errors.push({ path: 'delivery_report', message: 'must be none or yes' });
  const time = parseTimestamp(sendAt);
  if (sendAt !== undefined && !time) errors.push({ path: 'send_at', message: TIMESTAMP_RULE });
  if (errors.length > 0) throw invalidFields(errors);
  return {
    from: from as string,
    to: to as string[],
    text,
    textField,
    deliveryReport: deliveryReport as DeliveryReportWish,
    sendAt: time,
  };
}

function isDeliveryReport(value: unknown): value is DeliveryReportWish {
  return (DELIVERY_REPORTS as readonly unknown[]).includes(value);
}
