import { readAddress } from '@dundun/messaging';
import type { InboundRecord } from '@dundun/messaging/inbound';
import { Nested, Text, Timestamp, Uuid } from '../http/fields.js';
import { CONTENT_EXAMPLE, contentDataOf, InboundContentData } from '../http/inbound-content.dto.js';

/** A message that a number of the account received. */
export class InboundMessage {
  @Uuid() readonly reference_id!: string;

  @Text({
    nullable: true,
    description: 'The platform’s id; null: received before ids were kept.',
    examples: ['wamid.HBgNMjM0ODAxMjM0NTY3OA'],
  })
  readonly message_id!: string | null;

  @Text({ examples: ['whatsapp'] }) readonly channel!: string;

  @Text({
    nullable: true,
    description: 'The sender’s number or name; null: only the bsuid is known.',
    examples: ['2348012345678'],
  })
  readonly from!: string | null;

  @Text({ nullable: true, examples: [null] }) readonly bsuid!: string | null;

  @Text({ description: 'The account’s number.', examples: ['2340012345678'] })
  readonly to!: string;

  @Text({
    nullable: true,
    description: 'The text, or the caption of media; null: there is none.',
    examples: ['Here it is'],
  })
  readonly text!: string | null;

  @Nested(InboundContentData, { examples: [CONTENT_EXAMPLE] })
  readonly content!: InboundContentData;

  @Text({ nullable: true, description: 'The name that the sender shows on the platform.' })
  readonly profile_name!: string | null;

  @Text({
    nullable: true,
    description: 'The platform’s id of the message that it answers.',
    examples: [null],
  })
  readonly replies_to!: string | null;

  @Timestamp() readonly received_at!: string;
}

/** @param path of the message at this service */
export function inboundMessageOf(record: InboundRecord, path: string): InboundMessage {
  const { id, channel, from, to, text, content } = record;
  const address = readAddress(from);
  const bsuid = address?.kind === 'platform' ? address.value : null;
  return {
    reference_id: id,
    message_id: record.messageId,
    channel,
    from: bsuid === null ? from : null,
    bsuid,
    to,
    text,
    content: contentDataOf(content, path),
    profile_name: record.profileName,
    replies_to: record.repliesTo,
    received_at: record.receivedAt.toISOString(),
  };
}
