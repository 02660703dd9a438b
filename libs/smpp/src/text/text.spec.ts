import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import smpp from 'smpp';
import { SmppValueError } from '../errors.js';
import {
  decodeText,
  decodeUcs2,
  encodeLatin1,
  encodeText,
  encodeUcs2,
  encodingOf,
} from './data-coding.js';
import { decodeGsm7, encodeGsm7, isGsm7 } from './gsm7.js';

const GSM =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà\f^{}\\[~]|€';
const gsmText = fc.string({ unit: fc.constantFrom(...Array.from(GSM)), maxLength: 300 });

describe('GSM 03.38', () => {
  it('every text has the bytes that the package smpp writes, and is read back', () => {
    fc.assert(
      fc.property(gsmText, (text) => {
        const bytes = encodeGsm7(text);
        expect(bytes).toEqual(smpp.encodings.ASCII.encode(text));
        expect(decodeGsm7(bytes)).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it('each character of GSM 03.38 has the code of the standard', () => {
    expect(encodeGsm7('@_Ç€[à')).toEqual(
      Buffer.from([0x00, 0x11, 0x09, 0x1b, 0x65, 0x1b, 0x3c, 0x7f]),
    );
  });

  it.each(['ç', '`', 'я', '😀', '\u001b', '\u0000', '\t'])(
    '%j has no code in GSM 03.38',
    (text) => {
      expect(isGsm7(text)).toBe(false);
      expect(() => encodeGsm7(text)).toThrow(SmppValueError);
    },
  );

  it('an escape before another code, or at the end, is dropped', () => {
    expect(decodeGsm7(Buffer.from([0x1b, 0x41, 0x1b]))).toBe('A');
    expect(decodeGsm7(Buffer.from([0xc1]))).toBe('A');
  });
});

describe('other encodings', () => {
  it('Latin-1 and UCS-2 are those of the package smpp, and are read back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(encodeUcs2(text)).toEqual(smpp.encodings.UCS2.encode(text));
        expect(decodeUcs2(encodeUcs2(text))).toBe(text);
      }),
    );
    const latin1 = fc.string({ unit: fc.nat(0xff).map((code) => String.fromCharCode(code)) });
    fc.assert(
      fc.property(latin1, (text) => {
        expect(encodeLatin1(text)).toEqual(smpp.encodings.LATIN1.encode(text));
        expect(() => encodeLatin1(`${text}Ω`)).toThrow(SmppValueError);
      }),
    );
  });

  it('a text takes GSM 03.38 where it can, else UCS-2, and decodes to itself', () => {
    expect(encodeText('Grüße für 5 €').dataCoding).toBe(0);
    expect(encodeText('Привет 😀').dataCoding).toBe(8);
    fc.assert(
      fc.property(fc.oneof(gsmText, fc.string({ unit: 'grapheme' })), (text) => {
        const { bytes, dataCoding } = encodeText(text);
        expect(decodeText(bytes, dataCoding)).toBe(text);
      }),
    );
  });

  it('a last odd byte of UCS-2 is dropped', () => {
    expect(decodeUcs2(Buffer.from([0x04, 0x1f, 0x04]))).toBe('П');
  });

  it.each([
    [0x00, 'gsm7'],
    [0x01, 'ascii'],
    [0x02, 'binary'],
    [0x03, 'latin1'],
    [0x04, 'binary'],
    [0x08, 'ucs2'],
    [0xc8, 'gsm7'],
    [0xe8, 'ucs2'],
    [0xf0, 'gsm7'],
    [0xf5, 'binary'],
  ] as const)('data_coding %i is %s', (dataCoding, encoding) => {
    expect(encodingOf(dataCoding)).toBe(encoding);
  });

  it('data_coding 0 has the default alphabet of the SMSC', () => {
    expect(decodeText(Buffer.from('ä', 'latin1'), 0, { dataCoding0: 'latin1' })).toBe('ä');
    expect(decodeText(Buffer.from([0x7b]), 0)).toBe('ä');
    expect(decodeText(Buffer.from([1]), 4)).toBeUndefined();
  });

  it.each([
    ['£ $ @ é €', undefined, '£ $ @ é €'],
    // No byte below 0x20: the bytes mean other characters in ASCII.
    ['Köln', undefined, 'K|ln'],
    ['Köln', 'gsm7', 'Köln'],
    ['é', 'ascii', '\u0005'],
  ] as const)(
    'data_coding 1 with GSM 03.38 bytes of %j and the alphabet %s is %j',
    (text, dataCoding1, read) => {
      const bytes = smpp.encodings.ASCII.encode(text);
      expect(decodeText(bytes, 1, dataCoding1 && { dataCoding1 })).toBe(read);
    },
  );

  it('data_coding 1 in ASCII keeps line breaks', () => {
    const text = 'Hello {you} [at] home\r\nNext ~ | ^ \\';
    expect(decodeText(Buffer.from(text, 'latin1'), 1)).toBe(text);
  });
});
