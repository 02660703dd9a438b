/** Time in ISO 8601, UTC, such as `2026-01-31T08:15:00.000Z`. */
export type Timestamp = string;

/**
 * An address, masked such as `+234 801 ••• 5678` or `h•••@demo.test`; whole only in an answer that the
 * caller asked to reveal. Empty where an erasure or retention removed it.
 */
export type ShownAddress = string;

export interface ErrorAnswer {
  readonly error: {
    /** Such as `invalid_field`, `forbidden`, `not_found`, `already_sent`. */
    readonly code: string;
    /** The cause and the remedy. */
    readonly message: string;
    /** Each wrong field of the request. */
    readonly fields?: readonly { readonly path: string; readonly message: string }[];
  };
}

/**
 * A page of a list. Each page looks at a bounded number of entries, so one before the last may have
 * fewer than `limit`, even none.
 */
export interface ListAnswer<T> {
  readonly data: readonly T[];
  /** Value of `cursor` for the next page; `null`: this is the last one. */
  readonly nextCursor: string | null;
}

export interface ListQuery {
  readonly cursor?: string;
  /** 1 to 200. @default 50 */
  readonly limit?: number;
}

/** Narrows to one tenant of those that the caller may see. @default all of them */
export interface TenantQuery {
  readonly tenant?: string;
}
