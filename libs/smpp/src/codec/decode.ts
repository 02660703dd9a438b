import { COMMAND_STATUS } from '../command-status.js';
import { type PduHeader, SmppDecodeError } from '../errors.js';
import { BODIES, type BodyCodec } from './bodies.js';
import { ByteReader, OverrunError } from './byte-reader.js';
import { commandOf } from './commands.js';
import type { Pdu } from './pdu.js';
import { readTlvs } from './tlvs.js';

/** Bytes of the header. */
export const HEADER_LENGTH = 16;

/**
 * The header of a PDU.
 * @throws SmppDecodeError for fewer than 16 bytes
 */
export function decodeHeader(bytes: Buffer): PduHeader {
  if (bytes.length < HEADER_LENGTH)
    throw new SmppDecodeError('Shorter than a header', COMMAND_STATUS.ESME_RINVCMDLEN);
  return {
    length: bytes.readUInt32BE(0),
    commandId: bytes.readUInt32BE(4),
    status: bytes.readUInt32BE(8),
    sequence: bytes.readUInt32BE(12),
  };
}

/**
 * Decodes one whole PDU. Texts may be longer than the specification allows, up to the end of the PDU;
 * an answer may lack its body. `shortMessage` and TLVs are views of `bytes`.
 * @throws SmppDecodeError with the status to answer with
 * @example
 * const pdu = decodePdu(bytes);
 * if (pdu.command === 'deliver_sm') console.log(pdu.source.address, decodeText(pdu.shortMessage, pdu.dataCoding));
 */
export function decodePdu(bytes: Buffer): Pdu {
  const header = decodeHeader(bytes);
  if (header.length !== bytes.length)
    throw new SmppDecodeError(
      `command_length is ${header.length}, the PDU has ${bytes.length} bytes`,
      COMMAND_STATUS.ESME_RINVCMDLEN,
    );
  const command = commandOf(header.commandId);
  if (command === undefined)
    throw new SmppDecodeError(
      `No command of SMPP 3.4 has the id 0x${header.commandId.toString(16).padStart(8, '0')}`,
      COMMAND_STATUS.ESME_RINVCMDID,
      header,
    );
  const { status, sequence } = header;
  const reader = new ByteReader(bytes, HEADER_LENGTH, bytes.length);
  const codec = BODIES[command] as BodyCodec<object>;
  let isBody = true;
  try {
    const body =
      codec.absent !== undefined && reader.remaining === 0 ? codec.absent : codec.read(reader);
    isBody = false;
    const tlvs = readTlvs(reader);
    return { command, status, sequence, tlvs, ...body } as Pdu;
  } catch (error) {
    if (!(error instanceof OverrunError)) throw error;
    throw new SmppDecodeError(
      `${command}: ${error.message}`,
      isBody ? COMMAND_STATUS.ESME_RINVCMDLEN : COMMAND_STATUS.ESME_RINVOPTPARSTREAM,
      header,
    );
  }
}
