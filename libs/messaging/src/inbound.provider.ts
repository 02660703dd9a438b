import type { FactoryProvider } from '@nestjs/common';
import { ConsentReplies } from './channels/consent-replies.js';
import { consentWords } from './contacts/consent-words.js';
import { InboundRecorder } from './contacts/inbound.recorder.js';
import { RecipientFactsReader } from './contacts/recipient-facts.js';
import { MessageStore } from './store/message-store.js';
import { type Clock, MESSAGING_CLOCK } from './ports/clock.js';
import { EVENT_PUBLISHER, type EventPublisher } from './ports/event-publisher.js';
import { InboundListeners } from './ports/inbound-listener.js';
import { MESSAGING_OPTIONS, type MessagingOptions } from './ports/messaging-options.js';

/** What takes the messages people write to us. */
export const inboundProvider: FactoryProvider<InboundRecorder> = {
  provide: InboundRecorder,
  useFactory: (
    { database }: MessageStore,
    facts: RecipientFactsReader,
    replies: ConsentReplies,
    listeners: InboundListeners,
    events: EventPublisher,
    clock: Clock,
    { inbound = {} }: MessagingOptions,
  ) =>
    new InboundRecorder(database, {
      clock,
      events,
      listeners,
      consentOf: inbound.consent ?? consentWords(),
      tenantOf: inbound.tenant ?? (() => ''),
      onWrite: () => facts.somebody(),
      after: (received) => replies.reply(received),
    }),
  inject: [
    MessageStore,
    RecipientFactsReader,
    ConsentReplies,
    InboundListeners,
    EVENT_PUBLISHER,
    MESSAGING_CLOCK,
    MESSAGING_OPTIONS,
  ],
};
