import type { MessageStatusChanged } from '@dundun/messaging';
import type { CallbackData, ChannelCallback } from '../../channel.js';
import { CallbackEvent, StatusEventData } from '../../http/callback.dto.js';
import { Bounce, Field, Text } from '../../http/fields.js';
import { Metadata, Tags } from '../../http/label-fields.js';
import { DomainEvent } from './domains/domains.dto.js';

class LabelledEventData extends StatusEventData {
  @Text({ description: 'The recipient; empty once it was erased.', examples: ['ada@example.com'] })
  declare readonly to: string;

  @Text({ description: 'Address of the sender.', examples: ['hello@demo.test'] })
  declare readonly from: string;

  @Tags() declare readonly tags: readonly string[];

  @Metadata() declare readonly metadata: Readonly<Record<string, string>>;

  @Bounce()
  readonly bounce!: MessageStatusChanged['details'] | null;
}

class LabelledEvent extends CallbackEvent {
  @Field({ type: LabelledEventData }) readonly data!: LabelledEventData;
}

class EmailCallbackData implements CallbackData {
  of() {
    return ({ status, event = status, tags, metadata, details }: MessageStatusChanged) => ({
      tags: tags ?? [],
      metadata: metadata ?? {},
      bounce: (event === 'bounced' && details) || null,
    });
  }
}

export const EMAIL_CALLBACK: ChannelCallback = {
  statusEvent: 'email.*',
  receivedEvent: 'email.received',
  identifiedBy: 'batch',
  event: LabelledEvent,
  data: EmailCallbackData,
  others: [
    {
      type: 'email.domain_verified',
      event: DomainEvent,
      summary: 'A domain of the account was verified',
      description: 'Mail can be sent from it.',
    },
    {
      type: 'email.domain_failed',
      event: DomainEvent,
      summary: 'A domain of the account is verified no more',
      description: 'Mail from it is refused until it is verified again.',
    },
  ],
};
