import {
  type BatchStatus,
  type ListedBatch,
  MESSAGE_STATUSES,
  type MessageStatus,
  type MessageView,
  REPORTED_STATUSES,
  type ReportedStatus,
  type ReportView,
  type SmsEstimate as LibraryEstimate,
  type StatusCounts,
} from '@dundun/messaging';
import { isGroupId } from '@dundun/messaging/values';
import { Transform } from 'class-transformer';
import { type Cost, costFields } from '../../billing/charging/message-costs.js';
import { SENDER_ID, SENDER_ID_RULE } from './senders.js';
import {
  Choice,
  Field,
  type FieldOptions,
  GROUP_ID,
  List,
  numberRemedy,
  PHONE_NUMBER,
  PhoneNumber,
  type Plain,
  ChargedPrice,
  Price,
  PriceCurrency,
  RECIPIENT,
  RequiresOneOf,
  SameText,
  SentNumber,
  Text,
  TextUnder,
  Timestamp,
  Uuid,
  WholeNumber,
} from '../../http/fields.js';
import { Metadata, MetadataOfSend, Tags, TagsOfSend } from '../../http/label-fields.js';
import { PageOf, PageQueryOf } from '../../http/page.dto.js';
import { BodyExamples } from '../../http/request.decorators.js';
import { CountsByStatus, SendAnswer, StatusOfBatch } from '../../http/batch.dto.js';

/** Field names for the text: from the schema of the interface, and from its samples. */
export const SMS_TEXT = ['body', 'content'] as const;

type DeliveryReportWish = 'none' | 'yes';

function SenderId(): PropertyDecorator {
  return Text({
    pattern: SENDER_ID.source,
    message: SENDER_ID_RULE,
    description: 'Sender ID registered for the account.',
    examples: ['ACME'],
  });
}

function DeliveryReportField(options: FieldOptions = {}): PropertyDecorator {
  return Choice(['none', 'yes'], { default: 'none', examples: ['yes'], ...options });
}

@RequiresOneOf(...SMS_TEXT)
@BodyExamples({
  'at once': { from: 'ACME', to: ['2348012345678'], body: 'Hello', delivery_report: 'yes' },
  later: {
    from: 'ACME',
    to: ['2348012345678', '2348012345679'],
    content: 'Hello',
    send_at: '2030-01-31T09:00:00+01:00',
  },
  'to a group': {
    from: 'ACME',
    to: ['grp_4yGq0cXo2vGdXk1w8bTzRs', '2348012345679'],
    body: 'Hello',
  },
})
export class SendSms {
  @SenderId() readonly from!: string;

  /** The library limits their number. */
  @List({
    items: { anyOf: [PHONE_NUMBER, GROUP_ID] },
    minItems: 1,
    description:
      'Phone numbers and group ids. Groups are expanded when the batch is accepted. A duplicate is sent once. One wrong entry rejects the batch.',
    entry: (entry) => (isGroupId(entry) ? undefined : numberRemedy(entry)),
    message: 'must be a list of at least one phone number',
  })
  readonly to!: readonly string[];

  @TextUnder(SMS_TEXT, { description: 'The text.' }) readonly body?: string;
  @SameText() readonly content?: string;
  @DeliveryReportField({ optional: true }) readonly delivery_report: DeliveryReportWish = 'none';

  @Timestamp({
    optional: true,
    description: 'The batch is not sent before; a past time means at once.',
  })
  readonly send_at?: string;

  @TagsOfSend() readonly tags?: readonly string[];
  @MetadataOfSend() readonly metadata?: Readonly<Record<string, string>>;
}

export class SendSmsAnswer extends SendAnswer {}

@BodyExamples({ later: { send_at: '2030-01-31T09:00:00+01:00' } })
export class RescheduleSms {
  @Timestamp() readonly send_at!: string;
}

export class BatchesQuery extends PageQueryOf(100, 20) {}

