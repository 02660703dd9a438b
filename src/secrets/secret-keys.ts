import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

/** The column of a secret: sealed text is bound to it and opens nowhere else. */
export interface SecretColumn {
  readonly table: string;
  readonly column: string;
  /** Column of the table's primary key. */
  readonly key: string;
}

/** A stored secret that no key at hand opens. */
export class UnreadableSecretError extends Error {
  override readonly name = 'UnreadableSecretError';

  constructor({ table, column }: SecretColumn, cause: string) {
    super(`${table}.${column}: ${cause}`);
  }
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** `enc1.{key id}.{IV, ciphertext and tag in base64url}` */
const SEALED = /^enc1\.([0-9a-f]{8})\.([0-9A-Za-z_-]+)$/;

/** The id of the key that sealed a stored text; `undefined`: the text is in clear. */
export function keyIdOf(stored: string): string | undefined {
  return SEALED.exec(stored)?.[1];
}

/** A public name of the key, in every text that it sealed. */
function idOf(key: Buffer): string {
  return createHmac('sha256', key).update('dundun key id').digest('hex').slice(0, 8);
}

/** Seals secrets with one key, and opens those of several. */
export class SecretKeys {
  /** The key that seals. */
  readonly id: string;
  readonly #keys: ReadonlyMap<string, Buffer>;

  /** @param key 32 bytes @param previous keys that only open */
  constructor(
    private readonly key: Buffer,
    previous: readonly Buffer[] = [],
  ) {
    this.id = idOf(key);
    this.#keys = new Map([...previous, key].map((one) => [idOf(one), one]));
  }

  get ids(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** AES-256-GCM, with the row's identity as additional authenticated data. */
  seal(place: SecretColumn, rowId: string, secret: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, iv).setAAD(identity(place, rowId));
    const sealed = [iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return `enc1.${this.id}.${Buffer.concat(sealed).toString('base64url')}`;
  }

  /** @throws UnreadableSecretError for clear text, an unknown key or the text of another row */
  open(place: SecretColumn, rowId: string, stored: string): string {
    const [, keyId, sealed = ''] = SEALED.exec(stored) ?? [];
    if (keyId === undefined)
      throw new UnreadableSecretError(place, 'holds a secret in clear; a restart encrypts it');
    const key = this.#keys.get(keyId);
    if (!key)
      throw new UnreadableSecretError(
        place,
        `is encrypted under another key (${keyId}); set that one as SECRETS_KEY_PREVIOUS`,
      );
    const bytes = Buffer.from(sealed, 'base64url');
    try {
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(identity(place, rowId))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const secret = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
      return Buffer.concat([secret, decipher.final()]).toString('utf8');
    } catch {
      throw new UnreadableSecretError(place, 'was changed, or belongs to another row');
    }
  }
}

function identity({ table, column }: SecretColumn, rowId: string): Buffer {
  return Buffer.from(JSON.stringify([table, column, rowId]), 'utf8');
}
