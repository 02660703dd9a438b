import type {
  BatchStatus,
  BatchView,
  CallEstimate,
  CallView,
  ListedCall,
  StatusCounts,
} from '@dundun/messaging';
import type { VoiceContent } from '@dundun/messaging/ports';
import { type Cost, costFields } from '../../billing/charging/message-costs.js';
import { isGroupId } from '@dundun/messaging/values';
import {
  ApiExtraModels,
  ApiSchema,
  type ApiSchemaOptions,
  IntersectionType,
} from '@nestjs/swagger';
import {
  Choice,
  Field,
  GROUP_ID,
  List,
  Nested,
  numberRemedy,
  PHONE_NUMBER,
  PhoneNumber,
  type Plain,
  ChargedPrice,
  Price,
  PriceCurrency,
  RECIPIENT,
  RequiresOneOf,
  SentNumber,
  Text,
  Timestamp,
  Uuid,
  WholeNumber,
} from '../../http/fields.js';
import { PageOf, PageQueryOf } from '../../http/page.dto.js';
import { MetadataOfSend, TagsOfSend } from '../../http/label-fields.js';
import { BodyExamples } from '../../http/request.decorators.js';
import { CountsByStatus, SendAnswer, StatusOfBatch } from '../../http/batch.dto.js';
import { CallFactsFields, callFactsOf } from './call-facts.js';

const CALL_STATUSES = [
  'queued',
  'sending',
  'unknown',
  'initiated',
  'ringing',
  'expired',
  'no_answer',
  'busy',
  'failed',
  'rejected',
  'answered',
  'completed',
  'cancelled',
] as const;

const CATEGORIES = ['transactional', 'marketing'] as const;

const SECOND = 1_000;

/** Content of a call; the library allows exactly one of `text`, `audio_url` and `code`. */
class CallSpeechFields {
  @Text({ optional: true, minLength: 1, maxLength: 3_000, examples: ['Your parcel is here.'] })
  readonly text?: string;

  @Text({ optional: true, description: 'Of the text.', examples: ['en-GB'] })
  readonly language?: string;

  @Text({ optional: true, description: 'The carrier’s name of a voice.', examples: ['alice'] })
  readonly voice?: string;

  @Text({
    optional: true,
    maxLength: 2_048,
    description: 'The carrier fetches it, never the gateway.',
    examples: ['https://shop.example/welcome.mp3'],
  })
  readonly audio_url?: string;

  @Text({
    optional: true,
    pattern: '^\\d{4,8}$',
    message: 'must be 4 to 8 digits',
    description: 'Spoken one by one.',
    examples: ['4821'],
  })
  readonly code?: string;

  @WholeNumber({ optional: true, minimum: 1, maximum: 3, default: 1 })
  readonly repeat: number = 1;

  @WholeNumber({
    optional: true,
    minimum: 1,
    maximum: 600,
    default: 600,
    description: 'Longest talk in seconds.',
  })
  readonly max_duration: number = 600;
}

class RedialFields {
  @WholeNumber({ minimum: 0, maximum: 3 }) readonly times!: number;

  @WholeNumber({
    optional: true,
    minimum: 1,
    maximum: 86_400,
    default: 60,
    description: 'Seconds before the number is dialled again.',
  })
  readonly after?: number;
}

class CollectFields {
  @WholeNumber({ minimum: 1, maximum: 32 }) readonly max_digits!: number;

  @WholeNumber({
    optional: true,
    minimum: 1,
    maximum: 60,
    default: 5,
    description: 'Seconds to wait for the next digit.',
  })
  readonly timeout?: number;
}

@RequiresOneOf('text', 'audio_url', 'code')
@BodyExamples({
  'a text': { from: '2348000000001', to: ['2348012345678'], text: 'Your parcel is here.' },
  'a code, said twice': {
    from: '2348000000001',
    to: ['2348012345678'],
    code: '4821',
    repeat: 2,
    redial: { times: 1, after: 60 },
  },
  'audio, with an answer': {
    from: '2348000000001',
    to: ['2348012345678'],
    audio_url: 'https://shop.example/welcome.mp3',
    collect: { max_digits: 1, timeout: 5 },
    delivery_report: 'yes',
  },
})
export class SendCall extends CallSpeechFields {
  @PhoneNumber({
    description: 'Caller id registered for the account.',
    examples: ['2348000000001'],
  })
  readonly from!: string;

