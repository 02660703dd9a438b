import { SmppValueError } from '../errors.js';
import { type ByteReader, text } from './byte-reader.js';
import type { ByteWriter } from './byte-writer.js';

/** A TLV that this package does not know, or whose length is not the one of its type. */
export interface UnknownTlv {
  readonly tag: number;
  readonly value: Buffer;
}

/**
 * The optional parameters of a PDU (section 5.3). Numbers are unsigned. A parameter that is repeated,
 * where the specification has it once, is kept in `unknown` from the second on.
 */
export interface Tlvs {
  readonly destAddrSubunit?: number;
  readonly destNetworkType?: number;
  readonly destBearerType?: number;
  readonly destTelematicsId?: number;
  readonly sourceAddrSubunit?: number;
  readonly sourceNetworkType?: number;
  readonly sourceBearerType?: number;
  readonly sourceTelematicsId?: number;
  /** Seconds. */
  readonly qosTimeToLive?: number;
  readonly payloadType?: number;
  readonly additionalStatusInfoText?: string;
  readonly receiptedMessageId?: string;
  readonly msMsgWaitFacilities?: number;
  readonly privacyIndicator?: number;
  readonly sourceSubaddress?: Buffer;
  readonly destSubaddress?: Buffer;
  /** The sender's own number for a message, 0 to 65,535; receipts may repeat it. */
  readonly userMessageReference?: number;
  readonly userResponseCode?: number;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly sarMsgRefNum?: number;
  readonly languageIndicator?: number;
  readonly sarTotalSegments?: number;
  readonly sarSegmentSeqnum?: number;
  /** The version of SMPP that the SMSC supports: 0x34. */
  readonly scInterfaceVersion?: number;
  readonly callbackNumPresInd?: readonly number[];
  readonly callbackNumAtag?: readonly Buffer[];
  readonly numberOfMessages?: number;
  readonly callbackNum?: readonly Buffer[];
  readonly dpfResult?: number;
  readonly setDpf?: number;
  readonly msAvailabilityStatus?: number;
  /** Three bytes: type of the network, and its error in 16 bits. */
  readonly networkErrorCode?: Buffer;
  /** The message, up to 65,535 bytes, instead of `shortMessage`. */
  readonly messagePayload?: Buffer;
  readonly deliveryFailureReason?: number;
  readonly moreMessagesToSend?: number;
  /** See `MESSAGE_STATE`. */
  readonly messageState?: number;
  readonly ussdServiceOp?: number;
  readonly displayTime?: number;
  readonly smsSignal?: number;
  readonly msValidity?: number;
  readonly alertOnMessageDelivery?: true;
  readonly itsReplyType?: number;
  readonly itsSessionInfo?: Buffer;
  readonly unknown?: readonly UnknownTlv[];
}

type TlvName = Exclude<keyof Tlvs, 'unknown'>;
type Kind = 'uint8' | 'uint16' | 'uint32' | 'cstring' | 'bytes' | 'flag';

interface Definition {
  readonly tag: number;
  readonly kind: Kind;
  /** Bytes of the longest value; of a string with its NUL. */
  readonly max: number;
  readonly repeated: boolean;
}

const one = (tag: number, kind: Kind, max: number): Definition => ({
  tag,
  kind,
  max,
  repeated: false,
});
const many = (tag: number, kind: Kind, max: number): Definition => ({
  ...one(tag, kind, max),
  repeated: true,
});

/** Order of the tags, in which they are written. */
const DEFINITIONS: Readonly<Record<TlvName, Definition>> = {
  destAddrSubunit: one(0x0005, 'uint8', 1),
  destNetworkType: one(0x0006, 'uint8', 1),
  destBearerType: one(0x0007, 'uint8', 1),
  destTelematicsId: one(0x0008, 'uint16', 2),
  sourceAddrSubunit: one(0x000d, 'uint8', 1),
  sourceNetworkType: one(0x000e, 'uint8', 1),
  sourceBearerType: one(0x000f, 'uint8', 1),
  sourceTelematicsId: one(0x0010, 'uint8', 1),
  qosTimeToLive: one(0x0017, 'uint32', 4),
  payloadType: one(0x0019, 'uint8', 1),
  additionalStatusInfoText: one(0x001d, 'cstring', 256),
  receiptedMessageId: one(0x001e, 'cstring', 65),
  msMsgWaitFacilities: one(0x0030, 'uint8', 1),
  privacyIndicator: one(0x0201, 'uint8', 1),
  sourceSubaddress: one(0x0202, 'bytes', 23),
  destSubaddress: one(0x0203, 'bytes', 23),
  userMessageReference: one(0x0204, 'uint16', 2),
  userResponseCode: one(0x0205, 'uint8', 1),
  sourcePort: one(0x020a, 'uint16', 2),
  destinationPort: one(0x020b, 'uint16', 2),
  sarMsgRefNum: one(0x020c, 'uint16', 2),
  languageIndicator: one(0x020d, 'uint8', 1),
  sarTotalSegments: one(0x020e, 'uint8', 1),
  sarSegmentSeqnum: one(0x020f, 'uint8', 1),
  scInterfaceVersion: one(0x0210, 'uint8', 1),
  callbackNumPresInd: many(0x0302, 'uint8', 1),
  callbackNumAtag: many(0x0303, 'bytes', 65),
  numberOfMessages: one(0x0304, 'uint8', 1),
  callbackNum: many(0x0381, 'bytes', 19),
  dpfResult: one(0x0420, 'uint8', 1),
  setDpf: one(0x0421, 'uint8', 1),
  msAvailabilityStatus: one(0x0422, 'uint8', 1),
  networkErrorCode: one(0x0423, 'bytes', 3),
  messagePayload: one(0x0424, 'bytes', 0xffff),
  deliveryFailureReason: one(0x0425, 'uint8', 1),
  moreMessagesToSend: one(0x0426, 'uint8', 1),
  messageState: one(0x0427, 'uint8', 1),
  ussdServiceOp: one(0x0501, 'uint8', 1),
  displayTime: one(0x1201, 'uint8', 1),
  smsSignal: one(0x1203, 'uint16', 2),
  msValidity: one(0x1204, 'uint8', 1),
  alertOnMessageDelivery: one(0x130c, 'flag', 0),
  itsReplyType: one(0x1380, 'uint8', 1),
  itsSessionInfo: one(0x1383, 'bytes', 2),
};

