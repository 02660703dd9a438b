import type { NewBatch } from '../../store/new-batch.js';
import { type FieldError, MessageValidationError } from '../../message/errors.js';
import type { SmsMessage, TextContent } from '../../message/message.js';
import { smsParts } from '../../message/sms-parts.js';
import type { Clock } from '../../ports/clock.js';
import { milliseconds } from '../../ports/duration.js';
import type { MessagingSettings } from '../../ports/messaging-settings.js';
import { expandRecipients, keepGroups } from '../group-recipients.js';
import { laneName } from '../lane-name.js';
import { checkOptions, checkTime, fingerprintOf } from '../send-checks.js';
import type { SendOptions } from '../send-options.js';

const SENDER = /^(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9 ]{0,9}[A-Za-z0-9])?$/;

/** An SMS as it is stored, checked. */
export interface SmsBatch {
  readonly batch: NewBatch;
  readonly content: TextContent;
}

/**
 * Checks a send and makes a batch of it.
 * @param members of the groups in `to`, where there are any
 * @throws MessageValidationError naming each wrong field
 */
export function smsBatch(
  message: SmsMessage,
  options: SendOptions,
  members: ReadonlyMap<string, readonly string[]> | undefined,
  { sms, dispatch }: MessagingSettings,
  clock: Clock,
): SmsBatch {
  const errors: FieldError[] = [];
  const recipients = recipientsOf(message.to, members, sms, errors);
  if (typeof message.from !== 'string' || !SENDER.test(message.from))
    errors.push({
      path: 'from',
      message: 'must be 1 to 11 letters, digits and inner spaces, with at least one letter',
    });
  const parts = partsOf(message.body, sms.maxParts, errors);
  checkTime('sendAt', message.sendAt, errors);
  const report = message.deliveryReport;
  if (report !== undefined && report !== 'none' && report !== 'yes')
    errors.push({ path: 'deliveryReport', message: "must be 'none' or 'yes'" });
  checkOptions(options, errors);
  if (errors.length > 0) throw new MessageValidationError(errors);
  const { tenant = '', validFor, idempotencyKey } = options;
  const content: TextContent = { kind: 'text', text: message.body };
  const batch: NewBatch = {
    id: clock.id(),
    tenant,
    channel: 'sms',
    lane: laneName(dispatch.lane, { tenant, channel: 'sms' }),
    class: options.class ?? 'normal',
    sender: message.from,
    // As JSON.stringify writes `content`, for a third of what it takes with an object.
    content: `{"kind":"text","text":${JSON.stringify(content.text)}}`,
    deliveryReport: (report ?? sms.deliveryReport) === 'yes',
    parts,
    recipients,
    denied: [],
    createdAt: clock.now(),
    sendAt: message.sendAt?.getTime() ?? null,
    validFor: validFor === undefined ? null : milliseconds('validFor', validFor),
    idempotencyKey: idempotencyKey ?? null,
    fingerprint:
      idempotencyKey === undefined
        ? null
        : fingerprintOf(
            asked(message, options),
            members ? keepGroups(listOf(message.to)).recipients : recipients,
          ),
  };
  return { batch, content };
}

function recipientsOf(
  to: SmsMessage['to'],
  members: ReadonlyMap<string, readonly string[]> | undefined,
  { maxRecipients, upstreamGroups }: MessagingSettings['sms'],
  errors: FieldError[],
): readonly string[] {
  const list = listOf(to);
  if (!Array.isArray(list)) {
    errors.push({ path: 'to', message: 'must be a phone number or an array of them' });
    return [];
  }
  const { recipients, errors: wrong } = upstreamGroups
    ? keepGroups(list)
    : expandRecipients(list, members);
  errors.push(...wrong);
  if (wrong.length === 0 && recipients.length === 0)
    errors.push({ path: 'to', message: 'must name at least one recipient' });
  if (recipients.length > maxRecipients)
    errors.push({ path: 'to', message: `must name at most ${maxRecipients} recipients` });
  return recipients;
}

function listOf(to: SmsMessage['to']): readonly string[] {
  return typeof to === 'string' ? [to] : to;
}

function partsOf(body: unknown, maxParts: number, errors: FieldError[]): number {
  if (typeof body !== 'string' || body.length === 0 || body.includes('\0')) {
    errors.push({ path: 'body', message: 'must be a text of at least one character, without NUL' });
    return 0;
  }
  const { parts, encoding } = smsParts(body);
  if (parts > maxParts)
    errors.push({
      path: 'body',
      message: `takes ${parts} parts in ${encoding}; shorten it to at most ${maxParts}`,
    });
  return parts;
}

function asked(message: SmsMessage, options: SendOptions): unknown[] {
  const { from, body, deliveryReport = null, sendAt } = message;
  return [
    from,
    body,
    deliveryReport,
    sendAt?.getTime() ?? null,
    options.class ?? null,
    options.validFor ?? null,
  ];
}
