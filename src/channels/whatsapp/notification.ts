import { WhatsAppService } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { TemplateRegistry } from '../../accounts/templates.js';
import type { ChannelNotification, NotificationReader } from '../../channel.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { ApiError } from '../../http/api-error.js';
import { Choice, readText, RequiresOneOf } from '../../http/fields.js';
import { FieldsOf, OneOfForms } from '../../http/validation.js';
import { AccountSenders } from '../../senders/account-senders.js';
import { SendingRules } from './sending-rules.js';
import { SendTemplate, SendText, WHATSAPP_TEXT, WhatsAppEstimate } from './whatsapp.dto.js';

class NotificationTemplate extends FieldsOf(SendTemplate, [
  'message_type',
  'template_name',
  'language',
  'params',
]) {}

@RequiresOneOf(...WHATSAPP_TEXT)
class NotificationText extends FieldsOf(SendText, ['message_type', ...WHATSAPP_TEXT]) {}

@OneOfForms('message_type', { template: NotificationTemplate, text: NotificationText })
class NotificationWhatsApp {
  @Choice(['template', 'text']) readonly message_type!: 'template' | 'text';
}

@Injectable()
class WhatsAppReader extends SendingRules implements NotificationReader {
  constructor(
    senders: AccountSenders,
    templates: TemplateRegistry,
    @Inject(ENVIRONMENT) environment: Environment,
    private readonly whatsApp: WhatsAppService,
  ) {
    super(senders, templates, environment);
  }

  async read(request: NotificationTemplate | NotificationText, accountId: string) {
    const from = await this.numberOf(accountId);
    if (request.message_type === 'text') {
      const { text = '', field } = readText(request, WHATSAPP_TEXT);
      return { message: { from, text }, fields: { text: field }, refusal: undefined };
    }
    const { template_name: template, language, params } = request;
    const message = { from, template, language, params };
    const fields = { template: 'template_name' };
    try {
      const { category, paramNames } = await this.templateOf(accountId, request);
      return { message: { ...message, category, paramNames }, fields, refusal: undefined };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { message, fields, refusal: error };
    }
  }

  async estimate(
    message: Parameters<WhatsAppService['estimate']>[0],
    options: { readonly tenant: string; readonly to?: string },
  ): Promise<WhatsAppEstimate> {
    const { category, cost, currency } = await this.whatsApp.estimate(message, options);
    return { category, cost: cost === null ? null : Number(cost), currency };
  }
}

export const WHATSAPP_NOTIFICATION: ChannelNotification = {
  message: NotificationWhatsApp,
  example: {
    message_type: 'template',
    template_name: 'order_update',
    language: 'en',
    params: ['Ada', '1001'],
  },
  estimate: WhatsAppEstimate,
  reader: WhatsAppReader,
  scope: 'whatsapp:send',
  takesToken: false,
};
