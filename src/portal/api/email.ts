// Email → API Keys (admin)

/** `GET api/keys`: all, newest first. */
export interface ApiKeys {
  readonly data: readonly ApiKey[];
  readonly scopes: readonly string[];
}

/** `DELETE api/keys/:id` (204) revokes it. */
export interface ApiKey {
  readonly id: string;
  readonly lastFour: string;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

/** `POST api/keys` (201). */
export interface NewApiKey {
  readonly scopes: readonly string[];
  /** `null` or missing: never. */
  readonly expiresAt?: string | null;
}

export interface CreatedApiKey {
  readonly id: string;
  /** `svk_…`, shown this once. */
  readonly key: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
}

// Email → Domains (read: all roles; change: admin)

/**
 * `GET api/domains` answers `Listed<Domain>`; `POST api/domains` (201), `GET api/domains/:id`,
 * `POST api/domains/:id/verify` and `POST api/domains/:id/rotate` answer {@link Domain};
 * `DELETE api/domains/:id` 204.
 */
export interface Domain {
  readonly id: string;
  readonly name: string;
  readonly status: 'pending' | 'verified' | 'failed';
  readonly verifiedAt: string | null;
  readonly records: readonly DomainRecord[];
}

export interface DomainRecord {
  readonly purpose: string;
  readonly type: string;
  /** Fully qualified. */
  readonly name: string;
  readonly value: string;
  /** The domain is not verified without it. */
  readonly required: boolean;
  readonly status: 'missing' | 'mismatch' | 'found' | 'unreachable';
  /** Value that DNS has in its place. */
  readonly found: string | null;
  readonly checkedAt: string | null;
}

export interface NewDomain {
  readonly name: string;
}

/**
 * An address that gets nothing of a channel. `?reveal=true` (admin) of a list is audited; an address
 * is masked, unless revealed or named by the query (read: all roles; change: sender).
 */
export interface BlockedAddress {
  /**
   * Such as `hard_bounce`, `complaint`, `unsubscribe` (only the person takes it back), `manual` or
   * `do_not_call`.
   */
  readonly reason: string;
  /** `null`: every category. */
  readonly category: string | null;
  readonly messageId: string | null;
  readonly createdAt: string;
}

/**
 * Email → Suppressions: `GET api/suppressions?email=&reveal=true` answers `Listed<Suppression>`;
 * `POST api/suppressions` (204) with {@link NewSuppression}; `POST api/suppressions/lift` (204) with
 * {@link LiftSuppression}.
 */
export interface Suppression extends BlockedAddress {
  readonly email: string;
}

export interface NewSuppression {
  readonly email: string;
  /** @default every category */
  readonly category?: 'transactional' | 'marketing';
}

export interface LiftSuppression {
  readonly email: string;
}

/**
 * Senders → Do not call: `GET api/do-not-call?phone=&reveal=true` answers `Listed<DoNotCall>`;
 * `POST api/do-not-call` and `POST api/do-not-call/remove` (204) with {@link NumberToCall}.
 */
export interface DoNotCall extends BlockedAddress {
  readonly phone: string;
}

export interface NumberToCall {
  /** Digits with country code. */
  readonly phone: string;
}
