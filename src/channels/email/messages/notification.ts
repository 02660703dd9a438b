import { EmailService } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import type { ChannelNotification, NotificationReader } from '../../../channel.js';
import { Price, RequiresOneOf, Text, WholeNumber } from '../../../http/fields.js';
import { FieldsOf } from '../../../http/validation.js';
import { SenderDomains } from '../domains/sender-domains.js';
import { EMAIL_FIELDS, SendEmail } from './email.dto.js';

@RequiresOneOf('text', 'html')
class NotificationEmail extends FieldsOf(SendEmail, [
  'from',
  'reply_to',
  'subject',
  'text',
  'html',
  'headers',
  'category',
  'unsubscribe_url',
]) {}

class EmailEstimate {
  @WholeNumber({ minimum: 1, description: 'Octets of the texts.', examples: [312] })
  readonly size!: number;

  @Price() readonly cost!: number | null;
  @Text({ nullable: true }) readonly currency!: string | null;
}

@Injectable()
class EmailReader implements NotificationReader {
  constructor(
    private readonly email: EmailService,
    private readonly domains: SenderDomains,
  ) {}

  async read(request: NotificationEmail, accountId: string) {
    const refusal = await this.domains.refusalOf(accountId, request.from);
    return { message: messageOf(request), fields: EMAIL_FIELDS, refusal };
  }

  async estimate(
    message: ReturnType<typeof messageOf>,
    options: { readonly tenant: string },
  ): Promise<EmailEstimate> {
    const { size, cost, currency } = await this.email.estimate(message, options);
    return { size, cost: cost === null ? null : Number(cost), currency };
  }
}

function messageOf({ reply_to, unsubscribe_url, ...fields }: NotificationEmail) {
  return { ...fields, replyTo: reply_to, unsubscribeUrl: unsubscribe_url };
}

export const EMAIL_NOTIFICATION: ChannelNotification = {
  message: NotificationEmail,
  example: { from: 'Shop <hello@demo.test>', subject: 'Your order', text: 'It is on its way.' },
  estimate: EmailEstimate,
  reader: EmailReader,
  scope: 'email:send',
  takesToken: false,
};