  /** The library limits their number. */
  @List({
    items: { anyOf: [PHONE_NUMBER, GROUP_ID] },
    minItems: 1,
    description: 'Phone numbers and group ids, at most 1,000 numbers together.',
    entry: (entry) => (isGroupId(entry) ? undefined : numberRemedy(entry)),
    message: 'must be a list of at least one phone number',
  })
  readonly to!: readonly string[];

  @Timestamp({ optional: true, description: 'No number is dialled before; a past time: at once.' })
  readonly send_at?: string;

  @WholeNumber({
    optional: true,
    minimum: 15,
    maximum: 60,
    default: 30,
    description: 'Seconds for which the phone rings.',
  })
  readonly ring_timeout: number = 30;

  @Nested(RedialFields, {
    optional: true,
    description: 'Only after a busy line or no answer, as attempts of the same call.',
  })
  readonly redial?: RedialFields;

  @Choice(['play', 'hangup'], {
    optional: true,
    default: 'play',
    description: 'What to do where a machine answers.',
  })
  readonly machine: VoiceContent['machine'] = 'play';

  @Nested(CollectFields, { optional: true, description: 'Digits that the person presses.' })
  readonly collect?: CollectFields;

  @Choice(CATEGORIES, {
    optional: true,
    default: 'transactional',
    description: '`marketing` keeps the quiet hours and the do-not-call list.',
  })
  readonly category: VoiceContent['category'] = 'transactional';

  @Choice(['none', 'yes'], { optional: true, default: 'none', examples: ['yes'] })
  readonly delivery_report: 'none' | 'yes' = 'none';

  @TagsOfSend() readonly tags?: readonly string[];
  @MetadataOfSend() readonly metadata?: Readonly<Record<string, string>>;
}

export class SendCallAnswer extends SendAnswer {}

@RequiresOneOf('text', 'audio_url', 'code')
@BodyExamples({ 'a code': { code: '4821', repeat: 2 } })
export class EstimateCall extends CallSpeechFields {
  @PhoneNumber({ optional: true, description: 'Where the price depends on the country.' })
  readonly to?: string;
}

export class CallEstimateAnswer {
  @WholeNumber({
    minimum: 1,
    nullable: true,
    description: 'Estimated seconds of the talk; null: the length of the audio is not known.',
    examples: [8],
  })
  readonly duration!: number | null;

  @WholeNumber({
    minimum: 0,
    description: 'Seconds that are billed; of audio, the first block.',
    examples: [60],
  })
  readonly billed_seconds!: number;

  @Price() readonly cost!: number | null;
  @Text({ nullable: true, examples: ['USD'] }) readonly currency!: string | null;
}

export function callEstimateOf(estimate: CallEstimate): Plain<CallEstimateAnswer> {
  const { duration, billedSeconds, currency } = estimate;
  const cost = estimate.cost === null ? null : Number(estimate.cost);
  return { duration, billed_seconds: billedSeconds, cost, currency };
}

export class CallsQuery extends PageQueryOf(1_000, 100) {
  @Uuid({ optional: true, description: 'Only calls of this send.' })
  readonly reference_id?: string;

  @SentNumber() readonly to?: string;
  @Choice(CALL_STATUSES, { optional: true }) readonly status?: string;
  @Timestamp({ optional: true, description: 'Accepted at or after this time.' })
  readonly since?: string;
  @Timestamp({ optional: true, description: 'Accepted before this time.' })
  readonly until?: string;
}

class CallSummary {
  @Text({ examples: ['01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0'] }) readonly message_id!: string;
  @Uuid() readonly reference_id!: string;
  @Field(RECIPIENT) readonly to!: string;

  @Text({ description: 'Caller id.', examples: ['2348000000001'] }) readonly from!: string;
  @Choice(CALL_STATUSES, { examples: ['completed'] }) readonly status!: string;

  @Text({
    nullable: true,
    description: 'While a number waits to be dialled again: why.',
    examples: [null],
  })
  readonly error_code!: string | null;

  @Timestamp() readonly created_at!: string;
  @Timestamp({ nullable: true, examples: [null] }) readonly send_at!: string | null;
}

/** One number's call. */
export class Call extends IntersectionType(CallSummary, CallFactsFields) {}

