import type { GuardedMessage } from '@dundun/messaging/operations';

/** What a carrier charges for a message. */
export interface CarrierCost {
  /** Millionths. */
  readonly amount: bigint;
  readonly currency: string;
}

/** Fields of an answer or a report of a carrier. */
type Details = GuardedMessage['answer'];

/** Digits of the finest price, and of an amount. */
const FINE = 12;
const MILLIONTHS = 6;

const FORM = /^(\d{1,12})(?:\.(\d+))?$/;

/** The cost that a carrier reports in its own words. @param currency where the report names none */
export function reportedCost(details: Details, currency?: string): CarrierCost | undefined {
  const given = details?.['cost'];
  const named = details?.['currency'] ?? currency;
  const cost = unitsOf(String(given ?? ''), FINE);
  if (cost === undefined || typeof named !== 'string' || !/^[A-Z]{3}$/.test(named))
    return undefined;
  return { amount: rounded(cost), currency: named };
}

/** Further digits are cut. */
function unitsOf(text: string, digits: number): bigint | undefined {
  const [, whole = '', fraction = ''] = FORM.exec(text) ?? [];
  if (whole === '') return undefined;
  return BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
}

function rounded(fine: bigint): bigint {
  const step = 10n ** BigInt(FINE - MILLIONTHS);
  return (fine + step / 2n) / step;
}
