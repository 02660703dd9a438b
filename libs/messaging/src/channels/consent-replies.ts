import { Inject, Injectable } from '@nestjs/common';
import type { InboundReceived } from '../message/events.js';
import type { TextContent } from '../message/message.js';
import { PolicyError } from '../policy/policy-error.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import { MESSAGING_SETTINGS, type MessagingSettings } from '../ports/messaging-settings.js';
import { Intake } from './intake.js';
import type { SendOptions } from './send-options.js';
import { smsBatch } from './sms/sms-batch.js';
import { whatsAppBatch } from './whatsapp/whatsapp-batch.js';

/**
 * Answers a STOP or START that changed something: once, from the number it was written to, by whichever
 * process took it and only if it still lives then. The answer to a STOP is the one message that passes
 * it; the suppression list and every other policy count for it, too.
 */
@Injectable()
export class ConsentReplies {
  constructor(
    @Inject(Intake) private readonly intake: Intake,
    @Inject(MESSAGING_SETTINGS) private readonly settings: MessagingSettings,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws MessageValidationError where the reply is no text, or the number none to send from */
  async reply(received: InboundReceived): Promise<void> {
    const { tenant, channel, from, to, consent } = received;
    if (consent === null || from === null) return;
    const text = await this.settings.inbound?.reply?.(received);
    if (text === undefined) return;
    const content: TextContent = {
      kind: 'text',
      text,
      ...(consent === 'opted_out' && { confirms: consent }),
    };
    const options: SendOptions = { tenant, class: 'high' };
    const batch =
      channel === 'whatsapp'
        ? whatsAppBatch({ from: to, to: from }, content, [], options, this.settings, this.clock)
        : smsBatch(
            { from: to, to: from, body: text },
            options,
            undefined,
            this.settings,
            this.clock,
          ).batch;
    const stored = { ...batch, content: JSON.stringify(content) };
    await this.intake.take(stored, content).catch((error: unknown) => {
      if (!(error instanceof PolicyError)) throw error;
    });
  }
}