export class SmsBatchSummary {
  @Uuid() readonly reference_id!: string;
  @SenderId() readonly from!: string;

  @Text({ nullable: true, description: 'null after retention erased it.', examples: ['Hello'] })
  readonly body!: string | null;

  @DeliveryReportField() readonly delivery_report!: DeliveryReportWish;
  @StatusOfBatch() readonly status!: BatchStatus;
  @Timestamp() readonly created_at!: string;
  @Timestamp({ nullable: true, examples: [null] }) readonly send_at!: string | null;
  @WholeNumber({ minimum: 1 }) readonly recipients_processed!: number;

  @WholeNumber({ minimum: 1, description: 'SMS parts that the text takes.' })
  readonly parts!: number;

  @Price({
    description:
      'What its messages cost, or may still cost, without those that cost nothing; null: the account is not charged.',
  })
  readonly cost!: number | null;
  @Text({ nullable: true }) readonly currency!: string | null;

  @CountsByStatus('Messages', MESSAGE_STATUSES, { delivered: 1 }, 'listed')
  readonly counts!: StatusCounts | null;

  @Timestamp({
    nullable: true,
    description:
      'Earliest start of what is left of a `queued` batch whose messages a policy or a failure has deferred.',
    examples: [null],
  })
  readonly deferred_until!: string | null;

  @Tags() readonly tags!: readonly string[];
  @Metadata() readonly metadata!: Readonly<Record<string, string>>;
}

export class SmsBatchPage extends PageOf(SmsBatchSummary) {}

/** A batch with its first 1,000 unique recipients. */
export class SmsBatch extends SmsBatchSummary {
  @CountsByStatus('Messages', MESSAGE_STATUSES, { delivered: 1 })
  declare readonly counts: StatusCounts;

  @Text({
    nullable: true,
    description:
      'Why the batch is deferred: the code of the policy, such as `quiet_hours`, or of the failure; null: it is not, or no carrier takes its messages now.',
    examples: [null],
  })
  readonly reason!: string | null;

  @Field({ type: 'array', items: RECIPIENT, maxItems: 1_000 }) readonly to!: readonly string[];

  @Field({
    type: 'boolean',
    const: true,
    optional: true,
    description: 'The batch has more than 1,000 recipients; `…/recipients` has them all.',
  })
  readonly recipients_truncated?: true;
}

class SmsRecipient {
  @Field(RECIPIENT) readonly to!: string;

  @Choice(MESSAGE_STATUSES, {
    examples: ['delivered'],
    description: 'Status of the message; `queued` before it has started.',
  })
  readonly status!: MessageStatus;

  @Text({
    nullable: true,
    description: 'Error of its last failure, or the code of the policy that defers it.',
    examples: [null],
  })
  readonly error_code!: string | null;
}

export class RecipientPage extends PageOf(SmsRecipient) {}

export function recipientOf({ recipient, status, errorCode }: MessageView): Plain<SmsRecipient> {
  return { to: recipient, status: status as MessageStatus, error_code: errorCode };
}

/** @param cost `undefined`: the batch is free */
export function batchSummaryOf(batch: ListedBatch, cost: Cost | undefined): Plain<SmsBatchSummary> {
  return {
    reference_id: batch.id,
    from: batch.sender,
    body: batch.content?.kind === 'text' ? batch.content.text : null,
    delivery_report: batch.deliveryReport ? 'yes' : 'none',
    status: batch.status,
    created_at: batch.createdAt.toISOString(),
    send_at: batch.sendAt?.toISOString() ?? null,
    recipients_processed: batch.recipients,
    parts: batch.parts,
    ...costFields(cost),
    counts: batch.counts,
    deferred_until: batch.deferredUntil?.toISOString() ?? null,
    tags: batch.tags,
    metadata: batch.metadata,
  };
}

