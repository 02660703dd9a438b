import { HttpModule } from '@nestjs/axios';
import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { ChannelContext } from './channels/channel.service.js';
import { Enqueuer } from './channels/enqueuer.js';
import { SmsService } from './channels/sms/sms.service.js';
import { WhatsAppService } from './channels/whatsapp/whatsapp.service.js';
import { ContactsService } from './contacts/contacts.service.js';
import { ChannelRegistry } from './message/channel-registry.js';
import { ConfigurableModuleClass } from './messaging.module-definition.js';
import { MESSAGING_PROVIDERS } from './messaging.providers.js';
import { MessagingRuntime } from './messaging.runtime.js';
import { MessagingService } from './messaging.service.js';
import { PolicyService } from './policy/policy.service.js';
import { MESSAGING_CLOCK } from './ports/clock.js';
import { DISPATCH_ENGINE } from './ports/dispatch-engine.js';
import { MESSAGE_TRANSPORTS } from './ports/message-transport.js';
import { MESSAGING_RATE_CARD } from './ports/rate-card.js';
import { ProvidedPorts } from './ports/provided-ports.js';
import { MESSAGING_TRACING } from './ports/tracing.js';
import { WorkQueues } from './work-queues.js';

/**
 * Background messaging on the app's own TypeORM database.
 *
 * @example
 * MessagingModule.forRoot({ baseUrl: 'https://sms.example.com', apiToken: process.env.SMS_TOKEN })
 */
@Module({
  imports: [HttpModule, EventEmitterModule.forRoot(), DiscoveryModule],
  providers: [
    ...MESSAGING_PROVIDERS,
    ProvidedPorts,
    Enqueuer,
    ChannelContext,
    SmsService,
    WhatsAppService,
    ContactsService,
    PolicyService,
    MessagingService,
    MessagingRuntime,
  ],
  exports: [
    SmsService,
    WhatsAppService,
    ContactsService,
    PolicyService,
    MessagingService,
    ChannelContext,
    ChannelRegistry,
    WorkQueues,
    DISPATCH_ENGINE,
    MESSAGE_TRANSPORTS,
    MESSAGING_CLOCK,
    MESSAGING_RATE_CARD,
    MESSAGING_TRACING,
  ],
})
export class MessagingModule extends ConfigurableModuleClass {}
