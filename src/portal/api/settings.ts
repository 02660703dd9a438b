import type { Role } from './session.js';

// Settings → Security (admin)

/** `GET api/security`. */
export interface Security {
  /** `null`: none is valid. */
  readonly token: TokenInfo | null;
  /** Whether every member needs a second factor. */
  readonly requiresSecondFactor: boolean;
}

/** `PATCH api/security` answers {@link Security}. */
export interface SecurityChange {
  readonly requiresSecondFactor: boolean;
}

/** `GET api/tokens`: the API tokens of the account, newest first. */
export interface ApiTokens {
  readonly data: readonly ApiTokenRow[];
  readonly scopes: readonly string[];
}

/** `DELETE api/tokens/:id` (204) revokes it. */
export interface ApiTokenRow {
  readonly id: string;
  /** `null`: the token that the account was made with. */
  readonly name: string | null;
  readonly lastFour: string;
  readonly status: 'active' | 'expired' | 'revoked';
  /** Empty: all. */
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

/** `POST api/tokens` (201). */
export interface NewApiToken {
  readonly name: string;
  /** Empty: all. */
  readonly scopes: readonly string[];
  /** `null` or missing: never. */
  readonly expiresAt?: string | null;
}

/** `POST api/tokens/:id/rotate`. */
export interface RotateApiToken {
  /** Hours for which the former token still works; 0: it stops at once. */
  readonly overlapHours: number;
}

export interface CreatedApiToken {
  readonly id: string;
  /** `tok_…`, shown this once. */
  readonly token: string;
  /** When the former token stops; `null`: it has stopped, or there is none. */
  readonly formerUntil: string | null;
}

export interface TokenInfo {
  readonly lastFour: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

/** `POST api/security/rotate`: the former token stops working at once. */
export interface RotatedToken {
  /** `tok_…`, shown this once. */
  readonly token: string;
  readonly info: TokenInfo;
}

// Settings → Webhook (read: all roles; change: admin)

/** `GET api/webhooks`: all of the account, at most {@link Webhooks.most}. */
export interface Webhooks {
  readonly data: readonly Webhook[];
  readonly most: number;
  /** The kinds of callbacks that there are, for `events`. */
  readonly kinds: readonly string[];
}

export interface Webhook {
  readonly id: string;
  readonly url: string;
  /** `null`: every kind. */
  readonly events: readonly string[] | null;
  readonly status: 'enabled' | 'disabled';
  /** `gone`: it answered 410; `failing`: no success for five days; `account`: disabled here or by API. */
  readonly disabledReason: 'gone' | 'failing' | 'account' | null;
  readonly disabledAt: string | null;
  /** First failure since the last success. */
  readonly failingSince: string | null;
  readonly createdAt: string;
  /** Until then callbacks are also signed with the previous secret. */
  readonly previousSecretUntil: string | null;
}

/** `POST api/webhooks` (201) answers {@link WebhookSecret}. */
export interface NewWebhook {
  readonly url: string;
  readonly events?: readonly string[] | null;
}

/** `PATCH api/webhooks/:id` answers {@link Webhook}; `DELETE api/webhooks/:id` 204. */
export interface WebhookChange extends Partial<NewWebhook> {
  readonly enabled?: boolean;
}

/** `POST api/webhooks/:id/rotate-secret`. */
export interface WebhookSecret {
  readonly webhook: Webhook;
  /** `whsec_…`, shown this once. */
  readonly secret: string;
}

/** `POST api/webhooks/:id/test` (202): a callback of type `test` is due at once. */
export interface TestEvent {
  readonly deliveryId: string;
}

/** `GET api/webhooks/events`: every kind of callback. */
export interface WebhookEvents {
  readonly data: readonly WebhookEvent[];
}

export interface WebhookEvent {
  /** Such as `sms.delivery_report`. */
  readonly type: string;
  readonly summary: string;
  readonly description: string;
  /** A body with made-up values, as indented JSON. */
  readonly example: string;
}

export const WEBHOOK_PERIODS = ['24h', '14d'] as const;
export type WebhookPeriod = (typeof WEBHOOK_PERIODS)[number];

/**
 * `GET api/webhooks/:id/success?period=24h`: attempts by hour, of `14d` by day in UTC, oldest first, from
 * the newest 20,000 on.
 */
export interface WebhookSuccess {
  readonly slots: readonly {
    readonly at: string;
    readonly succeeded: number;
    readonly failed: number;
  }[];
  /** Start of the oldest slot that was counted, where older attempts were not; `null`: all were. */
  readonly countedSince: string | null;
}

/** Query of `GET api/webhooks/:id/attempts`. */
export interface WebhookAttemptFilter {
  readonly event?: string;
  readonly result?: 'success' | 'failed';
  /** HTTP status of the answer, or the error without one, such as `timeout`. */
  readonly code?: string;
  readonly since?: string;
  readonly until?: string;
}

/**
 * `GET api/webhooks/:id/attempts` answers `Listed<WebhookAttempt>`, newest first. A page looks at 2,000
 * attempts, so with {@link WebhookAttemptFilter} it may have few, even none, before the last one.
 */
export interface WebhookAttempt {
  /** The `webhook-id` of the request. */
  readonly deliveryId: string;
  readonly messageId: string;
  /** `type` of the callback, such as `sms.delivery_report`. */
  readonly type: string;
  /** That the callback tells of; `null`: none, or it is deleted. */
  readonly status: string | null;
  /** 1 for the first attempt of a schedule; each redelivery begins one. */
  readonly attempt: number;
  /** Redeliveries of the callback up to this attempt. */
  readonly redeliveries: number;
  readonly at: string;
  readonly durationMs: number;
  /** `null`: no answer came. */
  readonly statusCode: number | null;
  /** Such as `http_status` or `timeout`; `null`: success. */
  readonly error: string | null;
  /** The cause in words with the remedy; `null`: success. */
  readonly errorText: string | null;
  /** JSON of the callback, with numbers and texts masked; `null`: deleted after 14 days. */
  readonly request: string | null;
  /** Start of the answer's body, at most 1 kB, masked. */
  readonly response: string | null;
  /** The delivery now: `delivered`, `due` again at `nextAttemptAt`, or `exhausted`. */
  readonly state: 'delivered' | 'due' | 'exhausted';
  readonly nextAttemptAt: string | null;
}

/** `POST api/webhooks/:id/redeliver` (202); `{}`: all that were not delivered. */
export interface Redeliver {
  readonly deliveryId?: string;
  /** Every callback made at or after this time, delivered or not. */
  readonly since?: string;
}

export interface Redelivered {
  readonly redelivered: number;
}

// Settings → Members (admin)

/** `GET api/members`. */
export interface Members {
  readonly data: readonly Member[];
  /** Links that were neither used nor have expired. */
  readonly invitations: readonly Invitation[];
}

/** `PATCH api/members/:userId` with {@link MemberChange}; `DELETE api/members/:userId` 204. */
export interface Member {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly joinedAt: string;
  readonly lastSignInAt: string | null;
  readonly hasSecondFactor: boolean;
  /** Whether this is the signed-in user, who cannot change or remove itself. */
  readonly isSelf: boolean;
}

export interface MemberChange {
  readonly role: Role;
}

/** `DELETE api/members/invitations/:id` (204) withdraws it. */
export interface Invitation {
  readonly id: string;
  readonly role: Role;
  readonly email: string | null;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** `POST api/members` (201). */
export interface NewInvitation {
  readonly role: Role;
  /** The only address that may use the link. */
  readonly email?: string;
}

export interface InvitationLink {
  readonly invitation: Invitation;
  /** Shown this once; hand it to the person. Works once, for an hour. */
  readonly link: string;
}

// Settings → Audit (admin)

/** `GET api/audit`, newest first, of the chosen account; an operator without one sees all. */
export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  /** `null`: the command line. */
  readonly userId: string | null;
  /** `null`: the command line, or the user was removed. */
  readonly userEmail: string | null;
  /** IP address of the request. */
  readonly ip: string | null;
  readonly accountId: string | null;
  /** Such as `token.rotated`. */
  readonly action: string;
  /** The action in words. */
  readonly title: string;
  /** Subject of the change: an id, a sender ID, a role. Never a secret. */
  readonly target: string | null;
  /** `target` with the address of a user or an invitation in place of its id, while there is one. */
  readonly targetText: string | null;
}
