// Senders (read: all roles; change: admin)

export type SenderState = 'approved' | 'pending';

/** `GET api/senders`: all of the account. */
export interface Senders {
  /** Those that an admin adds. */
  readonly data: readonly Sender[];
  /** What senders of each channel are. */
  readonly kinds: readonly SenderKind[];
  /** Senders that a message may have, by channel; channels without a list are left out. */
  readonly ofChannels: Readonly<Record<string, readonly string[]>>;
  /** `operator`: a new one is `pending` until an operator approves it. */
  readonly approval: 'auto' | 'operator';
}

/** Words for the senders of a channel. */
export interface SenderKind {
  readonly channel: string;
  /** Such as `sender ID`. */
  readonly one: string;
  readonly many: string;
  /** The form of one. */
  readonly hint: string;
  /** Where there is none. */
  readonly empty: string;
  readonly icon: 'at' | 'call';
  /** An admin asks for them; else an operator adds them. */
  readonly isAskedFor: boolean;
}

/** `DELETE api/senders/:channel/:sender` 204. */
export interface Sender {
  readonly channel: string;
  readonly sender: string;
  readonly state: SenderState;
}

/** `POST api/senders` (201) answers {@link Sender}. */
export interface NewSender {
  readonly channel: string;
  readonly sender: string;
}

/** `GET api/sender-requests` answers `Listed<SenderRequest>`, the first 100 by account (operators). */
export interface SenderRequest {
  readonly accountId: string;
  readonly accountName: string;
  readonly channel: string;
  /** What the sender is, such as `sender ID`. */
  readonly as: string;
  readonly sender: string;
}

/** `POST api/sender-requests/approve` and `POST api/sender-requests/reject`: 204. */
export interface SenderDecision {
  readonly accountId: string;
  readonly channel: string;
  readonly sender: string;
}

// Groups (read: all roles; change: sender)

/**
 * `GET api/groups` answers `Listed<Group>`; `GET api/groups/:id`, `POST api/groups` (201) and
 * `PATCH api/groups/:id` with {@link GroupName} answer {@link Group}; `DELETE api/groups/:id` 204.
 */
export interface Group {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly createdAt: string;
}

export interface GroupName {
  readonly name: string;
}

/** `GET api/groups/:id/members` answers `Listed<GroupMember>`; `?reveal=true` (admin) is audited. */
export interface GroupMember {
  /** Id of the contact; `DELETE api/groups/:id/members/:contactId` 204. */
  readonly id: string;
  readonly name: string | null;
  /** Masked, unless revealed. */
  readonly addresses: readonly string[];
}

/** `POST api/groups/:id/members` answers {@link Group}; at most 10,000 numbers, all or none. */
export interface NewMembers {
  readonly members: readonly string[];
}

/** `GET api/groups/:id/members.csv` is a CSV file of all members (admin). */

// Templates (read: all roles; change: admin)

export const TEMPLATE_CATEGORIES = ['utility', 'marketing', 'authentication'] as const;
export const TEMPLATE_STATUSES = ['approved', 'pending', 'rejected', 'paused'] as const;

/**
 * A WhatsApp template as the platform has it. `GET api/templates` answers `Listed<Template>`;
 * `POST api/templates` adds or changes a template, and answers it.
 */
export interface Template {
  readonly name: string;
  readonly language: string;
  readonly category: (typeof TEMPLATE_CATEGORIES)[number];
  readonly status: (typeof TEMPLATE_STATUSES)[number];
  readonly paramsCount: number;
  /** Names of the values in order, where the platform has it with names. */
  readonly paramNames: readonly string[] | null;
  /** Text with `{{1}}` or `{{name}}` in the place of values; `null`: not known. */
  readonly body: string | null;
}

export type NewTemplate = Omit<Template, 'paramNames' | 'body'> & { readonly body?: string };
