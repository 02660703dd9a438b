import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { ACCOUNT_ID, OfAccount, OPTIONAL_TIME, TIME } from '../accounts/accounts.tables.js';
import { columnsAdded, tablesOf } from '../config/entity-tables.js';
import type { Role } from './portal-api.js';

export const USER_ID = { type: 'varchar', length: 32, name: 'user_id' } as const;
const OPTIONAL_ACCOUNT_ID = { ...ACCOUNT_ID, nullable: true } as const;
/** Longest part of a `User-Agent` that is kept. */
export const USER_AGENT_LENGTH = 200;
const ROLE = { type: 'varchar', length: 16 } as const;

export const OfUser = (): PropertyDecorator => ForeignKey(() => User, { onDelete: 'CASCADE' });

/** A person who signs in to the portal. */
@Entity('gateway_user')
export class User {
  /** `usr_` and 22 base62 characters. */
  @PrimaryColumn({ length: 32 }) readonly id!: string;
  /** In lower case. */
  @Column({ length: 254, unique: true }) readonly email!: string;
  /** As `hashPassword()` returns it. */
  @Column({ length: 255 }) readonly password!: string;
  /** 1: an operator, who may do everything in every account. */
  @Column('smallint') readonly operator!: number;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  @Column({ ...OPTIONAL_TIME, name: 'last_sign_in_at' }) readonly lastSignInAt!: Date | null;
}

/** A user's role in an account. */
@Entity('gateway_member')
export class MemberEntity {
  @OfAccount() @PrimaryColumn(ACCOUNT_ID) readonly accountId!: string;
  @Index('gateway_member_user') @OfUser() @PrimaryColumn(USER_ID) readonly userId!: string;
  @Column(ROLE) readonly role!: Role;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
}

export type LinkKind = 'first' | 'invite' | 'reset';

/** A one-time set-up link, for a new user or a new password. The code itself is not stored. */
@Entity('gateway_user_link')
export class UserLink {
  /** `lnk_` and 22 base62 characters. */
  @PrimaryColumn({ length: 32 }) readonly id!: string;
  /** SHA-256 of the code, hex. */
  @Column({ length: 64, unique: true }) readonly fingerprint!: string;
  @Column('varchar', { length: 16 }) readonly kind!: LinkKind;
  /** The account that the user joins, with `role`. */
  @Index('gateway_user_link_account')
  @OfAccount()
  @Column(OPTIONAL_ACCOUNT_ID)
  readonly accountId!: string | null;
  @Column({ ...ROLE, nullable: true }) readonly role!: Role | null;
  /** 1: the user becomes an operator. */
  @Column('smallint') readonly operator!: number;
  /** User whose password a reset sets. */
  @OfUser() @Column({ ...USER_ID, nullable: true }) readonly userId!: string | null;
  /** The only address that may use it; `null`: any. */
  @Column('varchar', { length: 254, nullable: true }) readonly email!: string | null;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  @Column({ ...TIME, name: 'expires_at' }) readonly expiresAt!: Date;
  @Column({ ...OPTIONAL_TIME, name: 'used_at' }) readonly usedAt!: Date | null;
}

@Entity('gateway_session')
export class SessionEntity {
  /** SHA-256 of the cookie's value, hex. */
  @PrimaryColumn({ length: 64 }) readonly id!: string;
  @Index('gateway_session_user') @OfUser() @Column(USER_ID) readonly userId!: string;
  @OfAccount() @Column(OPTIONAL_ACCOUNT_ID) readonly accountId!: string | null;
  @Column({ ...TIME, name: 'created_at' }) readonly createdAt!: Date;
  /** Exact to a minute. */
  @Index('gateway_session_last_used')
  @Column({ ...TIME, name: 'last_used_at' })
  readonly lastUsedAt!: Date;
  /** Where it started: IP address, and the start of the header `User-Agent`. */
  @Column('varchar', { length: 45, nullable: true }) readonly ip!: string | null;
  @Column('varchar', { name: 'user_agent', length: USER_AGENT_LENGTH, nullable: true })
  readonly userAgent!: string | null;
}

/**
 * An action of a person. Rows are inserted only, in the transaction of the change. There are no foreign
 * keys: an entry outlives its user.
 */
@Entity('gateway_audit')
@Index('gateway_audit_account', ['accountId', 'id'])
export class AuditEntity {
  /** UUIDv7, so that ids order the entries. */
  @PrimaryColumn('uuid') readonly id!: string;
  @Column(TIME) readonly at!: Date;
  /** `null`: the command line. */
  @Column({ ...USER_ID, nullable: true }) readonly userId!: string | null;
  @Column('varchar', { length: 45, nullable: true }) readonly ip!: string | null;
  @Column(OPTIONAL_ACCOUNT_ID) readonly accountId!: string | null;
  @Column('varchar', { length: 64 }) readonly action!: string;
  @Column('varchar', { length: 255, nullable: true }) readonly target!: string | null;
}

/** Longest parts of a saved view. */
export const VIEW_LENGTHS = { page: 32, name: 40, query: 2_000 } as const;

/** A filter of a list under a name. */
@Entity('gateway_saved_view')
@Index('gateway_saved_view_account', ['accountId', 'userId', 'page'])
export class SavedViewEntity {
  /** SHA-256 of account, owner, page and name, hex: a name is kept once, also by two tabs at a time. */
  @PrimaryColumn({ length: 64 }) readonly id!: string;
  @OfAccount() @Column(ACCOUNT_ID) readonly accountId!: string;
  /** `null`: it is shared with the account. */
  @OfUser() @Column({ ...USER_ID, nullable: true }) readonly userId!: string | null;
  @Column({ length: VIEW_LENGTHS.page }) readonly page!: string;
  @Column({ length: VIEW_LENGTHS.name }) readonly name!: string;
  @Column({ length: VIEW_LENGTHS.query }) readonly query!: string;
}

export const PORTAL_TABLES = tablesOf('Portal1700000006000', [
  User,
  MemberEntity,
  UserLink,
  SessionEntity,
  AuditEntity,
]);

export const SESSION_ORIGIN = columnsAdded('SessionOrigin1790000001201', [
  [SessionEntity, ['ip', 'userAgent']],
]);

export const SAVED_VIEW_TABLES = tablesOf('SavedViews1790000002405', [SavedViewEntity]);
