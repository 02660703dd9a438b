// Operators

/** `GET api/accounts` answers `Listed<AccountRow>`, newest first. */
export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'suspended';
  readonly createdAt: string;
}

/** `POST api/accounts` (201). */
export interface NewAccount {
  readonly name: string;
}

/** The secrets are shown this once. */
export interface CreatedAccount {
  readonly id: string;
  readonly name: string;
  readonly apiToken: string;
  readonly apiKey: string;
}

/** `POST api/accounts/:id/suspend` (204), `POST api/accounts/:id/resume` with this (204). */
export interface ResumeAccount {
  /** Treatment of batches that were queued or scheduled. */
  readonly waiting: 'send' | 'cancel';
}

/** `GET api/carriers`. */
export interface Carriers {
  readonly data: readonly Carrier[];
}

export interface Carrier {
  /** As in `CARRIERS_FILE`, or as `CARRIER` and the variables beside it choose it. */
  readonly name: string;
  readonly channels: readonly string[];
  /** Such as `400/s`; `null`: no limit over all accounts. */
  readonly rateLimit: string | null;
  /** Lanes with due work that rest, by the code of their pause. */
  readonly pausedLanes: Readonly<Record<string, number>>;
}
