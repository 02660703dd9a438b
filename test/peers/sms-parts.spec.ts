import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SegmentedMessage } from 'sms-segments-calculator';
// @ts-expect-error it comes without types
import splitSms from 'split-sms';
import { smsParts } from '@dundun/messaging/values';

const splitter = splitSms as {
  split(text: string): { readonly characterSet: string; readonly parts: readonly unknown[] };
};

const segments = (text: string) => {
  const { encodingName: encoding, segments: all } = new SegmentedMessage(text);
  return { encoding, parts: all.length };
};
const split = (text: string) => {
  const { characterSet, parts } = splitter.split(text);
  return { encoding: characterSet === 'GSM' ? 'GSM-7' : 'UCS-2', parts: parts.length };
};
const ours = (text: string) => {
  const { encoding, parts } = smsParts(text);
  return { encoding, parts };
};

const GSM =
  '@£$¥èéùìòÇ\nØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCXYZÄÖÑÜ§¿abcxyzäöñüà^{}\\[~]|€';
const gsm = fc.string({ unit: fc.constantFrom(...GSM), maxLength: 700 });
/** Characters that form no grapheme cluster with their neighbours. */
const single = fc.string({ unit: fc.constantFrom(...'ab ç日本語ạẹ–”👍🥁😀Я'), maxLength: 300 });
/** Grapheme clusters of several characters. */
const clusters = fc.string({
  unit: fc.constantFrom('a', 'é', 'e\u0301', '👩‍👩‍👧‍👦', '🇳🇬', '👍🏿', '日'),
  maxLength: 120,
});

describe('parts, as two public calculators count them', () => {
  it('all three calculators agree on GSM-7 texts', () => {
    fc.assert(
      fc.property(gsm, (text) => {
        expect(ours(text)).toEqual(segments(text));
        expect(ours(text)).toEqual(split(text));
      }),
    );
  });

  it('all three calculators agree on UCS-2 texts with surrogate pairs', () => {
    fc.assert(
      fc.property(single, (text) => {
        expect(ours(text)).toEqual(segments(text));
        expect(ours(text)).toEqual(split(text));
      }),
    );
  });

  // 3GPP TS 23.040 knows 16-bit units alone; phones put the parts together again before they draw.
  it('sms-segments-calculator may count more because it never splits a grapheme', () => {
    fc.assert(
      fc.property(clusters, (text) => {
        expect(ours(text)).toEqual(split(text));
        expect(segments(text).encoding).toBe(ours(text).encoding);
        expect(segments(text).parts).toBeGreaterThanOrEqual(ours(text).parts);
      }),
    );
    const flags = '🇳🇬'.repeat(33);
    expect(segments(flags).parts).toBeGreaterThan(ours(flags).parts);
  });
});
