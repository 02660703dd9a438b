import type { Tlvs } from './codec/tlvs.js';
import { DATA_CODING, decodeUcs2 } from './text/data-coding.js';
import { messageOf } from './text/long-message.js';
import { parseReceiptDate } from './time.js';

/** Values of `message_state` (section 5.2.28). */
export const MESSAGE_STATE = {
  enroute: 1,
  delivered: 2,
  expired: 3,
  deleted: 4,
  undeliverable: 5,
  accepted: 6,
  unknown: 7,
  rejected: 8,
} as const;

export type MessageState = keyof typeof MESSAGE_STATE;

const STATES = new Map<number, MessageState>(
  Object.entries(MESSAGE_STATE).map(([state, value]) => [value, state as MessageState]),
);

/** By the first letters of `stat:`; SMSCs shorten the words in several ways. */
const WORDS: readonly (readonly [string, MessageState])[] = [
  ['ENROUTE', 'enroute'],
  ['DELIV', 'delivered'],
  ['EXPIR', 'expired'],
  ['DELETED', 'deleted'],
  ['UNDELIV', 'undeliverable'],
  ['ACCEP', 'accepted'],
  ['UNKN', 'unknown'],
  ['REJ', 'rejected'],
  // Not of SMPP 3.4.
  ['FAIL', 'undeliverable'],
  ['SKIP', 'rejected'],
  ['SCHED', 'enroute'],
];

/** The state of a `message_state`, if SMPP 3.4 has it. */
export function messageStateOf(value: number): MessageState | undefined {
  return STATES.get(value);
}

/** The fields of a delivery receipt. A missing field, or one in a wrong form, is `undefined`. */
export interface DeliveryReceipt {
  /** As the SMSC writes it; see `messageIdForms()`. */
  readonly messageId: string | undefined;
  readonly state: MessageState | undefined;
  /** The word or number of the state as it came, such as `DELIVRD`. */
  readonly rawState: string | undefined;
  /** `err:`, mostly digits, by the SMSC's own table. */
  readonly error: string | undefined;
  /** The TLV `network_error_code`: type 1 ANSI-136, 2 IS-95 or 3 GSM, and the network's error. */
  readonly networkError: { readonly type: number; readonly code: number } | undefined;
  readonly submitted: number | undefined;
  readonly delivered: number | undefined;
  readonly submitDate: Date | undefined;
  readonly doneDate: Date | undefined;
  /** The first characters of the message. */
  readonly text: string | undefined;
  /** The message's own number, where the SMSC repeats it. */
  readonly userMessageReference: number | undefined;
  /** An intermediate notification, which is not the last receipt. */
  readonly isIntermediate: boolean;
}

export interface ReceiptOptions {
  /** Time zone of the SMSC's dates, an IANA name. @default 'UTC' */
  readonly timeZone?: string;
}

/** A `deliver_sm` or `data_sm`. */
export interface ReceiptPdu {
  readonly esmClass: number;
  readonly dataCoding: number;
  readonly shortMessage?: Buffer;
  readonly tlvs: Tlvs;
}

const TYPE = 0x3c;
const RECEIPT = 0x04;
const INTERMEDIATE = 0x20;

/**
 * Whether a PDU is a receipt: by `esm_class`, or by the TLVs `receipted_message_id` and `message_state`.
 * The text alone never makes one: a person can send such a text.
 */
export function isReceipt({ esmClass, tlvs }: Pick<ReceiptPdu, 'esmClass' | 'tlvs'>): boolean {
  const type = esmClass & TYPE;
  if (type === RECEIPT || type === INTERMEDIATE) return true;
  return type === 0 && tlvs.receiptedMessageId !== undefined && tlvs.messageState !== undefined;
}

/**
 * Reads a receipt: the TLVs first, then the text, field by field, in any order.
 * @returns `undefined` for a PDU that is no receipt
 * @example
 * const receipt = readReceipt(pdu, { timeZone: 'Africa/Lagos' });
 * if (receipt?.state === 'delivered') settle(receipt.messageId);
 */
export function readReceipt(
  pdu: ReceiptPdu,
  { timeZone = 'UTC' }: ReceiptOptions = {},
): DeliveryReceipt | undefined {
  if (!isReceipt(pdu)) return undefined;
  const { receiptedMessageId, messageState, networkErrorCode, userMessageReference } = pdu.tlvs;
  const fields = receiptFields(textOf(pdu));
  const word = fields.stat;
  return {
    messageId: receiptedMessageId?.split('\0', 1)[0] || fields.id,
    state: (messageState === undefined ? undefined : STATES.get(messageState)) ?? stateOfWord(word),
    rawState: word ?? messageState?.toString(),
    error: fields.err,
    networkError:
      networkErrorCode?.length === 3
        ? { type: networkErrorCode[0] as number, code: networkErrorCode.readUInt16BE(1) }
        : undefined,
    submitted: count(fields.sub),
    delivered: count(fields.dlvrd),
    submitDate: parseReceiptDate(fields.submitdate ?? '', timeZone),
    doneDate: parseReceiptDate(fields.donedate ?? '', timeZone),
    text: fields.text,
    userMessageReference,
    isIntermediate: (pdu.esmClass & TYPE) === INTERMEDIATE,
  };
}

