import type { Environment } from './environment.js';
import { voiceProviderOf } from './voice-provider.js';

/** Channels with a carrier of their own beside `CARRIER` or `CARRIERS_FILE`, and the carrier's name. */
export function channelCarriers(
  environment: Environment,
): readonly { readonly channel: string; readonly carrier: string }[] {
  const { CARRIER, EMAIL_CARRIER, VAS_CARRIER, WHATSAPP_CARRIER, written } = environment;
  const own = {
    email: EMAIL_CARRIER,
    vas: VAS_CARRIER,
    voice: voiceProviderOf(environment),
    whatsapp: WHATSAPP_CARRIER,
  };
  return Object.entries(own).flatMap(([channel, carrier]) =>
    carrier !== undefined && (written || carrier !== CARRIER) ? [{ channel, carrier }] : [],
  );
}
