import type { Receipt } from '@dundun/messaging';
import { Field, type Plain, Text, Timestamp, Uuid, WholeNumber } from './fields.js';

/** Response to a send (interface section 2.2). */
export class SendAnswer {
  @Field({ type: 'integer', const: 200 }) readonly status_code!: 200;
  @Text({ examples: ['Your request is being processed'] }) readonly message!: string;
  @Uuid() readonly reference_id!: string;
  @WholeNumber({ minimum: 1 }) readonly recipients_processed!: number;
  @Timestamp() readonly created_at!: string;
}

export function sendAnswerOf({ id, recipients, createdAt }: Receipt): Plain<SendAnswer> {
  return {
    status_code: 200,
    message: 'Your request is being processed',
    reference_id: id,
    recipients_processed: recipients,
    created_at: createdAt.toISOString(),
  };
}
