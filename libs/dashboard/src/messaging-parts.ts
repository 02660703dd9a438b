import {
  type Clock,
  ContactsService,
  EmailService,
  MESSAGING_CLOCK,
  MessagingService,
  PolicyService,
  type Simulator,
  simulatorOf,
  VasService,
  VerificationService,
  VoiceService,
} from '@dundun/messaging';
import { InboundService } from '@dundun/messaging/inbound';
import { MessageHistory, MessagingOperations } from '@dundun/messaging/operations';
import { ChannelRegistry, MESSAGE_TRANSPORTS } from '@dundun/messaging/ports';
import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';

/** The parts of the app's messaging module, which need not be global. */
@Injectable()
export class MessagingParts {
  constructor(@Inject(ModuleRef) private readonly modules: ModuleRef) {}

  get history(): MessageHistory {
    return this.modules.get(MessageHistory, { strict: false });
  }

  get inbound(): InboundService {
    return this.modules.get(InboundService, { strict: false });
  }

  get messaging(): MessagingService {
    return this.modules.get(MessagingService, { strict: false });
  }

  get operations(): MessagingOperations {
    return this.modules.get(MessagingOperations, { strict: false });
  }

  get contacts(): ContactsService {
    return this.modules.get(ContactsService, { strict: false });
  }

  get policy(): PolicyService {
    return this.modules.get(PolicyService, { strict: false });
  }

  get email(): EmailService {
    return this.modules.get(EmailService, { strict: false });
  }

  get voice(): VoiceService {
    return this.modules.get(VoiceService, { strict: false });
  }

  get vas(): VasService {
    return this.modules.get(VasService, { strict: false });
  }

  get verification(): VerificationService {
    return this.modules.get(VerificationService, { strict: false });
  }

  get channels(): ChannelRegistry {
    return this.modules.get(ChannelRegistry, { strict: false });
  }

  get clock(): Clock {
    return this.modules.get<Clock>(MESSAGING_CLOCK, { strict: false });
  }

  /** Names of the providers that carry a channel. */
  carriersOf(channel: string): readonly string[] {
    const transports = this.modules.get(MESSAGE_TRANSPORTS, { strict: false });
    return [...transports].flatMap(([name, { capabilities }]) => {
      const channels: readonly string[] | undefined = capabilities.channels;
      return !channels || channels.includes(channel) ? [name] : [];
    });
  }

  /** Providers that are simulators, by name. */
  get simulators(): ReadonlyMap<string, Simulator> {
    const transports = this.modules.get(MESSAGE_TRANSPORTS, { strict: false });
    return new Map(
      [...transports].flatMap(([name, transport]) => {
        const simulator = simulatorOf(transport);
        return simulator ? [[name, simulator] as const] : [];
      }),
    );
  }
}
