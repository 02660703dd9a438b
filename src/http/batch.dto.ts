import type { BatchStatus, Receipt } from '@dundun/messaging';
import { Choice, Field, type Plain, Text, Timestamp, Uuid, WholeNumber } from './fields.js';

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

const STATUSES: readonly BatchStatus[] = [
  'scheduled',
  'queued',
  'sending',
  'completed',
  'cancelled',
];

export function StatusOfBatch(): PropertyDecorator {
  return Choice(STATUSES, { examples: ['completed'] });
}

/** @param of the counted objects, such as `Calls` */
export function CountsByStatus(
  of: string,
  statuses: readonly string[],
  example: Readonly<Record<string, number>>,
  where: 'read' | 'listed' = 'read',
): PropertyDecorator {
  const description = `${of} by status, zeros left out.`;
  return Field({
    type: 'object',
    ...(where === 'read'
      ? { description }
      : {
          nullable: true,
          description: `${description} null: a batch of more than 1,000 recipients that is still at work; read by its id it has them.`,
        }),
    propertyNames: { enum: [...statuses] },
    additionalProperties: { type: 'integer', minimum: 1 },
    examples: [example],
  });
}
