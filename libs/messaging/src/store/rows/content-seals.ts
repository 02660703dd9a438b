import { Logger } from '@nestjs/common';
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { MessageContent } from '../../message/message.js';
import { isLogged } from '../../ports/log-sampling.js';
import { isSecret, type StoredContent } from './stored-content.js';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** `enc1.{key id}.{IV, ciphertext and tag in base64url}` */
const SEALED = /^enc1\.([0-9a-f]{8})\.([0-9A-Za-z_-]+)$/;

/** The members of a secret content that stay in clear: routes, policies and caps decide by them. */
interface SealedContent {
  readonly kind: string;
  readonly category?: string;
  readonly secret: true;
  /** The JSON of the whole content, encrypted. */
  readonly $sealed: string;
}

/** Error code of a message whose content no key decrypts. */
export const UNREADABLE = 'content_unreadable';

/**
 * Encrypts contents with a one-time code for their rows, with AES-256-GCM and the id of the batch as
 * additional authenticated data, so that the content of one batch decrypts in no other. Without keys
 * they are stored in clear. Other contents are returned as they are.
 */
export class ContentSeals {
  /** By their ids; the first encrypts. */
  readonly #keys: ReadonlyMap<string, Uint8Array>;
  readonly #first: readonly [id: string, key: Uint8Array] | undefined;
  readonly #logger = new Logger('Store');
  #failures = 0;

  /** @param secrets of at least 32 bytes; the first encrypts, the others are former ones */
  constructor(secrets: readonly Uint8Array[] = []) {
    const keys = secrets.map((secret) => [idOf(secret), keyOf(secret)] as const);
    this.#first = keys[0];
    this.#keys = new Map(keys.toReversed());
  }

  /** Whether the stored content is as {@link seal} writes it now. */
  isCurrent({ content }: StoredContent): boolean {
    const sealed = sealedOf(content);
    if (!this.#first || !isSecret(content)) return sealed === undefined;
    return sealed !== undefined && SEALED.exec(sealed)?.[1] === this.#first[0];
  }

  seal<T extends Pick<StoredContent, 'content'>>(batch: string, stored: T): T {
    const { content } = stored;
    if (!this.#first || !isSecret(content)) return stored;
    const [id, key] = this.#first;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, key, iv).setAAD(identityOf(batch));
    const parts = [iv, cipher.update(JSON.stringify(content), 'utf8'), cipher.final()];
    const text = Buffer.concat([...parts, cipher.getAuthTag()]).toString('base64url');
    const sealed = { ...clearOf(content), $sealed: `enc1.${id}.${text}` };
    return { ...stored, content: sealed as MessageContent };
  }

  /** A content that no key decrypts, or that was changed, is `unreadable`; the log names the remedy. */
  open(batch: string, stored: StoredContent): StoredContent {
    const sealed = sealedOf(stored.content);
    if (sealed === undefined) return stored;
    // Empty where the reader has not read the long texts.
    const content = sealed === '' ? undefined : this.#opened(batch, sealed);
    if (content) return { ...stored, content };
    const { labels, trace } = stored;
    const left = clearOf(stored.content) as MessageContent;
    return { content: left, labels, trace, unreadable: true };
  }

  #opened(batch: string, sealed: string): MessageContent | undefined {
    const [, id, text = ''] = SEALED.exec(sealed) ?? [];
    const key = id === undefined ? undefined : this.#keys.get(id);
    if (id !== undefined && !key) {
      this.#failed(
        batch,
        `is encrypted with the key ${id}, which is missing; add that key to the option verification.keys (SECRETS_KEY_PREVIOUS of the gateway), and start a new verification`,
      );
      return undefined;
    }
    const bytes = Buffer.from(text, 'base64url');
    try {
      if (!key) throw new RangeError('no sealed text');
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(identityOf(batch))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const json = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
      return JSON.parse(Buffer.concat([json, decipher.final()]).toString('utf8')) as MessageContent;
    } catch {
      this.#failed(batch, 'was changed, or belongs to another batch; start a new verification');
      return undefined;
    }
  }

  #failed(batch: string, problem: string): void {
    if (isLogged(++this.#failures))
      this.#logger.error(`the content of the batch ${batch} ${problem}`);
  }
}

function sealedOf(content: MessageContent): string | undefined {
  return isSecret(content) && '$sealed' in content ? String(content.$sealed) : undefined;
}

function clearOf(content: MessageContent): Omit<SealedContent, '$sealed'> {
  const category = 'category' in content ? content.category : undefined;
  return {
    kind: content.kind,
    ...(typeof category === 'string' && { category }),
    secret: true,
  };
}

function keyOf(secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', 'dundun contents', KEY_BYTES));
}

/** A public name of the key, in every text that it encrypts. */
function idOf(secret: Uint8Array): string {
  return createHmac('sha256', secret).update('dundun key id').digest('hex').slice(0, 8);
}

function identityOf(batch: string): Buffer {
  return Buffer.from(JSON.stringify(['messaging_batch', 'content', batch]), 'utf8');
}
