import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalMessageId, messageIdForms } from './message-id.js';
import { isReceipt, MESSAGE_STATE, readReceipt, writeReceipt } from './receipt.js';

const receipt = (text: string, more: object = {}) =>
  readReceipt(
    { esmClass: 4, dataCoding: 0, shortMessage: Buffer.from(text, 'latin1'), tlvs: {}, ...more },
    { timeZone: 'Africa/Lagos' },
  );

describe('delivery receipts', () => {
  it('a receipt in the usual form is read field by field', () => {
    expect(
      receipt(
        'id:0123456789 sub:001 dlvrd:001 submit date:2611240900 done date:261124090105 stat:DELIVRD err:000 text:Hello id:9 stat:REJECTD',
      ),
    ).toEqual({
      messageId: '0123456789',
      state: 'delivered',
      rawState: 'DELIVRD',
      error: '000',
      networkError: undefined,
      submitted: 1,
      delivered: 1,
      submitDate: new Date('2026-11-24T08:00:00Z'),
      doneDate: new Date('2026-11-24T08:01:05Z'),
      text: 'Hello id:9 stat:REJECTD',
      userMessageReference: undefined,
      isIntermediate: false,
    });
  });

  it.each([
    ['other order', 'stat:UNDELIV err:12 id:7a done date:2611240900', '7a', 'undeliverable', '12'],
    ['letters of any size', 'ID:7 STAT:Expired ERR:0001', '7', 'expired', '0001'],
    ['spaces around the values', 'id: 7 stat: REJECTD err: 5', '7', 'rejected', '5'],
    ['fields missing', 'id:7 stat:ACCEPTD', '7', 'accepted', undefined],
    ['the text first', 'text:Hello id:7 stat:DELIVRD', '7', 'delivered', undefined],
    [
      'underscores',
      'id:7 submit_date:2611240900 done_date:2611240900 stat:UNKNOWN',
      '7',
      'unknown',
      undefined,
    ],
    ['a number as the state', 'id:7 stat:2', '7', 'delivered', undefined],
    ['an id that is a UUID', 'id:0b7e-11 stat:ENROUTE err:', '0b7e-11', 'enroute', undefined],
    ['an unknown word', 'id:7 stat:PENDING', '7', undefined, undefined],
    ['NUL at its end', 'stat:DELIVRD id:ID1\0', 'ID1', 'delivered', undefined],
    ['NUL after the id', 'id:ID1\0 stat:DELIVRD', 'ID1', 'delivered', undefined],
    ['NUL after each field', 'id:ID1\0stat:UNDELIV\0err:012\0', 'ID1', 'undeliverable', '012'],
    ['the text before the state', 'id:7 text:Hello stat:DELIVRD err:003', '7', 'delivered', '003'],
    [
      'a state in the message before its own',
      'id:7 text:stat:REJECTD id:9 stat:DELIVRD err:000',
      '7',
      'delivered',
      '000',
    ],
    [
      'fields in the message behind the state',
      'id:7 stat:UNDELIV text:err:9 stat:DELIVRD',
      '7',
      'undeliverable',
      undefined,
    ],
    ['stat:FAILED', 'id:7 stat:FAILED err:001', '7', 'undeliverable', '001'],
    ['stat:SKIPPED', 'id:7 stat:SKIPPED', '7', 'rejected', undefined],
    ['no field at all', 'Thank you', undefined, undefined, undefined],
  ])('a text with %s is read', (_what, text, messageId, state, error) => {
    expect(receipt(text)).toMatchObject({ messageId, state, error });
  });

  it('TLVs come before the text', () => {
    const tlvs = {
      receiptedMessageId: 'A1',
      messageState: MESSAGE_STATE.expired,
      networkErrorCode: Buffer.from([3, 0, 27]),
      userMessageReference: 9,
    };
    expect(receipt('id:B2 stat:DELIVRD err:027', { tlvs })).toMatchObject({
      messageId: 'A1',
      state: 'expired',
      rawState: 'DELIVRD',
      error: '027',
      networkError: { type: 3, code: 27 },
      userMessageReference: 9,
    });
  });

  it('an id in a TLV that is padded with NUL is read', () => {
    const tlvs = { receiptedMessageId: 'ID1\0\0', messageState: 2 };
    expect(receipt('', { tlvs })).toMatchObject({ messageId: 'ID1', state: 'delivered' });
  });

  it.each([
    '2611240900',
    '261124090000',
    '202611240900',
    '20261124090000',
    '2026-11-24 09:00:00',
    '26/11/24 09:00',
  ])('the date %s is read', (date) => {
    const text = `id:7 submit date:${date} done date:${date} stat:DELIVRD err:000 text:`;
    const time = new Date('2026-11-24T08:00:00Z');
    expect(receipt(text)).toMatchObject({ submitDate: time, doneDate: time, state: 'delivered' });
  });

  it('a receipt in message_payload or UCS-2 is read', () => {
    const text = 'id:7 stat:DELIVRD';
    const messagePayload = Buffer.from(text);
    expect(receipt('', { tlvs: { messagePayload } })).toMatchObject({ state: 'delivered' });
    const ucs2 = { dataCoding: 8, shortMessage: Buffer.from(text, 'utf16le').swap16() };
    expect(receipt('', ucs2)).toMatchObject({ messageId: '7', state: 'delivered' });
  });

  it('a text of a person is no receipt, whatever it says', () => {
    expect(receipt('id:7 stat:DELIVRD', { esmClass: 0 })).toBeUndefined();
    expect(isReceipt({ esmClass: 0x08, tlvs: {} })).toBe(false);
    const tlvs = { receiptedMessageId: '7', messageState: 2 };
    expect(isReceipt({ esmClass: 0, tlvs })).toBe(true);
    expect(receipt('', { esmClass: 0x20, tlvs })).toMatchObject({ isIntermediate: true });
  });

  it('any text is read without an error', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary-ascii', maxLength: 300 }),
        fc.constantFrom('id:', 'stat:', 'err:', 'text:', ' '),
        (text, key) => {
          expect(receipt(`${key}${text}${key}`)).toBeDefined();
        },
      ),
    );
  });

  it('a written receipt is read back', () => {
    const written = writeReceipt({
      messageId: '7',
      state: 'undeliverable',
      submitDate: new Date('2026-11-24T08:00:00Z'),
      doneDate: new Date('2026-11-24T08:01:00Z'),
      error: '012',
      text: 'Grüße an alle, die es lesen',
    });
    expect(written.shortMessage.toString()).toBe(
      'id:7 sub:001 dlvrd:000 submit date:2611240800 done date:2611240801 stat:UNDELIV err:012 text:Gr??e an alle, die e',
    );
    expect(readReceipt(written)).toMatchObject({
      messageId: '7',
      state: 'undeliverable',
      error: '012',
    });
  });
});

