export const SENDER_ID = /^(?=.*[A-Za-z])[0-9A-Za-z](?:[0-9A-Za-z ]{0,9}[0-9A-Za-z])?$/;

export const SENDER_ID_RULE =
  'must be 1 to 11 letters, digits and inner spaces with at least one letter, such as ACME';

/** 1–11 letters, digits and inner spaces, at least one letter. */
export function isSenderId(value: unknown): value is string {
  return typeof value === 'string' && SENDER_ID.test(value);
}
