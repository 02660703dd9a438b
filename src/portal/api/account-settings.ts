// Settings → Account (read and words: admin; rate, orders and limits against abuse: operators) and Settings → SMPP (admin)

/** `GET api/account-settings`; `PATCH api/account-settings` with {@link AccountWordsChange} answers it. */
export interface AccountSettings {
  /** Messages per time in each lane, such as `50/s`; `null`: the gateway's own. */
  readonly rate: string | null;
  readonly defaultRate: string;
  readonly words: AccountWordsChange;
  readonly defaultWords: { readonly stop: readonly string[]; readonly start: readonly string[] };
  /** Caps of orders of airtime and data in any 24 hours; `null`: the account may not order. */
  readonly orders: OrderCaps | null;
}

export interface AccountWordsChange {
  /** Words that opt out, instead of the defaults; `stop` always does. Empty: the defaults. */
  readonly stop: readonly string[];
  readonly start: readonly string[];
  /** Answer to a message that opts out; empty: none. */
  readonly stopReply: string;
  readonly startReply: string;
}

/** `PATCH api/accounts/:id/rate` (204, operators). */
export interface RateChange {
  /** Such as `50/s`; empty: the gateway's own. */
  readonly rate: string;
}

/** `POST api/accounts/:id/orders` (204, operators); `DELETE` (204) switches orders off. */
export interface OrderCaps {
  /** ISO 4217; orders in other currencies are refused. */
  readonly currency: string;
  /** Decimal numbers: of the account, and of each number. */
  readonly daily: string;
  readonly perNumber: string;
}

export const GUARD_ACTIONS = ['deny', 'hold', 'alert'] as const;

export type GuardActionName = (typeof GUARD_ACTIONS)[number];

export const GUARD_COUNTRIES = ['all', 'only', 'except'] as const;

/**
 * Limits against abuse, as `dundun account guard` takes them: `GET api/accounts/:id/guard`, and `PATCH` (204), for
 * operators. An empty text is no limit.
 */
export interface GuardForm {
  readonly countries: (typeof GUARD_COUNTRIES)[number];
  /** ISO 3166 codes of the countries. */
  readonly codes: readonly string[];
  readonly countriesAction: GuardActionName;
  /** Such as `10/h`. */
  readonly recipient: string;
  readonly recipientAction: GuardActionName;
  readonly prefix: string;
  readonly prefixAction: GuardActionName;
  readonly range: string;
  readonly rangeAction: GuardActionName;
  /** Times the busiest hour, and the messages from which it counts. */
  readonly growthFactor: string;
  readonly growthFrom: string;
  readonly growthAction: GuardActionName;
}

export const DATA_CODINGS_0 = ['gsm7', 'ascii', 'latin1'] as const;
export const DATA_CODINGS_1 = ['auto', ...DATA_CODINGS_0] as const;

/** What texts with `data_coding` 0 and 1 are. */
export interface SmppAlphabets {
  readonly dataCoding0: (typeof DATA_CODINGS_0)[number];
  readonly dataCoding1: (typeof DATA_CODINGS_1)[number];
}

/** `GET api/smpp`. */
export interface SmppSettings {
  /** Whether the gateway has an SMPP server (`SMPP_LISTEN`). */
  readonly listens: boolean;
  /** Oldest first. */
  readonly data: readonly SystemId[];
}

export interface SystemId extends SmppAlphabets {
  readonly systemId: string;
  readonly createdAt: string;
  readonly lastBoundAt: string | null;
}

/**
 * `POST api/smpp` (201) with {@link SmppAlphabets}, and `POST api/smpp/:systemId/rotate`. `PATCH
 * api/smpp/:systemId` (204) changes the alphabets, `DELETE` (204) removes it; its binds end within a
 * second.
 */
export interface SmppPair {
  readonly systemId: string;
  /** Shown this once. */
  readonly password: string;
}
