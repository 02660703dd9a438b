import { describe, expect, it } from '@jest/globals';
import { smsParts, ucs2Characters } from './sms-parts.js';

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
