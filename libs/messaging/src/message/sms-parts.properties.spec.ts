import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { smsPartEnds, smsParts } from './sms-parts.js';

const gsm = fc.string({ unit: fc.constantFrom(...'abcXYZ 019@£€{}[]~|^\\\n'), maxLength: 700 });
const any = fc.string({ unit: 'grapheme', maxLength: 400 });

describe('parts of a text', () => {
  it('parts hold the whole text in the minimal number', () => {
    fc.assert(
      fc.property(fc.oneof(gsm, any), (text) => {
        const { encoding, parts, units } = smsParts(text);
        const [one, many] = encoding === 'GSM-7' ? [160, 153] : [70, 67];
        // A pair or an escape that does not fit costs a part one unit at most.
        const [least, most] =
          units <= one ? [1, 1] : [Math.ceil(units / many), Math.ceil(units / (many - 1))];
        expect(parts).toBeGreaterThanOrEqual(least);
        expect(parts).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('each end closes a part that one message holds', () => {
    fc.assert(
      fc.property(fc.oneof(gsm, any), (text) => {
        const { encoding, parts } = smsParts(text);
        const ends = smsPartEnds(text);
        expect([ends.length, ends.at(-1)]).toEqual([parts, text.length]);
        if (parts === 1) return;
        for (const [index, end] of ends.entries()) {
          const part = text.slice(ends[index - 1] ?? 0, end);
          const units = encoding === 'GSM-7' ? smsParts(part).units : part.length;
          expect(units).toBeLessThanOrEqual(encoding === 'GSM-7' ? 153 : 67);
          expect(units).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('a longer text has no fewer parts', () => {
    fc.assert(
      fc.property(gsm, gsm, (a, b) => {
        expect(smsParts(a + b).parts).toBeGreaterThanOrEqual(smsParts(a).parts);
        expect(smsParts(a + b).units).toBe(smsParts(a).units + smsParts(b).units);
      }),
    );
  });

  it('basic characters count one septet and extension characters two', () => {
    fc.assert(
      fc.property(gsm, (text) => {
        const escaped = [...text].filter((c) => '€{}[]~|^\\'.includes(c)).length;
        expect(smsParts(text)).toMatchObject({ encoding: 'GSM-7', units: text.length + escaped });
      }),
    );
  });
});
