import {
  NOTIFICATION_DOUBLED,
  NOTIFICATION_ENDED,
  NOTIFICATION_FELL_BACK,
} from '@dundun/messaging';
import type { NotificationChange } from '@dundun/messaging/ports';
import type { OtherCallback } from '../channel.js';
import { CallbackEvent } from '../http/callback.dto.js';
import { Choice, Field, Text, Uuid } from '../http/fields.js';
import { Metadata, Tags } from '../http/label-fields.js';
import { MAX_ERROR_CODE, type OutboxEvent } from './webhook-event.js';

class NotificationEventData {
  @Uuid() readonly notification_id!: string;

  @Tags({ optional: true, description: 'Tags of the send, where it has tags or metadata.' })
  readonly tags?: readonly string[];

  @Metadata({ optional: true, description: 'Metadata of the send, where it has tags or metadata.' })
  readonly metadata?: Readonly<Record<string, string>>;
}

class NotificationFellBackData extends NotificationEventData {
  @Choice(['denied', 'failed', 'not_started', 'not_delivered'], { examples: ['failed'] })
  readonly reason!: string;

  @Text({ description: 'The channel that did not deliver.', examples: ['whatsapp'] })
  readonly from_channel!: string;

  @Text({ nullable: true, description: 'Of its message, or the code of the policy.' })
  readonly error_code!: string | null;

  @Text({ description: 'The channel that took over.', examples: ['sms'] })
  readonly to_channel!: string;

  @Text({
    description: 'The message there.',
    examples: ['01a1f91d-94f5-779e-8c4f-a4ea0dc430dd-0'],
  })
  readonly message_id!: string;
}

class NotificationDoubledData extends NotificationEventData {
  @Field({
    type: 'array',
    items: { type: 'string' },
    description: 'The channels whose messages arrived.',
    examples: [['sms']],
  })
  readonly delivered_by!: readonly string[];
}

class NotificationEndedData extends NotificationDoubledData {
  @Choice(['delivered', 'failed', 'undecided', 'cancelled']) readonly status!: string;

  @Choice(['pending', 'delivered', 'failed', 'undecided', 'cancelled'], {
    description: '`pending`, unless a later report raised the status.',
  })
  readonly previous!: string;
}

class FellBackCallback extends CallbackEvent {
  @Field({ type: NotificationFellBackData }) readonly data!: NotificationFellBackData;
}

class EndedCallback extends CallbackEvent {
  @Field({ type: NotificationEndedData }) readonly data!: NotificationEndedData;
}

class DoubledCallback extends CallbackEvent {
  @Field({ type: NotificationDoubledData }) readonly data!: NotificationDoubledData;
}

/** Callbacks of notifications; their messages have those of their channels. */
export const NOTIFICATION_CALLBACKS: readonly OtherCallback[] = [
  {
    type: 'notification.fell_back',
    event: FellBackCallback,
    summary: 'A notification went on to its next channel',
    description: 'The channel before denied, failed or was too slow.',
  },
  {
    type: 'notification.ended',
    event: EndedCallback,
    summary: 'A notification has an end',
    description: 'Again where a later report raises its status.',
  },
  {
    type: 'notification.doubled',
    event: DoubledCallback,
    summary: 'A further message of a delivered notification arrived',
    description: 'The recipient got it on two channels.',
  },
];

export function notificationCallbackOf(changed: NotificationChange): OutboxEvent {
  const { tenant, notificationId, tags, metadata } = changed.change;
  const { type, data } = callbackOf(changed);
  const labels = tags ? { tags, metadata: metadata ?? {} } : {};
  return {
    account: tenant,
    messageId: notificationId,
    sequence: 1,
    type,
    data: { notification_id: notificationId, ...data, ...labels },
  };
}

function callbackOf(changed: NotificationChange): Pick<OutboxEvent, 'type' | 'data'> {
  switch (changed.event) {
    case NOTIFICATION_FELL_BACK: {
      const { reason, from, errorCode, to, messageId } = changed.change;
      const data = {
        reason,
        from_channel: from,
        error_code: errorCode?.slice(0, MAX_ERROR_CODE) ?? null,
        to_channel: to,
        message_id: messageId,
      };
      return { type: 'notification.fell_back', data };
    }
    case NOTIFICATION_ENDED: {
      const { status, previous, deliveredBy } = changed.change;
      const data = { status, previous, delivered_by: deliveredBy };
      return { type: 'notification.ended', data };
    }
    case NOTIFICATION_DOUBLED: {
      const data = { delivered_by: changed.change.deliveredBy };
      return { type: 'notification.doubled', data };
    }
  }
}
