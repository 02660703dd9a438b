import type { VoiceMessage } from '@dundun/messaging';
import type { SendCall } from './voice.dto.js';

const SECOND = 1_000;

/** Fields of the library with another name in the interface. */
export const CALL_FIELDS = { audioUrl: 'audio_url' } as const;

/** Fields of a call apart from whom it calls, when, and its labels. */
export type CallFields = Omit<SendCall, 'to' | 'send_at' | 'delivery_report' | 'tags' | 'metadata'>;

/** As the library takes it. Spread objects took a tenth of the acceptance of a call. */
export function messageOf<To>(
  request: CallFields,
  {
    to,
    deliveryReport,
    sendAt,
    tags,
    metadata,
  }: Pick<VoiceMessage, 'deliveryReport' | 'sendAt' | 'tags' | 'metadata'> & { readonly to: To },
) {
  const { redial, collect } = request;
  return {
    text: request.text,
    audioUrl: request.audio_url,
    code: request.code,
    language: request.language,
    voice: request.voice,
    repeat: request.repeat,
    maxDuration: request.max_duration * SECOND,
    from: request.from,
    to,
    deliveryReport,
    machine: request.machine,
    category: request.category,
    tags,
    metadata,
    sendAt,
    ringTimeout: request.ring_timeout * SECOND,
    redial: redial && { times: redial.times, after: ofSeconds(redial.after) },
    collect: collect && { maxDigits: collect.max_digits, timeout: ofSeconds(collect.timeout) },
  };
}

/** Milliseconds; a missing value is left to the library's default. */
function ofSeconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * SECOND;
}
