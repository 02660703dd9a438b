import { simulator } from '@dundun/messaging';
import { carrierType } from './carrier-type.js';

export const SIMULATOR = carrierType({}, (_, { environment }) => ({
  transport: () => simulator({ rateCard: environment.WHATSAPP_PRICES }),
}));
