import type { MessageState } from '@dundun/smpp';
import type { MessageStatusChanged, SmsMessage } from '@dundun/messaging';
import { type CompleteMessage, idOf } from './smpp-parts.js';
import type { NewDelivery, SmppPart } from './smpp.tables.js';

/** Receipts that a submit asks for: none, all, or those of failures. */
const NO_RECEIPTS = 0;
const ALL_RECEIPTS = 1;

/** By the bits 1 and 0 of `registered_delivery`; the reserved value counts as all. */
export function receiptsOf(registeredDelivery: number): number {
  const bits = registeredDelivery & 0x03;
  return bits === 0x03 ? ALL_RECEIPTS : bits;
}

/** Names of the metadata that a batch of SMPP has, for its receipts; callbacks show it too. */
const SYSTEM_ID = 'smpp_system_id';
const RECEIPTS = 'smpp_receipts';
const PARTS = 'smpp_parts';

/** Also sends over HTTP may have metadata of these names. */
const WRITTEN_PARTS = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) ([012]{1,255})$/;

/** The fields of a message that ask for the receipts of its submit. */
export function labelsOf({
  systemId,
  receipts,
  whole,
}: {
  readonly systemId: string;
  readonly receipts: number;
  readonly whole?: CompleteMessage;
}): Pick<SmsMessage, 'deliveryReport' | 'metadata'> {
  const isAsked = [receipts, ...(whole?.receipts ?? [])].some((one) => one !== NO_RECEIPTS);
  return {
    deliveryReport: isAsked,
    metadata: {
      [SYSTEM_ID]: systemId,
      [RECEIPTS]: String(receipts),
      // One digit for each part.
      ...(whole && { [PARTS]: `${whole.messageId} ${whole.receipts.join('')}` }),
    },
  };
}

/** By the status of the message; others are not the last. */
const STATES: Readonly<Record<string, MessageState>> = {
  delivered: 'delivered',
  read: 'delivered',
  expired: 'expired',
  undelivered: 'undeliverable',
  failed: 'undeliverable',
  rejected: 'rejected',
  cancelled: 'deleted',
};

/** The state of a message, for `query_sm`. */
export function stateOf(status: string): MessageState {
  return STATES[status] ?? (status === 'unknown' ? 'unknown' : 'enroute');
}

export function isFinalState(state: MessageState): boolean {
  return state !== 'enroute' && state !== 'unknown';
}

/** Three digits: the provider's code where it is such a number. */
export function errorOf(errorCode: string | null): string {
  return /^\d{1,3}$/.exec(errorCode ?? '')?.[0].padStart(3, '0') ?? '000';
}

/** SMPP carries SMS alone. */
export function isOverSmpp({ channel }: { readonly channel: string }): boolean {
  return channel === 'sms';
}

/** What receipts need of a change of status. */
export type EndingChange = Pick<
  MessageStatusChanged,
  | 'tenant'
  | 'channel'
  | 'batchId'
  | 'sender'
  | 'recipient'
  | 'previous'
  | 'status'
  | 'event'
  | 'errorCode'
  | 'providerTime'
  | 'metadata'
>;

/** The pair that a message was submitted with; `undefined`: not over SMPP. */
export function systemIdOf(change: Pick<EndingChange, 'channel' | 'metadata'>): string | undefined {
  return isOverSmpp(change) ? change.metadata?.[SYSTEM_ID] : undefined;
}

/** The receipts that a change of status calls for: one for the message, and one for each part. */
export function receiptsFor(change: EndingChange): NewDelivery[] {
  const { metadata = {}, batchId, status, previous, recipient, sender, event } = change;
  const systemId = systemIdOf(change);
  const state = STATES[status];
  const isKnown = previous === 'delivered' && state === 'delivered';
  if (systemId === undefined || state === undefined || isKnown || event !== undefined) return [];
  const [, base = '', digits = ''] = WRITTEN_PARTS.exec(metadata[PARTS] ?? '') ?? [];
  const ids = digits
    .split('')
    .flatMap((asked, index) => (isAsked(asked, state) ? [idOf(base, index + 1)] : []));
  if (isAsked(metadata[RECEIPTS], state)) ids.push(batchId);
  const error = errorOf(change.errorCode);
  const submittedAt = timeOfId(batchId);
  const doneAt = change.providerTime;
  return ids.map((messageId) => ({
    systemId,
    messageId,
    state,
    error,
    submittedAt,
    doneAt,
    source: recipient,
    destination: sender,
  }));
}

function isAsked(receipts: string | undefined, state: MessageState): boolean {
  return receipts === String(ALL_RECEIPTS) || (receipts === '2' && state !== 'delivered');
}

/** A UUIDv7 begins with its time. */
function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}

/** The receipt of a part whose message was refused, or never complete. */
export function receiptOfPart(
  { systemId, messageId, part, sender, recipient, receipts, createdAt }: SmppPart,
  state: 'rejected' | 'expired',
  doneAt: Date,
): NewDelivery[] {
  if (receipts === NO_RECEIPTS) return [];
  const ids = { systemId, messageId: idOf(messageId, part) };
  const addresses = { source: recipient, destination: sender };
  return [{ ...ids, ...addresses, state, submittedAt: createdAt, doneAt }];
}
