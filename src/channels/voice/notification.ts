import { VoiceService } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import type { ChannelNotification, NotificationReader } from '../../channel.js';
import { RequiresOneOf } from '../../http/fields.js';
import { FieldsOf } from '../../http/validation.js';
import { AccountSenders } from '../../senders/account-senders.js';
import { CALL_FIELDS, messageOf } from './call-message.js';
import { CallEstimateAnswer, callEstimateOf, SendCall } from './voice.dto.js';

@RequiresOneOf('text', 'audio_url', 'code')
class NotificationCall extends FieldsOf(SendCall, [
  'from',
  'text',
  'language',
  'voice',
  'audio_url',
  'code',
  'repeat',
  'max_duration',
  'ring_timeout',
  'redial',
  'machine',
  'collect',
  'category',
]) {}

@Injectable()
class CallReader implements NotificationReader {
  constructor(
    private readonly voice: VoiceService,
    private readonly senders: AccountSenders,
  ) {}

  async read(request: NotificationCall, accountId: string) {
    const refusal = await this.senders.refusalOf(accountId, 'voice', request.from);
    const message = messageOf(request, { to: undefined });
    return { message, fields: CALL_FIELDS, refusal };
  }

  async estimate(
    message: ReturnType<typeof messageOf>,
    options: { readonly tenant: string; readonly to?: string },
  ) {
    return callEstimateOf(await this.voice.estimate(message, options));
  }
}

export const VOICE_NOTIFICATION: ChannelNotification = {
  message: NotificationCall,
  example: { from: '2348000000001', text: 'Your order is on its way.' },
  estimate: CallEstimateAnswer,
  reader: CallReader,
  scope: 'voice:send',
  takesToken: true,
};
