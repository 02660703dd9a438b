import { ChannelRegistry } from '../message/channel-registry.js';
import { type MessagingSettings, settingsOf } from '../ports/messaging-settings.js';
import { emailChannel } from './email/email.channel.js';
import { smsChannel } from './sms/sms.channel.js';
import { voiceChannel } from './voice/voice.channel.js';
import { vasChannel } from './vas/vas.channel.js';
import { whatsAppChannel } from './whatsapp/whatsapp.channel.js';

/** The registry of SMS, WhatsApp, email, voice, VAS and the app's own channels. */
export function registryOf(
  { sms, whatsapp, email, voice, channels }: MessagingSettings = settingsOf({}),
): ChannelRegistry {
  return new ChannelRegistry([
    smsChannel(sms),
    whatsAppChannel(whatsapp),
    emailChannel(email),
    voiceChannel(voice),
    vasChannel,
    ...channels,
  ]);
}
