import type { ChannelDefinition } from '../message/channel-definition.js';
import { ChannelRegistry } from '../message/channel-registry.js';
import type { SmsOptions } from '../ports/messaging-options.js';
import type { WhatsAppOptions } from '../ports/whatsapp-options.js';
import { smsChannel } from './sms/sms.channel.js';
import { whatsAppChannel } from './whatsapp/whatsapp.channel.js';

interface ChannelOptions {
  readonly sms?: SmsOptions;
  readonly whatsapp?: WhatsAppOptions;
  readonly channels?: readonly ChannelDefinition[];
}

/** The registry of SMS, WhatsApp and the app's own channels. */
export function registryOf({ sms = {}, whatsapp = {}, channels = [] }: ChannelOptions = {}) {
  return new ChannelRegistry([smsChannel(sms), whatsAppChannel(whatsapp), ...channels]);
}
