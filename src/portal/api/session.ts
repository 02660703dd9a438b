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

/** `GET api/session` (never 401), and the answer to sign-in, set-up and the choice of an account. */
export interface Session {
  /** `null`: signed out; then `account` is `null` and `accounts` is empty. */
  readonly user: PortalUser | null;
  /** The chosen account; `null`: an operator without one, or a user without any account. */
  readonly account: ChoosableAccount | null;
  /** The user's accounts, and the chosen one. An operator finds the others at `GET api/accounts`. */
  readonly accounts: readonly ChoosableAccount[];
  readonly environment: 'development' | 'test' | 'production';
  /** Whether the carrier is the simulator: the page Phone is there. */
  readonly simulator: boolean;
}

/** `POST api/session`. `DELETE api/session` signs out (204). */
export interface SignIn {
  readonly email: string;
  readonly password: string;
}

/** `POST api/session/account`. */
export interface ChooseAccount {
  readonly accountId: string;
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
