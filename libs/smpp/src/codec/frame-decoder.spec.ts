import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { arbitraryPdu } from '../../../../test/support/smpp/arbitrary-pdu.js';
import { encodePdu } from './encode.js';
import { FrameDecoder } from './frame-decoder.js';

it('PDUs come out whole and in order, however the stream is cut', () => {
  fc.assert(
    fc.property(
      fc.array(arbitraryPdu, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }),
      (pdus, cuts) => {
        const frames = pdus.map((pdu) => encodePdu(pdu));
        const stream = Buffer.concat(frames);
        const decoder = new FrameDecoder();
        const found: Buffer[] = [];
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const size = cuts[turn % cuts.length] as number;
          found.push(
            ...[...decoder.push(stream.subarray(at, at + size))].map((each) => Buffer.from(each)),
          );
          at += size;
        }
        expect(found).toEqual(frames);
        expect(decoder.pending).toBe(0);
      },
    ),
    { numRuns: 300 },
  );
});

it('a stream of single bytes gives its PDUs', () => {
  const frames = [1, 2, 3].map((sequence) => encodePdu({ command: 'enquire_link', sequence }));
  const decoder = new FrameDecoder();
  const found = Array.from(Buffer.concat(frames)).flatMap((byte) => [
    ...decoder.push(Buffer.from([byte])),
  ]);
  expect(found).toEqual(frames);
});

it.each([0, 15, 73_729, 0xffff_ffff])(
  'a length of %d ends the stream after the PDUs before it',
  (length) => {
    const good = encodePdu({ command: 'enquire_link', sequence: 1 });
    const bad = Buffer.alloc(16);
    bad.writeUInt32BE(length);
    const found: Buffer[] = [];
    expect(() => {
      for (const frame of new FrameDecoder().push(Buffer.concat([good, bad]))) found.push(frame);
    }).toThrow(expect.objectContaining({ code: 'malformed_pdu', header: undefined }));
    expect(found).toEqual([good]);
  },
);
