import { carriersOf, type GatewayChannel } from '../channel.js';
import { email } from './email/channel.js';
import { sms } from './sms/channel.js';
import { vas } from './vas/channel.js';
import { voice } from './voice/channel.js';
import { whatsapp } from './whatsapp/channel.js';

/** The channels of the gateway, in the order in which lists show them. */
export const CHANNELS: readonly GatewayChannel[] = [sms, whatsapp, email, voice, vas];

/** Types of carriers that the channels bring. */
export const CARRIERS_OF_CHANNELS = carriersOf(CHANNELS);
