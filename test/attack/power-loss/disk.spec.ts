import { expect, it } from '@jest/globals';
import { Disk, withoutLastRecord } from './disk.js';

const DIRECTORY = '/data';
const LOG = 'log';
const lost = () => 0.9;

/** A record of `journal.c`. */
function record(kind: string, offset: number, data = ''): Buffer {
  const path = `${DIRECTORY}/${LOG}`;
  const head = Buffer.alloc(21);
  head.write(kind, 'latin1');
  head.writeUInt32LE(path.length, 1);
  head.writeBigInt64LE(BigInt(offset), 5);
  head.writeBigUInt64LE(BigInt(data.length), 13);
  return Buffer.concat([head, Buffer.from(path), Buffer.from(data)]);
}

it('two replays of a journal from the same files do not change each other', () => {
  const base = new Map([[LOG, Buffer.from('----')]]);
  const journal = Buffer.concat([
    record('W', 0, 'old!'),
    record('B', 1),
    record('E', 1),
    record('W', 0, 'new!'),
    record('B', 2),
    record('E', 2),
  ]);
  const disk = new Disk(DIRECTORY, base, journal);
  const before = new Disk(DIRECTORY, base, withoutLastRecord(journal));
  const text = (one: Disk) => one.after(lost).get(LOG)?.toString();
  expect([text(disk), text(before)]).toEqual(['new!', 'old!']);
});
