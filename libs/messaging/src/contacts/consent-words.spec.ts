import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MessagingConfigError } from '../message/errors.js';
import { CONSENT_WORDS, consentWords } from './consent-words.js';

const read = consentWords();

describe('consent words', () => {
  it.each([
    'STOP',
    ' stop ',
    'Stop.',
    '"STOP!"',
    'ｓｔｏｐ',
    'stop\u0301',
    'opt  out',
    'ARRET',
    'arrêt',
    'Arre\u0302t',
    'désabonner',
    'kwusi',
    'Kwụsị!',
    'duro',
    'إيقاف',
    'ايقاف',
  ])('%j opts out', (text) => {
    expect(read(text)).toBe('opted_out');
  });

  it.each(['START', 'unstop', 'bere', 'BẸ̀RẸ̀', 'começar', 'comecar', 'ابدأ'])(
    '%j opts in',
    (text) => {
      expect(read(text)).toBe('opted_in');
    },
  );

  it.each(['', 'stopped', 'nonstop', 'please stop', 'stop it', 'bus stop 17', '1', '👍', 'no'])(
    '%j changes no consent',
    (text) => {
      expect(read(text)).toBeUndefined();
    },
  );

  it('consent words match in any case with punctuation and white space', () => {
    const words = Object.values(CONSENT_WORDS).flatMap(({ stop, start }) => [
      ...stop.map((word) => [word, 'opted_out'] as const),
      ...start.map((word) => [word, 'opted_in'] as const),
    ]);
    const around = fc.string({ unit: fc.constantFrom(' ', '\n', '\t', '.', '!', '«', '»', '"') });
    fc.assert(
      fc.property(fc.constantFrom(...words), around, around, fc.boolean(), (pair, l, r, upper) => {
        const [word, meaning] = pair;
        const written = upper ? word.toUpperCase() : word.normalize('NFD');
        expect(read(`${l}${written}${r}`)).toBe(meaning);
      }),
    );
  });

  it('consent words are matched quickly in any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        read(text);
      }),
    );
    expect(read(' '.repeat(1_000_000))).toBeUndefined();
  });

  it('configured words replace the defaults and ambiguous words are refused', () => {
    const own = consentWords({ tr: { stop: ['dur'], start: ['başla'] } });
    expect(own('DUR')).toBe('opted_out');
    expect(own('BAŞLA')).toBe('opted_in');
    expect(own('stop')).toBeUndefined();
    const both = { en: { stop: ['Go'], start: ['go'] } };
    expect(() => consentWords(both)).toThrow(MessagingConfigError);
  });
});
