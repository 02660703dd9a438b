// Margins (operators)

/**
 * `GET api/margins?month=2026-11&cursor=`: a part of the month. Rows of several parts with the same
 * names are added.
 */
export interface MarginsPart {
  readonly rows: readonly MarginRow[];
  /** Messages that were read. */
  readonly read: number;
  /** `null`: the last part. */
  readonly nextCursor: string | null;
}

/** Amounts are decimal texts. */
export interface MarginRow {
  readonly accountId: string;
  readonly accountName: string;
  readonly channel: string;
  /** Empty: not known. */
  readonly carrier: string;
  /** ISO 3166 alpha-2; empty: none, or not known. */
  readonly country: string;
  readonly messages: number;
  readonly parts: number;
  readonly currency: string;
  readonly price: string;
  /** `null`: the cost is not known. */
  readonly costCurrency: string | null;
  readonly cost: string;
}

/** `GET api/margins/balances`: accounts that pay. */
export interface LowestBalances {
  readonly accounts: number;
  /** Number of those that may not spend anything. */
  readonly empty: number;
  /** The hundred that may spend least. */
  readonly data: readonly {
    readonly accountId: string;
    readonly name: string;
    readonly available: string;
    readonly currency: string;
  }[];
}
