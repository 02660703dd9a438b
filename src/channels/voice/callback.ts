import { type MessageStatusChanged, VoiceService } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { IntersectionType } from '@nestjs/swagger';
import type { EntityManager } from 'typeorm';
import type { CallbackData, ChannelCallback } from '../../channel.js';
import { CallbackEvent, StatusEventData } from '../../http/callback.dto.js';
import { Field, Text } from '../../http/fields.js';
import { CallFactsFields, callFactsOf } from './call-facts.js';

/** The fields of a status, and the facts of the call. */
class CallEventData extends IntersectionType(StatusEventData, CallFactsFields) {
  @Text({ description: 'Caller id.', examples: ['2348000000001'] }) declare readonly from: string;
  @Text({ examples: ['completed'] }) declare readonly status: string;

  @Text({
    nullable: true,
    description:
      '`redial`: the line was busy or the call was not answered, and the number is dialled again. `digits`: the person pressed some. Both leave the status.',
    examples: [null],
  })
  readonly event!: string | null;
}

class CallEvent extends CallbackEvent {
  @Field({ type: CallEventData }) readonly data!: CallEventData;
}

@Injectable()
class CallCallbackData implements CallbackData {
  constructor(@Inject(VoiceService) private readonly voice: Pick<VoiceService, 'facts'>) {}

  async of(changes: readonly MessageStatusChanged[], manager: EntityManager) {
    const calls = changes.map((change) => ({ ...change, id: change.messageId }));
    const facts = await this.voice.facts(calls, { manager });
    return ({ messageId, event }: MessageStatusChanged) => {
      const known = facts.get(messageId);
      return { event: event ?? null, ...(known && callFactsOf(known)) };
    };
  }
}

export const VOICE_CALLBACK: ChannelCallback = {
  statusEvent: 'voice.call_status',
  identifiedBy: 'batch',
  event: CallEvent,
  data: CallCallbackData,
};
