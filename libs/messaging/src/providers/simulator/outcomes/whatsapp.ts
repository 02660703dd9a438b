import type { Simulation } from '../simulation.js';
import { SMS } from './sms.js';

/** As SMS; a delivered message is read. */
export const WHATSAPP: Simulation = {
  ...SMS,
  followUp: { after: 'delivered', status: 'read', rawStatus: 'READ' },
  idPrefix: 'wamid.',
  reply: 'Hello',
};
