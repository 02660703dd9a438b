import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { DataSource } from 'typeorm';
import { type Environment, ENVIRONMENT } from '../../../config/environment.js';
import { digestKeyOf } from '../../../secrets/digest-key.js';
import { Secrets } from '../../../secrets/secrets.js';

export const UNSUBSCRIBE_PATH = 'email/unsubscribe';

/** The recipient of a marketing message, and the message itself. */
export interface Subscription {
  readonly tenant: string;
  readonly recipient: string;
  readonly id: string;
}

type Settings = Pick<Environment, 'PUBLIC_URL' | 'SECRETS_KEY' | 'DATABASE_URL'>;

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** 471 characters for the longest address. */
const TOKEN = /^[\w-]{40,600}$/;

/**
 * Addresses of the pages where recipients unsubscribe. The token is encrypted and authenticated, so
 * that it neither shows the recipient nor can be guessed; it works as long as the database exists,
 * also after a change of `SECRETS_KEY` and after the message was deleted.
 */
@Injectable()
export class UnsubscribeLinks implements OnModuleInit {
  #cipherKey = Buffer.alloc(0);
  #ivKey = Buffer.alloc(0);

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly secrets: Secrets,
    @Inject(ENVIRONMENT) private readonly settings: Settings,
  ) {}

  async onModuleInit(): Promise<void> {
    const key = Buffer.from(
      await digestKeyOf(this.dataSource, this.secrets, this.settings),
      'base64',
    );
    const keys = Buffer.from(hkdfSync('sha256', key, '', 'email unsubscribe', 2 * KEY_BYTES));
    this.#cipherKey = keys.subarray(0, KEY_BYTES);
    this.#ivKey = keys.subarray(KEY_BYTES);
  }

  /** For the option `unsubscribeUrl` of `smtp()`: the same for the same message. */
  urlOf(subscription: Subscription): string {
    const base = this.settings.PUBLIC_URL.replace(/\/+$/, '');
    return `${base}/${UNSUBSCRIBE_PATH}/${this.tokenOf(subscription)}`;
  }

  tokenOf({ tenant, recipient, id }: Subscription): string {
    const text = JSON.stringify([tenant, recipient, id]);
    // Derived from the text, so that two texts never share one.
    const iv = createHmac('sha256', this.#ivKey).update(text).digest().subarray(0, IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#cipherKey, iv);
    const sealed = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed).toString('base64url');
  }

  /** `undefined`: this gateway did not make the token. */
  read(token: string): Subscription | undefined {
    if (!TOKEN.test(token)) return undefined;
    const bytes = Buffer.from(token, 'base64url');
    // The decoder ignores a last character that is one too many, and bits of the last one.
    if (bytes.toString('base64url') !== token) return undefined;
    try {
      const decipher = createDecipheriv(CIPHER, this.#cipherKey, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      }).setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = [decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()];
      const [tenant, recipient, id] = JSON.parse(Buffer.concat(text).toString()) as string[];
      return { tenant: tenant ?? '', recipient: recipient ?? '', id: id ?? '' };
    } catch {
      return undefined;
    }
  }
}
