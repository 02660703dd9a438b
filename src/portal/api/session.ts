import type { CurlForm } from '../../http/curl-form.js';

// Session

/** Roles of a member of an account; each has the rights of the next. */
export const ROLES = ['admin', 'sender', 'viewer'] as const;

/**
 * `viewer` reads, with numbers and texts masked; `sender` also sends and changes groups and
 * contacts; `admin` also reveals masked values, and manages settings, senders, keys and members.
 */
export type Role = (typeof ROLES)[number];

export interface PortalUser {
  readonly id: string;
  readonly email: string;
  /** Sees every account, approves senders. */
  readonly isOperator: boolean;
}

export interface ChoosableAccount {
  readonly id: string;
  readonly name: string;
  /** An operator has the role `admin` in every account. */
  readonly role: Role;
  readonly suspended: boolean;
}

/** `GET api/session` (never 401), and the answer to sign-in and set-up. */
export interface Session {
  /** `null`: signed out; then `account` is `null` and `accounts` is empty. */
  readonly user: PortalUser | null;
  /**
   * The account that the address names (`/portal/a/{account}/api/session`), else the one that the
   * session started in; `null`: there is none, or it is not one of the user.
   */
  readonly account: ChoosableAccount | null;
  /** The user's accounts, and that of the address. An operator finds the others at `GET api/accounts`. */
  readonly accounts: readonly ChoosableAccount[];
  readonly environment: 'development' | 'test' | 'production';
  /** Whether the carrier is the simulator: the page Phone is there. */
  readonly simulator: boolean;
  /** Requests of the published interface by channel; none while signed out. */
  readonly curls: Readonly<Record<string, CurlForm>>;
  /**
   * `code`: the password is right, and the request lacks the code of the second factor; `second
   * factor`: the person must set one up before the pages of the account open.
   */
  readonly missing: 'code' | 'second factor' | null;
  /** Why the session of the browser's cookie has ended, for people; `null`: there was none, or it goes on. */
  readonly ended: string | null;
}

/** `POST api/session`. `DELETE api/session` signs out (204). */
export interface SignIn {
  readonly email: string;
  readonly password: string;
  /** Of the authenticator app, or a recovery code. */
  readonly secondFactor?: string;
}

/** `GET api/session/all` answers `Listed<OwnSession>`; `DELETE api/session/all/:id` ends one (204). */
export interface OwnSession {
  readonly id: string;
  readonly createdAt: string;
  /** Exact to a minute. */
  readonly lastUsedAt: string;
  /** `null`: it started before the portal kept these. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** Whether this request belongs to it. */
  readonly isCurrent: boolean;
}

// Second factor

/** `GET api/second-factor`. */
export interface SecondFactorState {
  /** Time of its first code; `null`: it is off. */
  readonly since: string | null;
  /** Those that are not used yet. */
  readonly recoveryCodes: number;
}

/** `POST api/second-factor` prepares one; `POST api/second-factor/confirm` switches it on. */
export interface CurrentPassword {
  readonly current: string;
}

/** Shown this once. */
export interface NewSecondFactor {
  /** Key in base32, to type into an app. */
  readonly secret: string;
  /** `otpauth://totp/…` */
  readonly uri: string;
  /** The same as a picture: black squares as an SVG path in a box of `size` units. */
  readonly qr: { readonly size: number; readonly path: string };
}

/** `POST api/second-factor/confirm`, `…/recovery-codes` (replaces them) and `…/remove` (204). */
export interface SecondFactorCode {
  /** Of the authenticator app; for `…/recovery-codes` and `…/remove` also a recovery code. */
  readonly code: string;
}

/** Shown this once; each works once. */
export interface RecoveryCodes {
  readonly codes: readonly string[];
}

/** `POST api/session/password` (204): the user's other sessions end. */
export interface ChangePassword {
  readonly current: string;
  /** The new one. */
  readonly password: string;
}

export const PASSWORD_LENGTH = { min: 12, max: 200 } as const;

// Set-up

/** `POST api/setup/check`: the code of the page's fragment (`#code=`), never in an address. */
export interface SetupCode {
  readonly code: string;
}

/** 404 explains a wrong, used or expired code in its message. */
export interface SetupInfo {
  /** `first`: the first operator; `invite`: a new member or operator; `reset`: a new password. */
  readonly kind: 'first' | 'invite' | 'reset';
  /** The only address that may be given; `null`: the person gives one. */
  readonly email: string | null;
  readonly accountName: string | null;
  readonly role: Role | null;
  readonly isOperator: boolean;
  readonly expiresAt: string;
}

/**
 * `POST api/setup` answers {@link Session}. Where a user with this address exists, an invitation
 * needs that user's password, and adds the account to the user.
 */
export interface SetUp extends SignIn {
  readonly code: string;
}

// Live

/**
 * `GET api/live` is an event stream. `change` says that what the pages show may have changed; its
 * data is {@link LiveChange}. A comment every 15 s keeps it open. It ends (event `end`) at
 * sign-out, at the suspension of the account and before the process stops; poll then, or connect again.
 */
export interface LiveChange {
  /** For `GET api/changes?since=` of the dashboard. */
  readonly cursor: string;
}
