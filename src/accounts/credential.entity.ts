import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { CredentialKind } from './credential-secret.js';
import { epochMilliseconds } from './epoch-milliseconds.js';
import type { Scope } from './scope.js';

/** An API token or key; the secret itself is shown once and never stored. */
@Entity('gateway_credential')
export class Credential {
  /** `crd_` and 22 base62 characters. */
  @PrimaryColumn({ type: 'varchar', length: 32 })
  readonly id!: string;

  @Column({ name: 'account_id', type: 'varchar', length: 32 })
  readonly accountId!: string;

  @Column({ type: 'varchar', length: 16 })
  readonly kind!: CredentialKind;

  /** SHA-256 of the secret, hex. */
  @Column({ type: 'varchar', length: 64 })
  readonly fingerprint!: string;

  /** The secret's last four characters, to tell two apart. */
  @Column({ name: 'last_four', type: 'varchar', length: 4 })
  readonly lastFour!: string;

  /** Of a key; a token has none and needs none. */
  @Column({ type: 'simple-array' })
  readonly scopes!: readonly Scope[];

  @Column({ name: 'created_at', type: 'bigint', transformer: epochMilliseconds })
  readonly createdAt!: Date;

  @Column({ name: 'revoked_at', type: 'bigint', nullable: true, transformer: epochMilliseconds })
  readonly revokedAt!: Date | null;

  /** It stops working then; `null`: never. */
  @Column({ name: 'expires_at', type: 'bigint', nullable: true, transformer: epochMilliseconds })
  readonly expiresAt!: Date | null;

  /** Up to half a minute behind; `null`: never used. */
  @Column({ name: 'last_used_at', type: 'bigint', nullable: true, transformer: epochMilliseconds })
  readonly lastUsedAt!: Date | null;
}
