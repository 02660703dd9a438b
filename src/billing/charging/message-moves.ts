import type { MessageStatusChanged } from '@dundun/messaging';
import type { GuardedCancellation, GuardedChange, GuardedEnd } from '@dundun/messaging/ports';
import { countryOfNumber } from '@dundun/messaging/values';
import { type MonthKey, MonthTotals } from '../statements/month-totals.js';
import { chargeOf, reportedChargeOf, reservationOf } from './batch-rates.js';
import { chargeStateOf, type Unsettled } from './charge-state.js';
import type { BatchMove } from './charge.store.js';
import type { ReadBatch } from './recent-batches.js';
import { BILLED, reportedAfter, reportedBy, secondsOf } from './reported-price.js';

/** What the messages of one batch move; amounts are millionths. */
export interface Moved {
  reserved: bigint;
  charged: bigint;
  /** Messages whose charge changes. */
  messages: number;
  /** As in {@link ChargedBatch}. */
  reported: string | null;
  /** What it charges by channel, country and credential. */
  readonly totals: MonthTotals;
}

export function movesOf(
  batches: ReadonlyMap<string, ReadBatch>,
  moved: ReadonlyMap<string, Moved>,
): readonly BatchMove[] {
  return [...moved].flatMap(([batch, { reserved, charged, reported }]) => {
    const isMoved = reserved !== 0n || charged !== 0n;
    return isMoved || reported !== batches.get(batch)?.reported
      ? { batch, reserved, charged, reported }
      : [];
  });
}

export function nothingOf(totals: MonthTotals, { reported }: Pick<ReadBatch, 'reported'>): Moved {
  return { reserved: 0n, charged: 0n, messages: 0, reported, totals };
}

export function changeOf(change: GuardedChange, batch: ReadBatch, moved: Moved): void {
  const reported = reportedAfter(moved.reported, reportedBy(change.details));
  if (batch.messages === 1 && reported !== null) return settle(change, batch, reported, moved);
  if (change.event !== undefined) return;
  const { channel, recipient, previous, status, details } = change;
  const statuses = statusesOf(change);
  const rate = batch.rates.of(recipient);
  // An erased recipient of a batch with several rates: the end of the batch releases the rest.
  if (!rate) return;
  const former = { channel, status: previous, statuses: statuses - 1 };
  const before = chargeStateOf(former, batch.chargeAt);
  const after = chargeStateOf({ channel, status, statuses }, batch.chargeAt);
  if (before === after) return;
  const charge = chargeOf(rate, batch.units, secondsOf(details));
  const reservation = reservationOf(rate, batch.units);
  if (before === 'open') moved.reserved -= reservation;
  if (after === 'open') moved.reserved += reservation;
  if (before === 'charged') moved.charged -= charge;
  if (after === 'charged') moved.charged += charge;
  const sign = Number(after === 'charged') - Number(before === 'charged');
  if (sign === 0) return;
  moved.messages++;
  moved.totals.add(monthKeyOf(change, batch), {
    messages: sign,
    parts: sign * batch.units,
    amount: BigInt(sign) * charge,
  });
}

export function statusesOf({ statuses, sequence }: GuardedChange): number {
  return statuses ?? sequence;
}

/** What the totals of a month count a message by. */
function monthKeyOf(
  { channel, recipient }: Pick<MessageStatusChanged, 'channel' | 'recipient'>,
  { accountId, spender }: ReadBatch,
): MonthKey {
  const country = NUMBER.test(recipient) ? countryOfNumber(recipient) : '';
  return { accountId, channel, country, spender };
}

/** Settles the only message of a batch at the price of the category that the platform reports. */
function settle(change: GuardedChange, batch: ReadBatch, reported: string, moved: Moved): void {
  const { channel, recipient, previous, status } = change;
  const statuses = statusesOf(change);
  const rate = batch.rates.of(recipient);
  if (!rate) return;
  const state = chargeStateOf({ channel, status, statuses }, batch.chargeAt);
  const charge = reportedChargeOf(batch.rates, rate, reported, batch.units);
  moved.reported = reported;
  moved.reserved = (state === 'open' ? reservationOf(rate, batch.units) : 0n) - batch.reserved;
  const former = {
    channel,
    status: previous,
    statuses: change.event === BILLED ? statuses : statuses - 1,
  };
  const sign =
    Number(state === 'charged') - Number(chargeStateOf(former, batch.chargeAt) === 'charged');
  const charged = (state === 'charged' ? charge : 0n) - batch.charged;
  moved.totals.add(monthKeyOf(change, batch), {
    messages: sign,
    parts: sign * batch.units,
    amount: charged - moved.charged,
  });
  moved.charged = charged;
  moved.messages = 1;
}

/** An address key that is a phone number. */
const NUMBER = /^\d+$/;

export function cancellationOf(
  { recipients }: GuardedCancellation,
  { rates, units }: ReadBatch,
  moved: Moved,
): void {
  for (const recipient of recipients) {
    const rate = rates.of(recipient);
    if (!rate) continue;
    moved.reserved -= reservationOf(rate, units);
  }
}

/** What is open belongs to messages that stay without an end, or to erased ones that never left. */
export function endBy(rules: ReadonlyMap<string, Unsettled>) {
  return ({ cause }: GuardedEnd, batch: ReadBatch, moved: Moved): void => {
    const { accountId, channel, spender, units, reserved, rates } = batch;
    moved.reserved -= reserved;
    if (cause !== 'retention' || rules.get(accountId) !== 'charge' || reserved === 0n) return;
    moved.charged += reserved;
    // The recipients are gone: with one rate the amount says how many they were.
    const each = rates.only ? reservationOf(rates.only, units) : 0n;
    const messages = each > 0n ? Number(reserved / each) : 0;
    moved.messages += Math.max(1, messages);
    moved.totals.add(
      { accountId, channel, country: '', spender },
      { messages, parts: messages * units, amount: reserved },
    );
  };
}
