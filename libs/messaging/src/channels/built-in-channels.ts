import { ChannelRegistry } from '../message/channel-registry.js';
import { type MessagingSettings, settingsOf } from '../ports/messaging-options.js';
import { emailChannel } from './email/email.channel.js';
import { smsChannel } from './sms/sms.channel.js';
import { whatsAppChannel } from './whatsapp/whatsapp.channel.js';

/** The registry of SMS, WhatsApp, email and the app's own channels. */
export function registryOf(
  { sms, whatsapp, email, channels }: MessagingSettings = settingsOf({}),
): ChannelRegistry {
  return new ChannelRegistry([
    smsChannel(sms),
    whatsAppChannel(whatsapp),
    emailChannel(email),
    ...channels,
  ]);
}
