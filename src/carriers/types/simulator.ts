import { simulator } from '@dundun/messaging';
import { carrierType } from '../carrier-type.js';

/** Delivers nothing, and reports by the last digits of the recipient. */
export const SIMULATOR = carrierType(
  {},
  {
    isSimulated: true,
    make: (_, { prices }) => ({ transport: simulator({ rateCard: prices }) }),
  },
);

/** Calls that it simulates have no idempotency keys, as those of telephone carriers. */
export const VOICE_SIMULATOR = carrierType(
  {},
  {
    channels: ['voice'],
    isSimulated: true,
    make: () => ({ transport: simulator({ idempotencyWindow: 0, channels: ['voice'] }) }),
  },
);
