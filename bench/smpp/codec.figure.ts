import { decodePdu, decodeText, encodePdu, encodeText } from '@dundun/smpp';
import smpp from 'smpp';
import type { Request } from '../harness/extent.js';
import { moment } from '../harness/moment.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, type Count, ratio, type Side } from '../harness/rounds.js';

const TEXT =
  'Your one-time code is 482913. It is valid for ten minutes; do not share it with others.';
const DESTINATION = '2348012345678';
/** PDUs between two looks at the clock. */
const GROUP = 1_000;

/** C1, C2: a `submit_sm` with its text and a TLV, encoded and decoded, by both codecs in one process. */
export async function measureCodec(book: ResultBook, asked: Request): Promise<void> {
  const bytes = ours();
  if (!bytes.equals(theirs())) throw new Error('The codecs write different bytes');
  const figures = [
    { id: 'C1', what: 'encode', ours, theirs },
    { id: 'C2', what: 'decode', ours: () => readOurs(bytes), theirs: () => readTheirs(bytes) },
  ];
  for (const { id, what, ours: own, theirs: other } of figures) {
    if (!asked.wants(id)) continue;
    const sides = [side('@dundun/smpp', own, asked.ms), side('smpp 0.5.1', other, asked.ms)];
    const [first, second] = await alternate(sides, asked.rounds);
    if (!first || !second) throw new Error('a side is missing');
    book.sides(id, '–', [first, second]);
    book.figure({
      id,
      database: '–',
      what: `${what}: PDUs ÷ smpp 0.5.1`,
      value: ratio(first, second),
      goal: ['>=', 2],
    });
  }
}

function side(name: string, work: () => unknown, ms: number): Side {
  return { name, pid: process.pid, run: () => Promise.resolve(repeated(work, ms)) };
}

function repeated(work: () => unknown, ms: number): Count {
  const start = moment();
  let count = 0;
  while (moment() - start < ms) {
    for (let index = 0; index < GROUP; index++) work();
    count += GROUP;
  }
  return { count, ms: moment() - start };
}

function ours(): Buffer {
  const { bytes, dataCoding } = encodeText(TEXT);
  return encodePdu({
    command: 'submit_sm',
    sequence: 7,
    source: { ton: 5, npi: 0, address: 'ACME' },
    destination: { ton: 1, npi: 1, address: DESTINATION },
    registeredDelivery: 1,
    dataCoding,
    shortMessage: bytes,
    tlvs: { userMessageReference: 7 },
  });
}

function theirs(): Buffer {
  return new smpp.PDU('submit_sm', {
    sequence_number: 7,
    source_addr_ton: 5,
    source_addr_npi: 0,
    source_addr: 'ACME',
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: DESTINATION,
    registered_delivery: 1,
    data_coding: 0,
    short_message: TEXT,
    user_message_reference: 7,
  }).toBuffer();
}

function readOurs(bytes: Buffer): string | undefined {
  const pdu = decodePdu(bytes);
  return pdu.command === 'submit_sm' ? decodeText(pdu.shortMessage, pdu.dataCoding) : undefined;
}

/** It decodes the text by itself. */
function readTheirs(bytes: Buffer): unknown {
  return new smpp.PDU(bytes).short_message;
}
