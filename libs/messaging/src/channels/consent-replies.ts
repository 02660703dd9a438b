import { Inject, Injectable } from '@nestjs/common';
import { ChannelRegistry } from '../message/channel-registry.js';
import type { InboundReceived } from '../message/events.js';
import { PolicyError } from '../policy/policy.service.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../ports/messaging-settings.js';
import { Enqueuer } from './enqueuer.js';

/**
 * Sends the reply to a STOP or START that changed a consent. The process that recorded the consent
 * sends it once, from the address that received the message; a crash of that process loses the
 * reply. The reply to a STOP bypasses the opt-out that it confirms. The suppression list and all
 * other policies still apply.
 */
@Injectable()
export class ConsentReplies {
  constructor(
    @Inject(ChannelRegistry) private readonly channels: ChannelRegistry,
    @Inject(Enqueuer) private readonly enqueuer: Enqueuer,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
  ) {}

  /**
   * @throws MessageValidationError where the reply is not text, or the address is not a valid
   *   sender
   */
  async reply(received: InboundReceived): Promise<void> {
    const { tenant, channel, from, to, consent } = received;
    if (consent === null || from === null) return;
    const text = await this.settings.inbound.reply?.(received);
    if (text === undefined) return;
    const reply = {
      from: to,
      to: from,
      content: { kind: 'text', text },
      confirms: consent === 'opted_out' ? consent : undefined,
    } as const;
    await this.enqueuer
      .enqueue(this.channels.get(channel), reply, { tenant, class: 'high' })
      .catch((error: unknown) => {
        if (!(error instanceof PolicyError)) throw error;
      });
  }
}
