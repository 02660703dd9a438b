import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { arbitraryPdu } from '../../../../test/support/smpp/arbitrary-pdu.js';
import { SmppDecodeError } from '../errors.js';
import { readReceipt } from '../receipt.js';
import { decodeText } from '../text/data-coding.js';
import { messageOf } from '../text/long-message.js';
import { decodePdu } from './decode.js';
import { encodePdu } from './encode.js';
import { FrameDecoder } from './frame-decoder.js';

/** Mutated PDUs; `FUZZ_PDUS=1000000` in the full form (`npm run test:fuzz`). */
const COUNT = Number(process.env.FUZZ_PDUS ?? 20_000);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
const SAMPLES = 500;

/** A fast generator of whole numbers below `limit`. */
function random(seed: number): (limit: number) => number {
  let state = seed | 1;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Flips, cuts, repeats and inserts bytes; the length fits in three of four. */
function mutated(sample: Buffer, below: (limit: number) => number): Buffer {
  let bytes = Buffer.from(sample);
  for (let times = 1 + below(4); times > 0; times--) {
    const at = 4 + below(bytes.length - 4);
    switch (below(4)) {
      case 0:
        bytes[at] = below(256);
        break;
      case 1:
        bytes = bytes.subarray(0, Math.max(16, at));
        break;
      case 2:
        bytes = Buffer.concat([bytes, bytes.subarray(at)]).subarray(0, 4_000);
        break;
      case 3:
        bytes[at] = below(2) === 0 ? 0 : 0xff;
        break;
    }
  }
  bytes = Buffer.from(bytes);
  bytes.writeUInt32BE(below(4) === 0 ? below(100_000) : bytes.length);
  return bytes;
}

// Vendors' bugs come as any bytes: a decoder that throws anything else would end the process.
it(`${COUNT} mutated PDUs are decoded or refused, and nothing else (seed ${SEED})`, () => {
  const samples = fc
    .sample(arbitraryPdu, { numRuns: SAMPLES, seed: SEED })
    .map((pdu) => encodePdu(pdu));
  const below = random(SEED);
  let [decoded, refused, wrongLengths, beyond] = [0, 0, 0, 0];
  for (let index = 0; index < COUNT; index++) {
    const bytes = mutated(samples[below(SAMPLES)] as Buffer, below);
    const frames = new FrameDecoder();
    try {
      for (const frame of frames.push(bytes)) {
        const pdu = decodePdu(frame);
        decoded++;
        if (!('esmClass' in pdu) || !('dataCoding' in pdu)) continue;
        // The layers above read it without an error, too.
        decodeText(messageOf(pdu).bytes, pdu.dataCoding);
        readReceipt(pdu);
      }
    } catch (error) {
      if (!(error instanceof SmppDecodeError)) throw error;
      if (error.header) refused++;
      else wrongLengths++;
    }
    if (frames.pending > bytes.length) beyond++;
  }
  expect(beyond).toBe(0);
  // The mutations reach each of the ways out.
  for (const count of [decoded, refused, wrongLengths]) expect(count).toBeGreaterThan(COUNT / 50);
});

it('memory does not grow over mutated PDUs', async () => {
  const below = random(SEED);
  const samples = fc.sample(arbitraryPdu, { numRuns: 50, seed: SEED }).map((pdu) => encodePdu(pdu));
  const frames = new FrameDecoder();
  const run = (count: number): void => {
    for (let index = 0; index < count; index++)
      try {
        for (const frame of frames.push(mutated(samples[below(50)] as Buffer, below)))
          decodePdu(frame);
      } catch (error) {
        if (!(error instanceof SmppDecodeError)) throw error;
      }
  };
  run(5_000);
  const before = await held();
  run(COUNT);
  // One unfinished PDU is at most 72 KiB; a PDU kept of each would be more than 4 MiB.
  expect((await held()) - before).toBeLessThan(4 * 2 ** 20);
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes of objects and buffers; V8 frees the memory of collected buffers a turn later. */
async function held(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
