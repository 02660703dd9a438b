import { readAmount } from '../billing/money.js';
import { duration, form, type Parse, text, wholeNumber } from '../settings/parsers.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A setting of the rules of a kind. */
interface AlertSetting<T = unknown> {
  readonly parse: Parse<T>;
  /** As written; `''`: not set. */
  readonly default: string;
  readonly description: string;
}

interface KindOfAlert {
  /** In a list, and as the subject of an e-mail. */
  readonly title: string;
  /** The same once it is over. */
  readonly over: string;
  /**
   * `operator`: every channel of the operators is notified. `account`: the webhooks of its account only, unless its
   * rule names channels. An alert of an account is an event of its webhooks in both cases.
   */
  readonly tells: 'operator' | 'account';
  /** Time without a second notice of the same alert, as written. */
  readonly pause: string;
  readonly settings: Readonly<Record<string, AlertSetting>>;
  /**
   * Of a kind that `Alerts.raise()` raises: it is resolved when it was not raised again for so long, in
   * milliseconds. @default a watch finds it, and finds it no more
   */
  readonly lapses?: number;
}

const percent = wholeNumber(1, 100);
const share = (value: string, description: string): AlertSetting<number> => {
  return { parse: percent, default: value, description };
};
const count = (value: string, description: string): AlertSetting<number> => {
  return { parse: wholeNumber(1, 1_000_000_000), default: value, description };
};
const time = (value: string, most: number, description: string): AlertSetting<number> => {
  return { parse: duration(1_000, most), default: value, description };
};
const name = (
  pattern: RegExp,
  rule: string,
  description: string,
): AlertSetting<string | undefined> => {
  const parse = text([pattern, `must be ${rule}`]);
  const parsed = (written: string) => (written === '' ? undefined : parse(written));
  return { parse: parsed, default: '', description };
};

const OF_ONE = {
  provider: name(/^[\w-]{1,32}$/, 'the name of a carrier', 'of one carrier'),
  country: name(/^[A-Z]{2}$/, 'a country in the form of ISO 3166, such as NG', 'to one country'),
};

const amount = form('must be an amount such as 5000 or 12.50', (written) => readAmount(written));

/**
 * Every kind of alert. A module that raises alerts by itself adds its kind here, with `lapses`, and calls
 * `Alerts.raise()`.
 */
export const ALERT_KINDS = {
  delivered_share: {
    title: 'Fewer messages are delivered than usual',
    over: 'As many messages are delivered as usual',
    tells: 'operator',
    pause: '6h',
    settings: {
      window: time('1h', 6 * HOUR, 'messages accepted in so long are looked at'),
      within: time('5m', HOUR, 'those delivered within so long count, on the days before, too'),
      minimum: count('50', 'fewest messages in the window, and in the same hours of a day before'),
      drop: share('10', 'percentage points below the middle of the days before'),
      ...OF_ONE,
    },
  },
  failures: {
    title: 'Many messages fail with the same code',
    over: 'Fewer messages fail with the code',
    tells: 'operator',
    pause: '1h',
    settings: {
      window: time('15m', 6 * HOUR, 'failures of so long are counted'),
      minimum: count('20', 'fewest failures with one code'),
      share: share('20', 'percent of the messages of the channel that ended in the window'),
      code: name(
        /^\S{1,64}$/,
        'a code of at most 64 characters',
        'one code; without it each by itself',
      ),
      channel: name(/^[a-z]{1,16}$/, 'a channel such as sms', 'on one channel'),
    },
  },
  lane_waiting: {
    title: 'Messages wait',
    over: 'The messages wait no longer',
    tells: 'operator',
    pause: '1h',
    settings: {
      after: time('15m', 7 * DAY, 'the oldest due message of a lane has waited so long'),
    },
  },
  webhook_failing: {
    title: 'A webhook fails',
    over: 'The webhook works again',
    tells: 'account',
    pause: '6h',
    settings: {
      after: time('15m', 5 * DAY, 'no attempt has succeeded for so long'),
    },
  },
  balance_low: {
    title: 'A balance is low',
    over: 'The balance is not low any more',
    tells: 'account',
    pause: '1d',
    settings: {
      below: {
        parse: amount,
        default: '1',
        description: 'less is available, in the currency of the account',
      },
    },
  },
  domain_expiring: {
    title: 'A sending domain is about to lose its verification',
    over: 'The records of the domain are in DNS again',
    tells: 'account',
    pause: '1d',
    settings: {
      before: time('2d', 3 * DAY, 'so long before, or less'),
    },
  },
  certificate_expiring: {
    title: 'A TLS certificate is about to expire',
    over: 'The TLS certificate is renewed',
    tells: 'operator',
    pause: '1d',
    settings: {
      before: time('14d', 90 * DAY, 'so long before, or less'),
    },
  },
  doubtful_receipts: {
    title: 'Reports of delivery are doubted',
    over: 'The reports of delivery are not doubted any more',
    tells: 'operator',
    pause: '6h',
    settings: {
      window: time('24h', 7 * DAY, 'messages accepted in so long are looked at'),
      doubt: share('20', 'percent of the deliveries that may not have arrived, at least'),
      ...OF_ONE,
    },
  },
  abuse: {
    title: 'A send went over a limit against abuse',
    over: 'No send has gone over the limit for an hour',
    tells: 'operator',
    pause: '1h',
    settings: {},
    lapses: HOUR,
  },
  notice_undelivered: {
    title: 'A notice of an alert was not delivered',
    over: 'No notice to the channel has failed for six hours',
    tells: 'operator',
    pause: '6h',
    settings: {},
    lapses: 6 * HOUR,
  },
} as const satisfies Readonly<Record<string, KindOfAlert>>;

export type AlertKind = keyof typeof ALERT_KINDS;

export const ALERT_KIND_NAMES = Object.keys(ALERT_KINDS) as readonly AlertKind[];

export function isAlertKind(written: string): written is AlertKind {
  return Object.hasOwn(ALERT_KINDS, written);
}

export function kindOf(kind: AlertKind): KindOfAlert {
  return ALERT_KINDS[kind];
}

/** The parsed settings of a rule of the kind. */
export type SettingsOf<Kind extends AlertKind> = {
  readonly [
    Name in keyof (typeof ALERT_KINDS)[Kind]['settings']
  ]: (typeof ALERT_KINDS)[Kind]['settings'][Name] extends {
    readonly parse: Parse<infer Value>;
  }
    ? Value
    : never;
};

/** The settings of a rule as written, each other one with its default. */
export function writtenSettings(
  kind: AlertKind,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(kindOf(kind).settings).map(([setting, { default: usual }]) => [
      setting,
      own[setting] ?? usual,
    ]),
  );
}
