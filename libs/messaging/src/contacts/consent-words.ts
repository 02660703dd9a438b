import { MessagingConfigError } from '../message/errors.js';
import type { ConsentState } from './contact.js';

/** Words that opt a contact out or in when a message consists of that word alone. */
export interface ConsentWordList {
  readonly stop: readonly string[];
  readonly start: readonly string[];
}

/** A longer text is never a single word, so it is not analysed. */
const LONGEST = 100;

/** Words by language. No word opts out in one language and in in another. */
export const CONSENT_WORDS: Readonly<Record<string, ConsentWordList>> = {
  en: {
    stop: ['stop', 'stop all', 'unsubscribe', 'opt out', 'cancel', 'end', 'quit'],
    start: ['start', 'unstop', 'subscribe', 'opt in', 'resume'],
  },
  fr: {
    stop: ['arrêt', 'arrêter', 'arrêtez', 'désabonner', 'désinscrire'],
    start: ['démarrer', 'abonner', "s'abonner", 'reprendre'],
  },
  pt: { stop: ['parar', 'pare', 'sair', 'cancelar'], start: ['iniciar', 'começar', 'voltar'] },
  es: { stop: ['alto', 'baja', 'detener', 'cancelar'], start: ['iniciar', 'alta', 'empezar'] },
  de: { stop: ['stopp', 'abmelden', 'abbestellen'], start: ['anmelden', 'starten'] },
  yo: { stop: ['dúró', 'dáwọ́ dúró'], start: ['bẹ̀rẹ̀'] },
  ha: { stop: ['tsaya', 'dakatar'], start: ['fara'] },
  ig: { stop: ['kwụsị'], start: ['malite', 'bido'] },
  sw: { stop: ['acha', 'simamisha', 'sitisha'], start: ['anza', 'endelea'] },
  ar: { stop: ['توقف', 'إيقاف', 'قف', 'إلغاء'], start: ['ابدأ', 'اشتراك'] },
};

/**
 * Reads STOP and START: the message consists of the word alone, in any case, with or without marks,
 * white space in it, or punctuation around it. `stop calling me` and `stopped` are not STOP.
 * @example
 * consentWords({ ...CONSENT_WORDS, tr: { stop: ['dur'], start: ['başla'] } })
 * @throws MessagingConfigError where a word both opts out and opts in
 */
export function consentWords(
  lists: Readonly<Record<string, ConsentWordList>> = CONSENT_WORDS,
): (text: string) => ConsentState | undefined {
  const meanings = new Map<string, ConsentState>();
  for (const { stop, start } of Object.values(lists)) {
    for (const [words, meaning] of [
      [stop, 'opted_out'],
      [start, 'opted_in'],
    ] as const)
      for (const word of words) {
        const key = folded(word);
        if ((meanings.get(key) ?? meaning) !== meaning)
          throw new MessagingConfigError(
            `inbound.consent: ${JSON.stringify(word)} is listed as both opt-out and opt-in; remove one`,
          );
        meanings.set(key, meaning);
      }
  }
  return (text) => (text.length > LONGEST ? undefined : meanings.get(folded(text)));
}

function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
    .replace(/\s+/gu, '');
}
