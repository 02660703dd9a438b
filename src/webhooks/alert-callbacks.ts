import type { OtherCallback } from '../channel.js';
import { CallbackEvent } from '../http/callback.dto.js';
import { Choice, Field, Text, Timestamp, Uuid } from '../http/fields.js';

class AlertWindow {
  @Timestamp() readonly since!: string;
  @Timestamp() readonly until!: string;
}

class AlertEventData {
  @Uuid() readonly alert_id!: string;

  @Text({
    description:
      'Such as `webhook_failing`, `balance_low`, `domain_expiring`, `lane_waiting` or `abuse`.',
    examples: ['lane_waiting'],
  })
  readonly kind!: string;

  @Choice(['raised', 'resolved']) readonly state!: string;
  @Text({ examples: ['Messages wait'] }) readonly title!: string;
  @Text({ examples: ['acc_4yGq0cXo2vGdXk1w8bTzRs'] }) readonly account_id!: string;
  @Text({ description: 'What it is about.', examples: ['sms'] }) readonly subject!: string;

  @Text({
    description: 'What was seen, in one sentence.',
    examples: ['The oldest due message on sms has waited for 16 min.'],
  })
  readonly detail!: string;

  @Field({
    type: 'object',
    additionalProperties: { type: ['number', 'string', 'null'] },
    description: 'Numbers and names that it was raised by.',
    examples: [{ waited_seconds: 960 }],
  })
  readonly figures!: Readonly<Record<string, number | string | null>>;

  @Field({
    type: AlertWindow,
    nullable: true,
    description: 'The time that the figures are of; null: a state, not a time.',
  })
  readonly window!: AlertWindow | null;

  @Timestamp() readonly raised_at!: string;
  @Timestamp({ nullable: true }) readonly resolved_at!: string | null;

  @Text({
    description: 'The page of the portal that shows it.',
    examples: [
      'https://messages.example.com/portal/a/acc_4yGq0cXo2vGdXk1w8bTzRs/messages?status=failed',
    ],
  })
  readonly url!: string;
}

class AlertEvent extends CallbackEvent {
  @Field({ type: AlertEventData }) readonly data!: AlertEventData;
}

/** Callbacks of alerts of an account. */
export const ALERT_CALLBACKS: readonly OtherCallback[] = [
  {
    type: 'alert.raised',
    event: AlertEvent,
    summary: 'Something of the account needs attention',
    description: 'At most once in the pause of its rule.',
  },
  {
    type: 'alert.resolved',
    event: AlertEvent,
    summary: 'What an alert was raised for is over',
    description: 'Once for each alert.raised.',
  },
];
