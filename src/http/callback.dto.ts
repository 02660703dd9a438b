import { ApiExtraModels } from '@nestjs/swagger';
import { Field, Flag, Price, Text, Timestamp, Uuid, WholeNumber } from './fields.js';
import { CONTENT_EXAMPLE, InboundContentData } from './inbound-content.dto.js';
import { Metadata, Tags } from './label-fields.js';

const MESSAGE_ID = '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0';
const TO = '2348012345678';

/** What every channel tells of a status. */
export class StatusEventData {
  @Text({
    description: 'The batch; on WhatsApp the message’s id before the platform’s was known.',
    examples: ['01a1f91d-94f5-779e-8c4f-a4ea0dc430dd'],
  })
  readonly reference_id!: string;

  @Text({
    description: 'The message; on WhatsApp the platform’s id, once it is known.',
    examples: [MESSAGE_ID],
  })
  readonly message_id!: string;

  @Text({ description: 'The recipient; empty once it was erased.', examples: [TO] })
  readonly to!: string;
  @Text({ description: 'Sender ID or number.', examples: ['ACME'] }) readonly from!: string;
  @Text({ examples: ['delivered'] }) readonly status!: string;
  @Text({ nullable: true }) readonly error_code!: string | null;

  @Timestamp({ description: 'Time of the provider’s report, else of its arrival.' })
  readonly smsc_timestamp!: string;

  @WholeNumber({
    minimum: 1,
    description: 'Which change of the message’s status, or event of it, this is: 1, then 2, …',
    examples: [2],
  })
  readonly sequence!: number;

  @Tags({ optional: true, description: 'Tags of the send, where it has tags or metadata.' })
  readonly tags?: readonly string[];

  @Metadata({ optional: true, description: 'Metadata of the send, where it has tags or metadata.' })
  readonly metadata?: Readonly<Record<string, string>>;

  @Price({
    optional: true,
    description: 'What the message costs, or may still cost, where the account is charged.',
    examples: [4.5],
  })
  readonly cost?: number | null;

  @Text({
    optional: true,
    nullable: true,
    description: 'Of `cost`.',
    examples: ['NGN'],
  })
  readonly currency?: string | null;
}

/** In a callback, which stays below 20 kB. */
class ReceivedContentData extends InboundContentData {
  @Flag({
    optional: true,
    examples: [true],
    description: 'Only where it is true: the rest is too long, and the message read back has it.',
  })
  readonly truncated?: boolean;
}

@ApiExtraModels(ReceivedContentData)
export class ReceivedEventData {
  @Uuid({
    description: 'Reads an SMS or WhatsApp message back, as long as its text is kept.',
  })
  readonly reference_id!: string;

  @Text({ description: 'The platform’s id.', examples: [MESSAGE_ID] }) readonly message_id!: string;

  @Text({
    nullable: true,
    description:
      'The sender’s number or address; null: only the bsuid is known, or the person was erased.',
    examples: [TO],
  })
  readonly from!: string | null;

  @Text({ nullable: true }) readonly bsuid!: string | null;

  @Text({ description: 'The account’s number or address.', examples: ['2340012345678'] })
  readonly to!: string;

  @Text({
    nullable: true,
    description: 'null: the message is not a text, or the person was erased.',
    examples: ['Thank you'],
  })
  readonly text!: string | null;

  @Field({
    anyOf: [{ $ref: `#/components/schemas/${ReceivedContentData.name}` }, { type: 'null' }],
    description: 'null: the person was erased.',
    examples: [CONTENT_EXAMPLE],
  })
  readonly content!: ReceivedContentData | null;

  @Text({ nullable: true, description: 'The name that the sender shows on the platform.' })
  readonly profile_name!: string | null;

  @Text({ nullable: true, description: 'The platform’s id of the message that it answers.' })
  readonly replies_to!: string | null;

  @Timestamp() readonly received_at!: string;

  @Flag({
    optional: true,
    examples: [false],
    description:
      'Only where it is false: WhatsApp does not count the message as one of the person to this number, such as a message in a group, so that it opens no window.',
  })
  readonly opens_window?: boolean;
}

/** The envelope of every callback. */
export class CallbackEvent {
  @Text() readonly type!: string;
  @Timestamp({ description: 'When the gateway made this event.' }) readonly timestamp!: string;
}

export class StatusEvent extends CallbackEvent {
  @Field({ type: StatusEventData }) readonly data!: StatusEventData;
}

export class ReceivedEvent extends CallbackEvent {
  @Field({ type: ReceivedEventData }) readonly data!: ReceivedEventData;
}
