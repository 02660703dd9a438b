import { Global, Inject, Injectable, Module } from '@nestjs/common';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { keyIdOf, type SecretColumn, SecretKeys, UnreadableSecretError } from './secret-keys.js';

type KeySettings = Pick<Environment, 'SECRETS_KEY' | 'SECRETS_KEY_PREVIOUS'>;

/** `undefined` without `SECRETS_KEY`. */
export function secretKeysOf({
  SECRETS_KEY,
  SECRETS_KEY_PREVIOUS,
}: KeySettings): SecretKeys | undefined {
  return SECRETS_KEY && new SecretKeys(SECRETS_KEY, SECRETS_KEY_PREVIOUS && [SECRETS_KEY_PREVIOUS]);
}

/**
 * Encrypts secrets for their column and decrypts them. The column must be in `SECRET_COLUMNS` of
 * `src/gateway-database.ts`, so that the boot and a rotation find its rows. Without `SECRETS_KEY`,
 * outside production, secrets are stored in clear.
 */
@Injectable()
export class Secrets {
  readonly #keys: SecretKeys | undefined;

  constructor(@Inject(ENVIRONMENT) environment: KeySettings) {
    this.#keys = secretKeysOf(environment);
  }

  /** @param rowId the primary key of the row */
  seal(place: SecretColumn, rowId: string, secret: string): string {
    return this.#keys ? this.#keys.seal(place, rowId, secret) : secret;
  }

  /** Takes microseconds; keep the result no longer than the row's other values. @throws UnreadableSecretError */
  open(place: SecretColumn, rowId: string, stored: string): string {
    if (this.#keys) return this.#keys.open(place, rowId, stored);
    if (keyIdOf(stored) === undefined) return stored;
    throw new UnreadableSecretError(place, 'is encrypted; set SECRETS_KEY');
  }
}

@Global()
@Module({ providers: [Secrets], exports: [Secrets] })
export class SecretsModule {}
