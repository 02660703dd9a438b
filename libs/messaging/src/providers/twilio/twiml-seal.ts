import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV = 12;
const TAG = 16;

/**
 * Encrypts the TwiML of a call for the address at which Twilio asks for it: addresses stand in access
 * logs, and the TwiML may contain a code.
 */
export class TwimlSeal {
  readonly #key: Buffer;

  constructor(authToken: string) {
    this.#key = hash('sha256', `TwiML of a call\n${authToken}`, 'buffer');
  }

  seal(twiml: string, submissionId: string): string {
    const iv = randomBytes(IV);
    const cipher = createCipheriv(CIPHER, this.#key, iv).setAAD(Buffer.from(submissionId));
    const text = Buffer.concat([cipher.update(twiml, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, text, cipher.getAuthTag()]).toString('base64url');
  }

  /** @returns `undefined` for a text that this token did not seal for this submission */
  open(sealed: string, submissionId: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < IV + TAG) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, IV))
      .setAAD(Buffer.from(submissionId))
      .setAuthTag(bytes.subarray(-TAG));
    try {
      const text = decipher.update(bytes.subarray(IV, -TAG));
      return Buffer.concat([text, decipher.final()]).toString();
    } catch {
      return undefined;
    }
  }
}