@RequiresOneOf(...SMS_TEXT)
@BodyExamples({
  'an em dash': { body: 'Hello — world' },
  'to a number': { body: 'Hello', to: '2348012345678' },
})
export class EstimateSms {
  @TextUnder(SMS_TEXT) readonly body?: string;
  @SameText() readonly content?: string;

  @PhoneNumber({ optional: true, description: 'Where the price depends on the country.' })
  readonly to?: string;
}

export class SmsEstimate {
  @Choice(['GSM-7', 'UCS-2'], { examples: ['UCS-2'] }) readonly encoding!: 'GSM-7' | 'UCS-2';
  @WholeNumber({ minimum: 1 }) readonly parts!: number;

  @WholeNumber({
    minimum: 1,
    description: 'Septets in GSM-7, 16-bit units in UCS-2.',
    examples: [13],
  })
  readonly units!: number;

  @Field({
    type: 'array',
    items: { type: 'string' },
    description: 'The characters that force UCS-2, each once, the first ten.',
    examples: [['—']],
  })
  readonly ucs2_characters!: readonly string[];

  @Price() readonly cost!: number | null;
  @Text({ nullable: true }) readonly currency!: string | null;
}

export function smsEstimateOf(estimate: LibraryEstimate): Plain<SmsEstimate> {
  const { encoding, parts, units, ucs2Characters: ucs2_characters, currency } = estimate;
  const cost = estimate.cost === null ? null : Number(estimate.cost);
  return { encoding, parts, units, ucs2_characters, cost, currency };
}

export class ReportsQuery extends PageQueryOf(1_000, 100) {
  @Transform(({ value }: { value: unknown }) => [value].flat())
  @List({
    optional: true,
    items: { type: 'string' },
    maxItems: 100,
    entry: (id) => (typeof id === 'string' ? undefined : 'must be a reference id'),
    message: 'must be at most 100 reference ids',
  })
  readonly reference_id?: string[];

  @Text({
    optional: true,
    pattern: '^[\\x21-\\x7e]{1,255}$',
    message: 'must be the Idempotency-Key a batch was sent with',
  })
  readonly idempotency_key?: string;

  @SentNumber() readonly to?: string;
  @Choice(REPORTED_STATUSES, { optional: true }) readonly status?: ReportedStatus;

  @Timestamp({ optional: true, description: 'Received at or after this time.' })
  readonly since?: string;
}

export class DeliveryReport {
  @Uuid() readonly reference_id!: string;

  @Text({
    nullable: true,
    description: 'null: the carrier reported a recipient that the batch does not name.',
    examples: ['01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0'],
  })
  readonly message_id!: string | null;

  @Field(RECIPIENT) readonly to!: string;
  @SenderId() readonly from!: string;

  @Choice(REPORTED_STATUSES, {
    nullable: true,
    examples: ['delivered'],
    description: 'null: an unknown status of the carrier; it changed nothing.',
  })
  readonly status!: ReportView['status'];

  @Text({ nullable: true }) readonly error_code!: string | null;
  @Timestamp({ description: 'When the SMSC reported it.' }) readonly smsc_timestamp!: string;

  @WholeNumber({
    minimum: 1,
    nullable: true,
    description: 'Which change of the message’s status this was; null: it changed nothing.',
    examples: [2],
  })
  readonly sequence!: number | null;

  @ChargedPrice() readonly cost!: number | null;
  @PriceCurrency() readonly currency!: string | null;
  @Timestamp({ description: 'When the gateway received it.' }) readonly received_at!: string;
}

export class DeliveryReportPage extends PageOf(DeliveryReport) {}

export function deliveryReportOf(report: ReportView, cost: Cost | undefined): DeliveryReport {
  return {
    reference_id: report.batchId,
    message_id: report.messageId,
    to: report.recipient,
    from: report.sender,
    status: report.status,
    error_code: report.errorCode,
    smsc_timestamp: report.providerTime.toISOString(),
    sequence: report.sequence,
    ...costFields(cost),
    received_at: report.receivedAt.toISOString(),
  };
}