describe('ids of messages', () => {
  it('an id is looked for as written, without leading zeros and converted', () => {
    expect(messageIdForms('007')).toEqual(['007', '7']);
    expect(messageIdForms('0305441741', 'hex')).toEqual([
      '0305441741',
      '305441741',
      '1234abcd',
      '1234ABCD',
    ]);
    expect(messageIdForms('0x1', 'hex')).toEqual(['0x1', 'x1']);
    expect(messageIdForms('1234abcd', 'decimal')).toEqual(['1234abcd', '305441741']);
    expect(messageIdForms('0b7e-11', 'decimal')).toEqual(['0b7e-11', 'b7e-11']);
    expect(messageIdForms('0')).toEqual(['0']);
  });

  it('the id of an answer and the one of its receipt have one canonical form', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.boolean(), (id, isPadded) => {
        const [decimal, hex] = [id.toString(), id.toString(16).toUpperCase()].map((text) =>
          isPadded ? text.padStart(20, '0') : text,
        ) as [string, string];
        expect(canonicalMessageId(hex, 'hex', 'answer')).toBe(
          canonicalMessageId(decimal, 'hex', 'receipt'),
        );
        expect(canonicalMessageId(decimal, 'decimal', 'answer')).toBe(
          canonicalMessageId(hex, 'decimal', 'receipt'),
        );
      }),
    );
  });
});
