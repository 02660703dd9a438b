import type { BuiltInChannel } from '../../../message/message.js';
import type { Simulation } from '../simulation.js';
import { EMAIL } from './email.js';
import { SMS } from './sms.js';
import { VAS } from './vas.js';
import { VOICE } from './voice.js';
import { WHATSAPP } from './whatsapp.js';

export const OUTCOMES: Readonly<Record<BuiltInChannel, Simulation>> = {
  sms: SMS,
  whatsapp: WHATSAPP,
  email: EMAIL,
  voice: VOICE,
  vas: VAS,
};
