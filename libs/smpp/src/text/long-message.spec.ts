import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SmppValueError } from '../errors.js';
import { DATA_CODING, decodeText, encodeText } from './data-coding.js';
import { messageOf, type MessagePart, splitMessage } from './long-message.js';
import { MessageAssembler } from './message-assembler.js';
import { readUserDataHeader, writeUserDataHeader } from './user-data-header.js';

const received = ({ tlvs = {}, ...part }: MessagePart) => messageOf({ tlvs, ...part });

/** As a receiver joins them, from the last to the first. */
function joined(parts: readonly MessagePart[]) {
  const assembler = new MessageAssembler();
  const found = parts.toReversed().map((part) => {
    const { bytes, concatenation } = received(part);
    return concatenation ? assembler.add('a b', concatenation, bytes) : bytes;
  });
  expect(assembler.size).toBe(0);
  return found.at(-1);
}

describe('splitting', () => {
  it.each(['udh', 'sar', 'payload'] as const)(
    'any text by %s comes back byte for byte',
    (method) => {
      const text = fc.oneof(
        fc.string({ unit: fc.constantFrom('a', 'é', '€', '[', ' '), maxLength: 2_000 }),
        fc.string({ unit: fc.constantFrom('a', 'я', '😀'), maxLength: 1_000 }),
      );
      fc.assert(
        fc.property(
          text,
          fc.integer({ min: 0, max: 65_535 }),
          fc.constantFrom(8, 16),
          (long, reference, bits) => {
            const encoded = encodeText(long);
            const parts = splitMessage(encoded, {
              method,
              reference,
              referenceBits: bits as 8 | 16,
            });
            expect(joined(parts)).toEqual(encoded.bytes);
            for (const part of parts) {
              const { bytes } = received(part);
              // Each part is readable by itself: nothing is cut within a character.
              expect(decodeText(bytes, part.dataCoding)).not.toMatch(
                /[\ud800-\udbff]$|^[\udc00-\udfff]/,
              );
              expect(part.shortMessage.length).toBeLessThanOrEqual(
                part.dataCoding === 0 ? 160 : 140,
              );
            }
          },
        ),
      );
    },
  );

  it.each([
    [160, 8, 1],
    [161, 8, 2],
    [306, 8, 2],
    [307, 8, 3],
    [304, 16, 2],
    [305, 16, 3],
  ] as const)('%i septets with a reference of %i bits take %i parts', (count, bits, parts) => {
    const encoded = encodeText('a'.repeat(count));
    expect(splitMessage(encoded, { reference: 1, referenceBits: bits })).toHaveLength(parts);
  });

  it.each([
    [70, 1],
    [71, 2],
    [134, 2],
    [135, 3],
  ])('%i characters of UCS-2 take %i parts', (count, parts) => {
    expect(splitMessage(encodeText('я'.repeat(count)), { reference: 1 })).toHaveLength(parts);
  });

  it('the parts of a header have the bytes of the standard', () => {
    const [first, second] = splitMessage(encodeText('a'.repeat(161)), { reference: 0x1a7 });
    expect(first?.esmClass).toBe(0x40);
    expect(first?.shortMessage.subarray(0, 6)).toEqual(Buffer.from([5, 0, 3, 0xa7, 2, 1]));
    expect(second?.shortMessage.subarray(0, 6)).toEqual(Buffer.from([5, 0, 3, 0xa7, 2, 2]));
    const wide = splitMessage(encodeText('a'.repeat(161)), { reference: 0x1a7, referenceBits: 16 });
    expect(wide[0]?.shortMessage.subarray(0, 7)).toEqual(Buffer.from([6, 8, 4, 1, 0xa7, 2, 1]));
  });

  it('a message of more than 255 parts, or 65,535 bytes, is an error that names the limit', () => {
    const encoded = { bytes: Buffer.alloc(70_000), dataCoding: DATA_CODING.binary };
    expect(() => splitMessage(encoded, { reference: 1 })).toThrow(SmppValueError);
    expect(() => splitMessage(encoded, { reference: 1, method: 'payload' })).toThrow(/65535 bytes/);
  });
});

describe('user data headers', () => {
  it('the elements of a user data header are read as written', () => {
    const elements = [
      { id: 5, data: Buffer.from([0x0b, 0x84, 0, 0]) },
      { id: 0, data: Buffer.from([9, 2, 1]) },
    ];
    expect(
      readUserDataHeader(Buffer.concat([writeUserDataHeader(elements), Buffer.from('x')])),
    ).toEqual({
      elements,
      length: 12,
      concatenation: { reference: 9, total: 2, part: 1, bits: 8 },
    });
  });

  it.each([
    ['nothing', ''],
    ['a header longer than the message', '0500'],
    ['an element longer than the header', '03000901'],
    ['half an element', '0100'],
  ])('%s is read as no header', (_what, bytes) => {
    expect(readUserDataHeader(Buffer.from(bytes, 'hex'))).toBeUndefined();
  });

  it.each(['0003070001', '0003070203', '0003070200', '00020702'])(
    'an impossible place (%s) is no concatenation',
    (element) => {
      const bytes = Buffer.from(element, 'hex');
      const header = readUserDataHeader(Buffer.concat([Buffer.from([bytes.length]), bytes]));
      expect(header).toMatchObject({ length: bytes.length + 1 });
      expect(header?.concatenation).toBeUndefined();
    },
  );

  it('a message with an unreadable header is read as its bytes', () => {
    const shortMessage = Buffer.from('ff00', 'hex');
    expect(messageOf({ esmClass: 0x40, shortMessage, tlvs: {} })).toEqual({ bytes: shortMessage });
  });
});

describe('joining', () => {
  const part = (number: number, text: string, reference = 1) =>
    [{ reference, total: 2, part: number }, Buffer.from(text)] as const;

  it('a repeated part changes nothing, and equal references of other senders do not mix', () => {
    const assembler = new MessageAssembler();
    expect(assembler.add('a', ...part(1, 'one'))).toBeUndefined();
    expect(assembler.add('a', ...part(1, 'other'))).toBeUndefined();
    expect(assembler.add('b', ...part(2, 'two'))).toBeUndefined();
    expect(assembler.add('a', ...part(2, 'two'))?.toString()).toBe('onetwo');
    expect(assembler.size).toBe(1);
  });

  it('above the limit the oldest unfinished message is dropped', () => {
    const assembler = new MessageAssembler({ maxMessages: 2 });
    for (const from of ['a', 'b', 'c']) assembler.add(from, ...part(1, from));
    expect(assembler.size).toBe(2);
    expect(assembler.add('a', ...part(2, '2'))).toBeUndefined();
    expect(assembler.add('c', ...part(2, '2'))?.toString()).toBe('c2');
  });

  it('a message that is not complete in time is forgotten', () => {
    let now = 0;
    const assembler = new MessageAssembler({ maxAge: 1_000, now: () => now });
    assembler.add('a', ...part(1, '1'));
    now = 1_001;
    expect(assembler.add('a', ...part(2, '2'))).toBeUndefined();
    expect(assembler.size).toBe(1);
  });
});
