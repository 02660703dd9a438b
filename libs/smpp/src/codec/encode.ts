import { SmppValueError } from '../errors.js';
import { BODIES, type BodyCodec } from './bodies.js';
import { ByteWriter } from './byte-writer.js';
import { type Command, COMMAND_ID, isResponseId } from './commands.js';
import type { PduInput } from './pdu.js';
import { type Tlvs, writeTlvs } from './tlvs.js';

/** The highest sequence number (section 3.2). */
export const MAX_SEQUENCE = 0x7fff_ffff;

/** Encoding never waits, so that one writer is enough. */
const writer = new ByteWriter();

/**
 * The bytes of a PDU. An answer with a status other than 0 is its header only, unless it has TLVs.
 * @throws SmppValueError naming the field that SMPP cannot carry
 * @example
 * const bytes = encodePdu({
 *   command: 'submit_sm', sequence: 1, destination: { ton: 1, npi: 1, address: '2348012345678' },
 *   shortMessage: encodeGsm7('Hello') });
 */
export function encodePdu<C extends Command>(pdu: PduInput<C>): Buffer {
  const { command, sequence, status = 0, tlvs } = pdu as PduHead;
  const id = COMMAND_ID[command] as number | undefined;
  if (id === undefined) throw new SmppValueError('command', 'use a command of SMPP 3.4');
  // An answer repeats any number of the peer's.
  if (!(sequence >= 1 && sequence <= MAX_SEQUENCE) && !isResponseId(id))
    throw new SmppValueError('sequence', `use an integer from 1 to ${MAX_SEQUENCE}`);
  writer.start();
  writer.uint32(0, 'length');
  writer.uint32(id, 'command');
  writer.uint32(status, 'status');
  writer.uint32(sequence, 'sequence');
  if (status === 0 || tlvs !== undefined || !isResponseId(id)) {
    (BODIES[command] as BodyCodec<unknown>).write(writer, pdu as object);
    if (tlvs !== undefined) writeTlvs(writer, tlvs);
  }
  writer.uint32At(0, writer.length);
  return writer.finish();
}

interface PduHead {
  readonly command: Command;
  readonly sequence: number;
  readonly status?: number;
  readonly tlvs?: Tlvs;
}
