import { type SmsMessage, SmsService } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import type { ChannelNotification, NotificationReader } from '../../channel.js';
import { readText, RequiresOneOf } from '../../http/fields.js';
import { FieldsOf } from '../../http/validation.js';
import { AccountSenders } from '../../senders/account-senders.js';
import { SendSms, SMS_TEXT, SmsEstimate, smsEstimateOf } from './sms.dto.js';

@RequiresOneOf(...SMS_TEXT)
class NotificationSms extends FieldsOf(SendSms, ['from', 'body', 'content']) {}

@Injectable()
class SmsReader implements NotificationReader {
  constructor(
    private readonly sms: SmsService,
    private readonly senders: AccountSenders,
  ) {}

  async read({ from, ...texts }: NotificationSms, accountId: string) {
    const { text: body = '', field } = readText(texts, SMS_TEXT);
    const refusal = await this.senders.refusalOf(accountId, 'sms', from);
    return { message: { from, body }, fields: { body: field }, refusal };
  }

  async estimate({ body }: Pick<SmsMessage, 'body'>, options: { readonly tenant: string }) {
    return smsEstimateOf(await this.sms.estimate(body, options));
  }
}

export const SMS_NOTIFICATION: ChannelNotification = {
  message: NotificationSms,
  example: { from: 'ACME', body: 'Order 1001 is on its way.' },
  estimate: SmsEstimate,
  reader: SmsReader,
  scope: 'sms:send',
  takesToken: true,
};
