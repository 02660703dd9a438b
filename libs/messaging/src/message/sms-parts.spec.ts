import { describe, expect, it } from '@jest/globals';
import { doubledCharacters, smsPartEnds, smsParts, ucs2Characters } from './sms-parts.js';

describe('ucs2Characters', () => {
  it.each<[string, string[]]>([
    ['Hello, [world] €5 {ok}', []],
    ['naïve – “quoted” – naïve', ['ï', '–', '“', '”']],
    ['thumbs 👍 up 👍', ['👍']],
    ['`', ['`']],
  ])('UCS-2 characters of %j', (text, characters) => {
    expect(ucs2Characters(text)).toEqual(characters);
    expect(smsParts(text).encoding).toBe(characters.length > 0 ? 'UCS-2' : 'GSM-7');
  });

  it('only the first UCS-2 characters are named', () => {
    expect(ucs2Characters('日月火水木金土', 3)).toEqual(['日', '月', '火']);
  });
});

describe('smsPartEnds', () => {
  it.each([
    ['', [0]],
    ['x'.repeat(160), [160]],
    ['x'.repeat(161), [153, 161]],
    // An escape that does not fit begins the next part.
    [`${'x'.repeat(152)}€${'x'.repeat(100)}`, [152, 253]],
    ['日'.repeat(70), [70]],
    ['日'.repeat(135), [67, 134, 135]],
    // So does a pair of surrogates.
    [`${'日'.repeat(66)}👍${'日'.repeat(10)}`, [66, 78]],
  ])('%.20s… ends at %j', (text, ends) => {
    expect(smsPartEnds(text)).toEqual(ends);
    expect(smsParts(text).parts).toBe(ends.length);
  });
});

it('characters that count twice are named once, in their order', () => {
  expect(doubledCharacters('[a] €5 [b] {c}')).toEqual(['[', ']', '€', '{', '}']);
  expect(doubledCharacters('plain')).toEqual([]);
});
