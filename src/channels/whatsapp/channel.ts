import { MESSAGING_TEMPLATE_LISTENER } from '@dundun/messaging';
import { Module } from '@nestjs/common';
import { AccountsModule } from '../../accounts/accounts.module.js';
import { BillingModule } from '../../billing/billing.module.js';
import type { GatewayChannel } from '../../channel.js';
import { StatusEvent } from '../../http/callback.dto.js';
import { ContactsController } from './contacts.controller.js';
import { WHATSAPP_NOTIFICATION } from './notification.js';
import { seedNumber, WHATSAPP_NUMBERS, WhatsAppCodes } from './senders.js';
import { SendingRules } from './sending-rules.js';
import { WhatsAppTemplateSync } from './template-sync.js';
import { WhatsAppController } from './whatsapp.controller.js';

@Module({
  imports: [AccountsModule, BillingModule],
  controllers: [WhatsAppController, ContactsController],
  providers: [
    SendingRules,
    WhatsAppTemplateSync,
    { provide: MESSAGING_TEMPLATE_LISTENER, useExisting: WhatsAppTemplateSync },
  ],
})
class WhatsAppModule {}

export const whatsapp = {
  name: 'whatsapp',
  definition: null,
  module: WhatsAppModule,
  tag: 'WhatsApp',
  tagDescription:
    'Messages by templates, free texts and media, templates and contacts on WhatsApp.',
  scopes: ['whatsapp:send', 'whatsapp:read', 'contacts:read', 'contacts:write'],
  // The templates of each account are in the database.
  options: () => ({ whatsapp: { templates: 'open' } }),
  // Where the platform says only that it bills them.
  prices: ({ carriers, WHATSAPP_PRICES: { currency, whatsapp: prices = {} } }) =>
    carriers.of('whatsapp').some(({ traits }) => traits.bindsNumbers)
      ? {
          currency,
          rates: Object.entries(prices).map(([category, price]) => {
            return { prefix: '*', category, price, billing: null };
          }),
        }
      : undefined,
  // The largest upload is that of a video. Larger documents go by a link.
  bodies: { '/whatsapp/ng/v1/media': { bytes: 16_777_216, as: 'file' } },
  demoPrice: { authentication: '12', marketing: '50', service: '2', utility: '6.7' },
  callback: {
    statusEvent: 'whatsapp.message_status',
    receivedEvent: 'whatsapp.message_received',
    inboundPath: '/whatsapp/ng/v1/inbound',
    identifiedBy: 'message',
    event: StatusEvent,
  },
  senders: WHATSAPP_NUMBERS,
  codes: WhatsAppCodes,
  notification: WHATSAPP_NOTIFICATION,
  curl: {
    token: 'API_KEY',
    send: {
      path: 'whatsapp/ng/v1/sendwhatsapp',
      fields: { template: 'template_name', language: 'language', params: 'params', text: 'text' },
      kind: 'message_type',
      toOne: true,
    },
    list: null,
    message: 'whatsapp/ng/v1/messages/{message}',
    // A send is one message.
    batch: 'whatsapp/ng/v1/messages/{batch}-0',
  },
  carriers: {},
  demo: null,
  seed: seedNumber,
} satisfies GatewayChannel;
