import type { SmppAddress } from '@dundun/smpp';

/** Digits of a short code; more are a number with its country code. */
const SHORT_CODE = 6;

/** A recipient: digits with country code. */
export function recipientAddress(digits: string): SmppAddress {
  return { ton: 1, npi: 1, address: digits };
}

/** A sender: a number, a short code (network specific), or a name (alphanumeric). */
export function senderAddress(sender: string): SmppAddress {
  const [, digits] = /^\+?(\d+)$/.exec(sender) ?? [];
  if (digits === undefined) return { ton: 5, npi: 0, address: sender };
  return digits.length > SHORT_CODE
    ? { ton: 1, npi: 1, address: digits }
    : { ton: 3, npi: 0, address: digits };
}
