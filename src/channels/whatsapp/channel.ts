import { MESSAGING_TEMPLATE_LISTENER } from '@dundun/messaging';
import { Module } from '@nestjs/common';
import { AccountsModule } from '../../accounts/accounts.module.js';
import type { GatewayChannel } from '../../channel.js';
import { StatusEvent } from '../../http/callback.dto.js';
import { ContactsController } from './contacts.controller.js';
import { seedNumber, WHATSAPP_NUMBERS, WhatsAppCodes } from './senders.js';
import { WhatsAppTemplateSync } from './template-sync.js';
import { WhatsAppController } from './whatsapp.controller.js';

@Module({
  imports: [AccountsModule],
  controllers: [WhatsAppController, ContactsController],
  providers: [
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
  scopes: ['whatsapp:send', 'whatsapp:read', 'contacts:read', 'contacts:write'],
  // The templates of each account are in the database.
  options: () => ({ whatsapp: { templates: 'open' } }),
  // Where the platform says only that it bills them.
  prices: ({ carriers, WHATSAPP_PRICES }) =>
    carriers.of('whatsapp').some(({ traits }) => traits.bindsNumbers) ? WHATSAPP_PRICES : undefined,
  callback: {
    statusEvent: 'whatsapp.message_status',
    receivedEvent: 'whatsapp.message_received',
    identifiedBy: 'message',
    event: StatusEvent,
  },
  senders: WHATSAPP_NUMBERS,
  codes: WhatsAppCodes,
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
