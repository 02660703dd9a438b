import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { OPTIONAL_TIME, TIME } from '../../accounts/accounts.tables.js';
import { tablesOf } from '../../config/entity-tables.js';
import type { SecretColumn } from '../../secrets/secret-keys.js';
import { OfUser, USER_ID } from '../portal.tables.js';

/** A browser or a network from which a user has signed in. */
@Entity('gateway_known_place')
export class KnownPlace {
  @OfUser() @PrimaryColumn(USER_ID) readonly userId!: string;
  /** `browser` and the SHA-256 of its cookie, or `network` and an IPv4 address or IPv6 /64. */
  @PrimaryColumn({ length: 80 }) readonly place!: string;
  @Index('gateway_known_place_used')
  @Column({ ...TIME, name: 'last_used_at' })
  readonly lastUsedAt!: Date;
}

/** The authenticator app of a user. */
@Entity('gateway_second_factor')
export class SecondFactor {
  @OfUser() @PrimaryColumn(USER_ID) readonly userId!: string;
  /** Key of its codes in base32, as `Secrets` stores it. */
  @Column({ length: 255 }) readonly secret!: string;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  /** `null`: the user has not entered a code yet, and none is asked for. */
  @Column({ ...OPTIONAL_TIME, name: 'confirmed_at' }) readonly confirmedAt!: Date | null;
  /** Period of 30 seconds of the last code, so that no code works twice. */
  @Column('int', { name: 'last_period' }) readonly lastPeriod!: number;
}

/** A recovery code that is not used yet. */
@Entity('gateway_recovery_code')
export class RecoveryCode {
  @OfUser() @PrimaryColumn(USER_ID) readonly userId!: string;
  /** SHA-256 of the code, hex. */
  @PrimaryColumn({ length: 64 }) readonly fingerprint!: string;
}

export const SECOND_FACTOR_SECRET: SecretColumn = {
  table: 'gateway_second_factor',
  column: 'secret',
  key: 'user_id',
};

export const SIGN_IN_TABLES = tablesOf('SignIn1790000001202', [
  KnownPlace,
  SecondFactor,
  RecoveryCode,
]);
