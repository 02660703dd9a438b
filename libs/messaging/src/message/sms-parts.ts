/** Encoding and parts of a text (3GPP TS 23.038 and 23.040). */
export interface SmsParts {
  readonly encoding: 'GSM-7' | 'UCS-2';
  readonly parts: number;
  /** Septets (GSM-7) or 16-bit units (UCS-2). */
  readonly units: number;
}

const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const EXTENSION = '\f^{}\\[~]|€';

/** Septets by UTF-16 unit: 1 basic, 2 escaped, 0 not in GSM-7. */
const SEPTETS = new Uint8Array(0x10000);
for (const character of BASIC) SEPTETS[character.charCodeAt(0)] = 1;
for (const character of EXTENSION) SEPTETS[character.charCodeAt(0)] = 2;

/**
 * GSM-7: 160 septets, or 153 per part, never splitting an escape sequence. UCS-2, where a character
 * is not in GSM 03.38: 70 units, or 67 per part, never splitting a surrogate pair.
 */
export function smsParts(text: string): SmsParts {
  let units = 0;
  let parts = 1;
  let left = 153;
  for (let index = 0; index < text.length; index++) {
    const septets = SEPTETS[text.charCodeAt(index)] ?? 0;
    if (septets === 0) return ucs2Parts(text);
    units += septets;
    if (septets > left) {
      parts++;
      left = 153;
    }
    left -= septets;
  }
  return { encoding: 'GSM-7', parts: units <= 160 ? 1 : parts, units };
}

/** The distinct characters that are not in GSM 03.38, in their order; they make the text UCS-2. */
export function ucs2Characters(text: string, max = 10): string[] {
  const found = new Set<string>();
  for (const character of text) {
    if (character.length === 1 && SEPTETS[character.charCodeAt(0)]) continue;
    found.add(character);
    if (found.size === max) break;
  }
  return [...found];
}

/** The distinct characters that count twice in GSM 03.38, in their order. */
export function doubledCharacters(text: string, max = 10): string[] {
  const found = text.split('').filter((unit) => SEPTETS[unit.charCodeAt(0)] === 2);
  return [...new Set(found)].slice(0, max);
}

/** The index behind the last UTF-16 unit of each part. */
export function smsPartEnds(text: string): number[] {
  const { encoding, parts } = smsParts(text);
  if (parts === 1) return [text.length];
  const ends: number[] = [];
  let left = 153;
  if (encoding === 'GSM-7')
    for (let index = 0; index < text.length; index++) {
      const septets = SEPTETS[text.charCodeAt(index)] ?? 0;
      if (septets > left) {
        ends.push(index);
        left = 153;
      }
      left -= septets;
    }
  else for (let end = ucs2End(text, 0); end < text.length; end = ucs2End(text, end)) ends.push(end);
  return [...ends, text.length];
}

/** Where a part of a long UCS-2 text ends that begins at `start`. */
function ucs2End(text: string, start: number): number {
  const end = start + 67;
  const unit = text.charCodeAt(end);
  return unit >= 0xdc00 && unit <= 0xdfff ? end - 1 : end;
}

function ucs2Parts(text: string): SmsParts {
  const units = text.length;
  if (units <= 70) return { encoding: 'UCS-2', parts: 1, units };
  let parts = 0;
  for (let start = 0; start < units; parts++) start = ucs2End(text, start);
  return { encoding: 'UCS-2', parts, units };
}
