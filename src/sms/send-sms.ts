import { type FieldError, isGroupId } from '@dundun/messaging';
import { isSenderId, SENDER_ID_RULE } from '../accounts/sender-id.js';
import { invalidFields } from '../http/api-error.js';
import { checkNumbers, checkUnknown } from '../http/request-fields.js';
import { readText } from '../http/text-field.js';
import { parseTimestamp, TIMESTAMP_RULE } from '../http/rfc3339.js';

/** A send request (interface section 2.1), checked. */
export interface SendSms {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
  /** The name under which the caller sent the text. */
  readonly textField: 'body' | 'content';
  readonly deliveryReport: 'none' | 'yes';
  readonly sendAt: Date | undefined;
}

/** Names of the text: the schema's and the samples'. */
export const SMS_TEXT = ['body', 'content'] as const;

const FIELDS = new Set(['from', 'to', 'body', 'content', 'delivery_report', 'send_at']);

/**
 * Checks a send request by hand, in one pass over the recipients: this is the hottest code of the
 * gateway, and a list of 100,000 must not become 100,000 validation contexts.
 *
 * @throws ApiError 422 naming every wrong field, bad recipients as `to[3]` (the first ten)
 */
export function readSendSms(request: Readonly<Record<string, unknown>>): SendSms {
  const errors: FieldError[] = [];
  checkUnknown(request, FIELDS, errors);
  const { from, to, send_at: sendAt, delivery_report: deliveryReport = 'none' } = request;
  if (!isSenderId(from)) errors.push({ path: 'from', message: SENDER_ID_RULE });
  checkNumbers('to', to, errors, isGroupId);
  const { text, field: textField } = readText(request, SMS_TEXT, errors);
  if (deliveryReport !== 'none' && deliveryReport !== 'yes')
    errors.push({ path: 'delivery_report', message: 'must be none or yes' });
  const time = parseTimestamp(sendAt);
  if (sendAt !== undefined && !time) errors.push({ path: 'send_at', message: TIMESTAMP_RULE });
  if (errors.length > 0) throw invalidFields(errors);
  return {
    from: from as string,
    to: to as string[],
    text,
    textField,
    deliveryReport: deliveryReport as 'none' | 'yes',
    sendAt: time,
  };
}
