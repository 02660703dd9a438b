// Rate cards (operators)

/** `GET api/rates` answers `Listed<RateVersionRow>`, by card and start. */
export interface RateVersionRow {
  /** `variables`: the variables of the gateway give its rates. */
  readonly id: string;
  readonly card: string;
  readonly currency: string;
  /** `null`: it has always been in force. */
  readonly startsAt: string | null;
  /** Number of its rates. */
  readonly rates: number;
  readonly state: 'in force' | 'later' | 'former';
}

/** The price of a part of an SMS, of a message, or of a minute of a call; a decimal text. */
export interface RateRow {
  readonly channel: string;
  readonly category: string | null;
  /** Start of numbers; `*`: every other recipient. */
  readonly prefix: string;
  readonly price: string;
  /** Seconds of the first and of each further block of a call, such as `60/60`. */
  readonly billing: string | null;
}

/** `GET api/rates/find?card=&number=` answers `Listed<FoundRateRow>`: now, and in later versions. */
export interface FoundRateRow extends RateRow {
  readonly version: string;
  readonly currency: string;
  readonly startsAt: string | null;
}

/** The first rows, and how many there are. */
export interface RateRows<T = RateRow> {
  readonly count: number;
  readonly rows: readonly T[];
}

export interface ChangedRateRow extends RateRow {
  readonly formerPrice: string;
  readonly formerBilling: string | null;
}

/** `GET api/rates/compare?before=&after=` */
export interface RateComparison {
  readonly formerCurrency: string;
  readonly currency: string;
  readonly added: RateRows;
  readonly removed: RateRows;
  readonly changed: RateRows<ChangedRateRow>;
  readonly same: number;
}

/** `POST api/rates/preview` answers `RatePreview`, `POST api/rates` (201) stores it. */
export interface NewRates {
  /** Columns `channel,prefix,category,price` and, for calls, `billing`. */
  readonly csv: string;
  readonly card: string;
  readonly currency: string;
  /** A date, which begins in UTC, or an RFC 3339 time. @default now */
  readonly from?: string;
  /** Also where accounts with money in another currency use the card. */
  readonly anyCurrency?: boolean;
  /** `follows` of the preview that was confirmed. */
  readonly follows?: string;
}

/** What the file changes of the version in force when it starts. */
export interface RatePreview extends Omit<RateComparison, 'formerCurrency'> {
  readonly card: string;
  readonly from: string;
  /** Number of its rates. */
  readonly rates: number;
  /** Version in force before; `none`: the card is new. */
  readonly follows: string;
  /** Start of a later version that is there already; `null`: none is. */
  readonly until: string | null;
}

export interface ImportedRates {
  readonly version: string;
}
