import type { Tlvs } from '../codec/tlvs.js';
import type { MessageBody } from '../codec/pdu.js';
import { SmppValueError } from '../errors.js';
import { encodingOf, type EncodedText } from './data-coding.js';
import {
  type Concatenation,
  readUserDataHeader,
  UDHI,
  writeConcatenation,
} from './user-data-header.js';

/**
 * How a long message travels: in parts with a header (`udh`), in parts with the `sar_*` TLVs, or whole
 * in `message_payload`.
 */
export type LongMessageMethod = 'udh' | 'sar' | 'payload';

export interface SplitOptions {
  /** @default 'udh' */
  readonly method?: LongMessageMethod;
  /** Same for all parts of a message, other for the next one to the same number. */
  readonly reference: number;
  /** Size of the reference in a header. @default 8 */
  readonly referenceBits?: 8 | 16;
}

/** The fields that a part adds to the PDU of the message. */
export type MessagePart = Pick<MessageBody, 'esmClass' | 'dataCoding' | 'shortMessage'> & {
  readonly tlvs?: Tlvs;
};

/** Payload of the radio interface: 140 bytes, which are 160 septets. */
const OCTETS = 140;
const SEPTETS = 160;
const MAX_PARTS = 255;
const ESCAPE = 0x1b;
const NOTHING = Buffer.alloc(0);

/**
 * The fields of the PDUs that carry a message: one where it fits, else one per part, or one with
 * `message_payload`. No part ends within a surrogate pair or behind an escape.
 * @throws SmppValueError for more than 255 parts, or 65,535 bytes
 * @example
 * for (const part of splitMessage(encodeText(text), { reference: 7 }))
 *   await session.request('submit_sm', { source, destination, ...part });
 */
export function splitMessage(
  { bytes, dataCoding }: EncodedText,
  { method = 'udh', reference, referenceBits = 8 }: SplitOptions,
): MessagePart[] {
  const encoding = encodingOf(dataCoding);
  const unit = encoding === 'gsm7' ? SEPTETS : OCTETS;
  if (bytes.length <= unit) return [{ esmClass: 0, dataCoding, shortMessage: bytes }];
  if (method === 'payload') {
    if (bytes.length > 0xffff) throw new SmppValueError('bytes', 'use at most 65535 bytes');
    return [{ esmClass: 0, dataCoding, shortMessage: NOTHING, tlvs: { messagePayload: bytes } }];
  }
  // For `sar` the SMSC writes the header, with a reference of 16 bits where it needs them.
  const bits = method === 'udh' ? referenceBits : reference > 0xff ? 16 : 8;
  const header = bits === 8 ? 6 : 7;
  const size = unit === SEPTETS ? SEPTETS - Math.ceil((header * 8) / 7) : OCTETS - header;
  const parts = cut(bytes, size, encoding);
  const total = parts.length;
  if (total > MAX_PARTS) throw new SmppValueError('bytes', `use at most ${MAX_PARTS} parts`);
  return parts.map((part, index) => {
    const place = { reference, total, part: index + 1 };
    if (method === 'udh')
      return {
        esmClass: UDHI,
        dataCoding,
        shortMessage: Buffer.concat([writeConcatenation(place, bits), part]),
      };
    const tlvs = {
      sarMsgRefNum: reference & 0xffff,
      sarTotalSegments: total,
      sarSegmentSeqnum: index + 1,
    };
    return { esmClass: 0, dataCoding, shortMessage: part, tlvs };
  });
}

function cut(bytes: Buffer, size: number, encoding: string): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; from < bytes.length;) {
    let to = Math.min(from + size, bytes.length);
    if (to < bytes.length) {
      if (encoding === 'ucs2') {
        to -= (to - from) % 2;
        if (isHighSurrogate(bytes, to - 2)) to -= 2;
      } else if (encoding === 'gsm7' && bytes[to - 1] === ESCAPE) to--;
    }
    parts.push(bytes.subarray(from, to));
    from = to;
  }
  return parts;
}

function isHighSurrogate(bytes: Buffer, at: number): boolean {
  return ((bytes[at] as number) & 0xfc) === 0xd8;
}

/** The content of a received PDU. */
export interface ReceivedMessage {
  /** Without a user data header: a view of the received bytes. */
  readonly bytes: Buffer;
  /** Place in a long message, of which this is a part. */
  readonly concatenation?: Concatenation;
}

/**
 * The message of a `submit_sm`, `deliver_sm` or `data_sm`: `message_payload` or `short_message` without
 * its header, and its place in a long message by header or by `sar_*`.
 */
export function messageOf(
  pdu: Pick<MessageBody, 'esmClass'> & { readonly shortMessage?: Buffer; readonly tlvs: Tlvs },
): ReceivedMessage {
  const { sarMsgRefNum, sarTotalSegments, sarSegmentSeqnum, messagePayload } = pdu.tlvs;
  const whole = pdu.shortMessage && pdu.shortMessage.length > 0 ? pdu.shortMessage : messagePayload;
  const bytes = whole ?? NOTHING;
  const header = (pdu.esmClass & UDHI) === 0 ? undefined : readUserDataHeader(bytes);
  if (header) {
    const { concatenation, length } = header;
    return {
      bytes: bytes.subarray(length),
      ...(concatenation && {
        concatenation: {
          reference: concatenation.reference,
          total: concatenation.total,
          part: concatenation.part,
        },
      }),
    };
  }
  if (
    sarMsgRefNum === undefined ||
    !sarTotalSegments ||
    !sarSegmentSeqnum ||
    sarSegmentSeqnum > sarTotalSegments
  )
    return { bytes };
  return {
    bytes,
    concatenation: {
      reference: sarMsgRefNum,
      total: sarTotalSegments,
      part: sarSegmentSeqnum,
    },
  };
}
