import { createHmac, timingSafeEqual } from 'node:crypto';
import { MessagingConfigError } from '../../message/errors.js';

/** 20 characters of base32: 100 bits. */
const HMAC_LENGTH = 20;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const SUBMISSION =
  /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})-s(\d{1,6})$/;
const LOCAL_PART =
  /^b\+([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})-s(\d{1,6})\.([a-z2-7]{20})$/;

/**
 * Return addresses that name their submission: `b+{batch}-s{n}.{hmac}@bounce.example.com`. A report
 * counts only at such an address, because anyone can write one. The local part has at most 64
 * octets, and no letter whose case matters.
 */
export class Verp {
  /**
   * @param keys of at least 32 bytes. The first one signs, all of them verify: put a new key before
   * the old one, and remove that one once reports of its messages no longer arrive
   */
  constructor(private readonly keys: readonly Buffer[]) {
    if (keys.length === 0)
      throw new MessagingConfigError('smtp.verpKeys: must have at least one key');
  }

  /** @returns `undefined` for an id that is not `{uuid}-s{n}` */
  addressOf(submissionId: string, bounceDomain: string): string | undefined {
    const [, ...parts] = SUBMISSION.exec(submissionId) ?? [];
    const n = parts.pop();
    if (n === undefined) return undefined;
    const hmac = hmacOf(this.keys[0] as Buffer, submissionId);
    return `b+${parts.join('')}-s${n}.${hmac}@${bounceDomain}`;
  }

  /** The submission of a return address with a valid signature. */
  submissionOf(address: string): string | undefined {
    const [, ...parts] =
      LOCAL_PART.exec(address.slice(0, address.lastIndexOf('@')).toLowerCase()) ?? [];
    const hmac = parts.pop();
    const n = parts.pop();
    if (hmac === undefined) return undefined;
    const submissionId = `${parts.join('-')}-s${n}`;
    const given = Buffer.from(hmac);
    let isValid = false;
    for (const key of this.keys)
      isValid = timingSafeEqual(given, Buffer.from(hmacOf(key, submissionId))) || isValid;
    return isValid ? submissionId : undefined;
  }
}

function hmacOf(key: Buffer, submissionId: string): string {
  const bytes = createHmac('sha256', key).update(`verp\n${submissionId}`).digest();
  let bits = 0;
  let value = 0;
  let text = '';
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5 && text.length < HMAC_LENGTH; bits -= 5)
      text += ALPHABET[(value >>> (bits - 5)) & 31];
    value &= 31;
  }
  return text;
}