export class CallPage extends PageOf(Call) {}

class CallContent {
  @Text({ nullable: true }) readonly text!: string | null;
  @Text({ nullable: true }) readonly language!: string | null;
  @Text({ nullable: true }) readonly voice!: string | null;
  @Text({ nullable: true }) readonly audio_url!: string | null;
  @Text({ nullable: true, examples: ['4821'] }) readonly code!: string | null;
  @WholeNumber({ minimum: 1 }) readonly repeat!: number;
  @WholeNumber({ minimum: 15 }) readonly ring_timeout!: number;
  @WholeNumber({ minimum: 1 }) readonly max_duration!: number;

  @Field({ type: 'object', nullable: true, additionalProperties: { type: 'integer' } })
  readonly redial!: RedialFields | null;

  @Choice(['play', 'hangup']) readonly machine!: VoiceContent['machine'];

  @Field({ type: 'object', nullable: true, additionalProperties: { type: 'integer' } })
  readonly collect!: CollectFields | null;

  @Choice(CATEGORIES) readonly category!: VoiceContent['category'];
}

class RetainedCall {
  @Field({
    type: CallContent,
    optional: true,
    description: 'As accepted; left out after retention erased it.',
  })
  readonly content?: CallContent;
}

export class CallRecord extends IntersectionType(Call, RetainedCall) {}

/** A send to several numbers. */
export class CallBatch extends RetainedCall {
  @Uuid() readonly reference_id!: string;
  @Text({ description: 'Caller id.', examples: ['2348000000001'] }) readonly from!: string;
  @StatusOfBatch() readonly status!: BatchStatus;
  @Timestamp() readonly created_at!: string;
  @Timestamp({ nullable: true, examples: [null] }) readonly send_at!: string | null;
  @WholeNumber({ minimum: 1 }) readonly recipients_processed!: number;

  @CountsByStatus('Calls', CALL_STATUSES, { completed: 2 })
  readonly counts!: StatusCounts;

  @ChargedPrice() readonly cost!: number | null;
  @PriceCurrency() readonly currency!: string | null;
}

/** By a `message_id`, or the `reference_id` of one call, the call; else the whole send. */
@ApiExtraModels(CallRecord, CallBatch)
@ApiSchema({
  oneOf: [CallRecord, CallBatch].map(({ name }) => ({ $ref: `#/components/schemas/${name}` })),
} as ApiSchemaOptions)
export class CallOrBatch {}

/** @param cost `undefined`: the account is not charged; the carrier's cost or that of the card is shown */
export function callOf(call: ListedCall | CallView, cost?: Cost): Plain<Call> {
  return {
    message_id: call.id,
    reference_id: call.batchId,
    to: call.recipient,
    from: call.sender,
    status: call.status,
    error_code: call.errorCode,
    created_at: call.acceptedAt.toISOString(),
    send_at: call.sendAt?.toISOString() ?? null,
    ...callFactsOf(call),
    ...cost,
  };
}

export function callRecordOf(call: CallView, cost?: Cost): Plain<CallRecord> {
  return { ...callOf(call, cost), ...retainedOf(call.content as VoiceContent | null) };
}

export function callBatchOf(batch: BatchView, cost?: Cost): Plain<CallBatch> {
  return {
    reference_id: batch.id,
    from: batch.sender,
    status: batch.status,
    created_at: batch.createdAt.toISOString(),
    send_at: batch.sendAt?.toISOString() ?? null,
    recipients_processed: batch.recipients,
    counts: batch.counts,
    ...costFields(cost),
    ...retainedOf(batch.content as VoiceContent | null),
  };
}

function retainedOf(content: VoiceContent | null): Plain<RetainedCall> {
  if (!content) return {};
  const { redial, collect } = content;
  return {
    content: {
      text: content.text ?? null,
      language: content.language ?? null,
      voice: content.voice ?? null,
      audio_url: content.audioUrl ?? null,
      code: content.code ?? null,
      repeat: content.repeat,
      ring_timeout: content.ringTimeout / SECOND,
      max_duration: content.maxDuration / SECOND,
      redial: redial ? { times: redial.times, after: redial.after / SECOND } : null,
      machine: content.machine,
      collect: collect
        ? { max_digits: collect.maxDigits, timeout: collect.timeout / SECOND }
        : null,
      category: content.category,
    },
  };
}
