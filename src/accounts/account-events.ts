import type { EntityManager } from 'typeorm';

/** An event of something of an account, such as a domain. */
export interface AccountEvent {
  readonly account: string;
  /** Id of the changed object, at most 64 characters; its callbacks go in order. */
  readonly subject: string;
  /** `type` of the callback, such as `email.domain_verified`. */
  readonly type: string;
  readonly data: object;
  /** Type of an event that says the same: a webhook that gets it does not get this one. @default none */
  readonly toldBy?: string | undefined;
}

/** Events that are not of a message's status, for the webhooks of the account. */
export abstract class AccountEvents {
  /** Written in this transaction; the callbacks leave within seconds of its commit. */
  abstract record(events: readonly AccountEvent[], manager: EntityManager): Promise<void>;
}
