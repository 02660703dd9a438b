import type { Environment } from './environment.js';

/** Its simulator ignores keys, as telephone carriers do; the one of SMS honours them. */
const SIMULATOR = 'voice-simulator';

/** Name of the provider of calls; `undefined`: the carrier of SMS, if it takes calls. */
export function voiceProviderOf({
  CARRIER,
  VOICE_CARRIER,
  written,
}: Pick<Environment, 'CARRIER' | 'VOICE_CARRIER' | 'written'>): string | undefined {
  const own = VOICE_CARRIER ?? (CARRIER === 'simulator' && !written ? CARRIER : undefined);
  return own === 'simulator' ? SIMULATOR : own;
}