/**
 * The letters, digits and colons that are read are the same in GSM 03.38 and Latin-1. SMSCs end the id
 * or the whole text with NUL, as C does.
 */
function textOf(pdu: ReceiptPdu): string {
  const { bytes } = messageOf(pdu);
  const text = pdu.dataCoding === DATA_CODING.ucs2 ? decodeUcs2(bytes) : bytes.toString('latin1');
  return text.replaceAll('\0', ' ');
}

type Field = 'id' | 'sub' | 'dlvrd' | 'submitdate' | 'donedate' | 'stat' | 'err' | 'text';

const KEY = /(?<![a-z0-9])(id|sub|dlvrd|submit[ _]?date|done[ _]?date|stat|err|text)[ ]?:/gi;

/**
 * The fields of the text, each where it comes first. The words after `text:` are the message's own: after
 * `stat:` no field counts there. Where `stat:` comes behind the text, a field counts where it comes
 * last, behind the message's words.
 */
function receiptFields(text: string): Partial<Record<Field, string>> {
  const fields: Partial<Record<Field, string>> = {};
  const keys = [...text.matchAll(KEY)].map(({ 0: { length }, 1: key = '', index }) => ({
    key: key.toLowerCase().replaceAll(/[ _]/g, '') as Field,
    from: index,
    value: index + length,
  }));
  const ownText = keys.findIndex(({ key }) => key === 'text');
  const before = ownText < 0 ? keys : keys.slice(0, ownText + 1);
  const isLast = ownText < 0 || before.some(({ key }) => key === 'stat');
  const behind = isLast ? [] : keys.slice(ownText + 1);
  const last = new Map(behind.map((each) => [each.key, each]));
  const counted = [...before, ...behind.filter((each) => last.get(each.key) === each)];
  for (const [index, { key, value }] of counted.entries()) {
    const end = counted[index + 1]?.from ?? text.length;
    const found = text.slice(value, end).trim();
    if (found !== '' && fields[key] === undefined) fields[key] = found;
  }
  for (const key of ['id', 'stat', 'err', 'sub', 'dlvrd'] as const)
    if (fields[key] !== undefined) fields[key] = fields[key].split(/[\s,;]/, 1)[0] as string;
  return fields;
}

function stateOfWord(word: string | undefined): MessageState | undefined {
  if (word === undefined) return undefined;
  const upper = word.toUpperCase();
  return WORDS.find(([start]) => upper.startsWith(start))?.[1] ?? STATES.get(Number(word));
}

function count(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** The text of a receipt, as most SMSCs write it (appendix B), for a server. */
export interface ReceiptText {
  readonly messageId: string;
  readonly state: MessageState;
  readonly submitDate: Date;
  readonly doneDate: Date;
  /** @default '000' */
  readonly error?: string;
  /** The first characters of the message; 20 are written, those outside ASCII as `?`. @default '' */
  readonly text?: string;
}

const STATE_WORDS: Readonly<Record<MessageState, string>> = {
  enroute: 'ENROUTE',
  delivered: 'DELIVRD',
  expired: 'EXPIRED',
  deleted: 'DELETED',
  undeliverable: 'UNDELIV',
  accepted: 'ACCEPTD',
  unknown: 'UNKNOWN',
  rejected: 'REJECTD',
};

/** The word of a state in receipts, such as `DELIVRD`. */
export function messageStateWord(state: MessageState): string {
  return STATE_WORDS[state];
}

/**
 * Fields of the `deliver_sm` that is a receipt: its text with dates in UTC, `esm_class`, and the TLVs
 * `receipted_message_id` and `message_state`.
 * @example
 * await session.request('deliver_sm', { source, destination, ...writeReceipt(receipt) });
 */
export function writeReceipt(receipt: ReceiptText): {
  readonly esmClass: number;
  readonly dataCoding: number;
  readonly shortMessage: Buffer;
  readonly tlvs: Tlvs;
} {
  const { messageId, state, submitDate, doneDate, error = '000', text = '' } = receipt;
  const delivered = state === 'delivered' ? '001' : '000';
  const written =
    `id:${messageId} sub:001 dlvrd:${delivered} submit date:${receiptDate(submitDate)} ` +
    `done date:${receiptDate(doneDate)} stat:${messageStateWord(state)} err:${error} text:${text.slice(0, 20).replaceAll(/[^ -~]/g, '?')}`;
  return {
    esmClass: RECEIPT,
    dataCoding: DATA_CODING.default,
    shortMessage: Buffer.from(written, 'latin1'),
    tlvs: { receiptedMessageId: messageId, messageState: MESSAGE_STATE[state] },
  };
}

function receiptDate(date: Date): string {
  return date.toISOString().slice(2, 16).replaceAll(/[-T:]/g, '');
}
