// Alerts (read: all roles, those of their account; operators without a chosen account read all), their rules and
// channels (operators)

/** `GET api/alerts?state=raised|resolved&cursor=` answers `Listed<AlertRow>`, newest first, of 90 days. */
export interface AlertRow {
  readonly id: string;
  readonly kind: string;
  /** Such as `Messages wait`. */
  readonly title: string;
  readonly state: 'raised' | 'resolved';
  /** `null`: of the whole gateway. */
  readonly accountId: string | null;
  readonly subject: string;
  /** What was seen, in one sentence. */
  readonly detail: string;
  readonly raisedAt: string;
  readonly resolvedAt: string | null;
  /** `null`: no notice, because one was sent less than a pause before. */
  readonly notifiedAt: string | null;
  /** Address of the page that shows it. */
  readonly url: string;
}

/** `GET api/alert-rules`, for operators. */
export interface AlertRuleList {
  readonly data: readonly AlertRuleRow[];
  /** Kinds that a further rule may have. */
  readonly kinds: readonly AlertKindRow[];
  readonly channels: readonly AlertChannelRow[];
}

export interface AlertKindRow {
  readonly kind: string;
  readonly title: string;
}

/** `PATCH api/alert-rules/{id}` takes {@link AlertRuleUpdate} and answers it; `DELETE` removes or restores it. */
export interface AlertRuleRow {
  /** The kind of a rule that is there by default. */
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly accountId: string | null;
  readonly settings: readonly AlertSettingRow[];
  /** As written, such as `360m`. */
  readonly pause: string;
  /** `null`: those that its kind tells. */
  readonly channels: readonly string[] | null;
  /** Whether its kind tells the webhooks of the account alone. */
  readonly tellsAccount: boolean;
  readonly enabled: boolean;
}

export interface AlertSettingRow {
  readonly name: string;
  readonly description: string;
  /** As written. */
  readonly value: string;
}

export interface AlertRuleUpdate {
  /** By name; an empty text restores the default. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly pause?: string;
  readonly channels?: readonly string[] | null;
  readonly enabled?: boolean;
}

/** `POST api/alert-rules`. */
export interface NewAlertRuleBody extends AlertRuleUpdate {
  readonly kind: string;
  readonly accountId?: string;
}

/** `POST api/alert-channels/{id}/test` answers 204, and `DELETE api/alert-channels/{id}`. */
export interface AlertChannelRow {
  readonly id: string;
  readonly kind: AlertChannelName;
  /** An address, or scheme, host and port of a URL. */
  readonly target: string;
  readonly createdAt: string;
  /** Of the last notice; `null`: delivered, or none yet. */
  readonly error: string | null;
}

export const ALERT_CHANNELS = ['email', 'webhook', 'slack'] as const;

export type AlertChannelName = (typeof ALERT_CHANNELS)[number];

/** `POST api/alert-channels`. */
export interface NewAlertChannel {
  readonly kind: AlertChannelName;
  readonly target: string;
}

export interface CreatedAlertChannel extends AlertChannelRow {
  /** Signs the requests of a webhook, shown once; `null`: of another kind. */
  readonly secret: string | null;
}
