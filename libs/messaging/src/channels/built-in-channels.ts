import { ChannelRegistry } from '../message/channel-registry.js';
import { type MessagingSettings, settingsOf } from '../ports/messaging-options.js';
import { smsChannel } from './sms/sms.channel.js';
import { whatsAppChannel } from './whatsapp/whatsapp.channel.js';

/** The registry of SMS, WhatsApp and the app's own channels. */
export function registryOf(
  { sms, whatsapp, channels }: MessagingSettings = settingsOf({}),
): ChannelRegistry {
  return new ChannelRegistry([smsChannel(sms), whatsAppChannel(whatsapp), ...channels]);
}
