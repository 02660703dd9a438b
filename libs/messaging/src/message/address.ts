/** Kinds of recipient address. `platform`: a user id that only the platform knows, such as a WhatsApp BSUID. */
export type AddressKind = 'phone' | 'email' | 'platform';

/** One address of a person. `value` is normalised: digits with country code, a lower-case domain, the id as given. */
export interface Address {
  readonly kind: AddressKind;
  readonly value: string;
}

const PLATFORM = 'platform:';

/**
 * The address as one text: what the store keeps, compares and indexes. A phone number is its digits and an
 * e-mail address is itself, so that both stay short; a platform id is `platform:{id}`.
 */
export function addressKey({ kind, value }: Address): string {
  return kind === 'platform' ? PLATFORM + value : value;
}

/** The address that {@link addressKey} wrote. */
export function addressOfKey(key: string): Address {
  if (key.startsWith(PLATFORM)) return { kind: 'platform', value: key.slice(PLATFORM.length) };
  return { kind: key.includes('@') ? 'email' : 'phone', value: key };
}