const BY_TAG = new Map(
  Object.entries(DEFINITIONS).map(([name, definition]) => [
    definition.tag,
    { name: name as TlvName, ...definition },
  ]),
);

/** Shared by all PDUs without TLVs, which are most. */
const NONE: Tlvs = Object.freeze({});

/** @throws OverrunError where a TLV is longer than the PDU */
export function readTlvs(reader: ByteReader): Tlvs {
  if (reader.remaining === 0) return NONE;
  const tlvs: Partial<Record<keyof Tlvs, unknown>> = {};
  let unknown: UnknownTlv[] | undefined;
  while (reader.remaining > 0) {
    const tag = reader.uint16('tlv');
    const bytes = reader.bytes(reader.uint16('tlv'), 'tlv');
    const known = BY_TAG.get(tag);
    const value = known && valueOf(known.kind, bytes);
    if (known === undefined || value === undefined) {
      (unknown ??= []).push({ tag, value: bytes });
    } else if (known.repeated) {
      const list = tlvs[known.name] as unknown[] | undefined;
      if (list) list.push(value);
      else tlvs[known.name] = [value];
    } else if (known.name in tlvs) (unknown ??= []).push({ tag, value: bytes });
    else tlvs[known.name] = value;
  }
  if (unknown) tlvs.unknown = unknown;
  return tlvs as Tlvs;
}

export function writeTlvs(writer: ByteWriter, tlvs: Tlvs): void {
  for (const name in tlvs) {
    const value = tlvs[name as keyof Tlvs];
    if (value === undefined || name === 'unknown') continue;
    const definition = DEFINITIONS[name as TlvName] as Definition | undefined;
    if (!definition)
      throw new SmppValueError(`tlvs.${name}`, 'use a name of Tlvs, or `unknown` with the tag');
    if (!definition.repeated) writeTlv(writer, name, definition, value);
    else for (const each of value as readonly unknown[]) writeTlv(writer, name, definition, each);
  }
  for (const { tag, value } of tlvs.unknown ?? []) {
    if (value.length > 0xffff) throw new SmppValueError('tlvs.unknown', 'use at most 65535 bytes');
    writer.uint16(tag, 'tlvs.unknown');
    writer.uint16(value.length, 'tlvs.unknown');
    writer.bytes(value);
  }
}

/** `undefined` where the length is not the one of the kind. */
function valueOf(kind: Kind, bytes: Buffer): unknown {
  switch (kind) {
    case 'uint8':
      return bytes.length === 1 ? bytes[0] : undefined;
    case 'uint16':
      return bytes.length === 2 ? bytes.readUInt16BE(0) : undefined;
    case 'uint32':
      return bytes.length === 4 ? bytes.readUInt32BE(0) : undefined;
    case 'flag':
      return bytes.length === 0 ? true : undefined;
    case 'bytes':
      return bytes;
    case 'cstring': {
      // Some SMSCs leave the NUL out.
      const end = bytes.indexOf(0);
      return text(bytes, 0, end < 0 ? bytes.length : end);
    }
  }
}

function writeTlv(
  writer: ByteWriter,
  name: string,
  { tag, kind, max }: Definition,
  value: unknown,
): void {
  const field = `tlvs.${name}`;
  writer.uint16(tag, field);
  switch (kind) {
    case 'uint8':
      writer.uint16(1, field);
      return writer.uint8(value as number, field);
    case 'uint16':
      writer.uint16(2, field);
      return writer.uint16(value as number, field);
    case 'uint32':
      writer.uint16(4, field);
      return writer.uint32(value as number, field);
    case 'flag':
      return writer.uint16(0, field);
    case 'cstring':
      writer.uint16((value as string).length + 1, field);
      return writer.cString(value as string, max, field);
    case 'bytes': {
      const bytes = value as Uint8Array;
      if (bytes.length > max) throw new SmppValueError(field, `use at most ${max} bytes`);
      writer.uint16(bytes.length, field);
      return writer.bytes(bytes);
    }
  }
}
