import type { CallFacts } from '@dundun/messaging';
import { type Plain, Price, Text, Timestamp, WholeNumber } from '../../http/fields.js';

/** Facts of a call, in the interface and in callbacks. */
export class CallFactsFields {
  @Timestamp({ nullable: true, description: 'null: not answered.' })
  readonly answered_at!: string | null;

  @Timestamp({ nullable: true, description: 'null: not over, or not known.' })
  readonly ended_at!: string | null;

  @WholeNumber({
    minimum: 0,
    nullable: true,
    description: 'Seconds from the answer to the end; 0: not answered.',
    examples: [7],
  })
  readonly duration!: number | null;

  @WholeNumber({
    minimum: 0,
    nullable: true,
    description: 'Seconds that are billed, in started blocks.',
    examples: [60],
  })
  readonly billed_seconds!: number | null;

  @Price({
    description:
      'What the account pays, or may still pay; where it is not charged, the cost by the carrier or the rate card. null: not known.',
  })
  readonly cost!: number | null;
  @Text({ nullable: true, examples: ['NGN'] }) readonly currency!: string | null;

  @Text({
    nullable: true,
    description: 'The carrier’s word for the end.',
    examples: ['normal_clearing'],
  })
  readonly hangup_cause!: string | null;

  @Text({
    nullable: true,
    description: '`human` or `machine`, where the carrier tells.',
    examples: ['human'],
  })
  readonly answered_by!: string | null;

  @Text({
    nullable: true,
    description: 'What the person pressed; kept as long as the content.',
    examples: ['1'],
  })
  readonly digits!: string | null;

  @WholeNumber({ minimum: 0, description: 'How often the number was dialled.', examples: [1] })
  readonly attempts!: number;
}

export function callFactsOf(facts: CallFacts): Plain<CallFactsFields> {
  const { answeredAt, endedAt, duration, billedSeconds, cost, currency } = facts;
  return {
    answered_at: answeredAt?.toISOString() ?? null,
    ended_at: endedAt?.toISOString() ?? null,
    duration,
    billed_seconds: billedSeconds,
    cost: cost === null ? null : Number(cost),
    currency,
    hangup_cause: facts.hangupCause,
    answered_by: facts.answeredBy,
    digits: facts.digits,
    attempts: facts.attempts,
  };
}
