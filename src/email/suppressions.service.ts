import {
  ContactsService,
  EmailService,
  MessageNotFoundError,
  MessagingService,
  type Page,
  type SuppressionEntry,
} from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Also } from '../accounts/accounts.service.js';
import { ApiError } from '../http/api-error.js';
import type { PageQuery } from '../http/page.dto.js';
import type { Subscription } from './unsubscribe-links.js';

const CHANNEL = 'email';

/** Reason of an entry that the recipient made; only the recipient takes it back. */
const UNSUBSCRIBED = 'unsubscribe';

export interface NewSuppression {
  readonly email: string;
  readonly reason?: string | undefined;
  /** @default every category */
  readonly category?: string | null | undefined;
}

/** Addresses to which an account sends no email. */
@Injectable()
export class SuppressionsService {
  constructor(
    private readonly contacts: ContactsService,
    private readonly messaging: MessagingService,
    private readonly emails: EmailService,
  ) {}

  /** Ordered by address. */
  list(
    tenant: string,
    { email: address, ...page }: PageQuery & { readonly email?: string | undefined },
  ): Promise<Page<SuppressionEntry>> {
    const ofOne = address === undefined ? {} : { address };
    const { cursor, limit } = page;
    return this.contacts.suppressions({ tenant, channel: CHANNEL, cursor, limit, ...ofOne });
  }

  /** All or none; an address that is suppressed already keeps its reason. */
  add(tenant: string, entries: readonly NewSuppression[], also?: Also): Promise<void> {
    return this.messaging.transaction(async (manager) => {
      const groups = new Map<string, [NewSuppression, string[]]>();
      for (const entry of entries) {
        const key = JSON.stringify([entry.reason, entry.category]);
        const [, emails] = groups.get(key) ?? groups.set(key, [entry, []]).get(key) ?? [];
        emails?.push(entry.email);
      }
      for (const [{ reason = 'manual', category }, emails] of groups.values())
        await this.contacts.suppress(emails, {
          tenant,
          manager,
          channel: CHANNEL,
          category: category ?? '*',
          reason,
        });
      await also?.(manager);
    });
  }

  /** @throws ApiError 404 where the address is not suppressed, 422 where only its person lifts it */
  async lift(tenant: string, address: string, also?: Also): Promise<void> {
    await this.messaging.transaction(async (manager) => {
      const entries = await this.#entriesOf(tenant, address, manager);
      if (entries.length === 0)
        throw new ApiError('not_found', 'This address is not on the suppression list');
      const lifted = entries.filter(({ reason }) => reason !== UNSUBSCRIBED);
      if (lifted.length === 0)
        throw new ApiError('opted_out', 'The recipient unsubscribed, and alone takes that back');
      for (const { channel, category } of lifted)
        await this.contacts.unsuppress(address, { tenant, manager, channel, category });
      await also?.(manager);
    });
  }

  /** Ends marketing email to a recipient; repeatable. */
  async unsubscribe({ tenant, recipient, id }: Subscription): Promise<void> {
    const scope = { tenant, channel: CHANNEL, category: 'marketing' } as const;
    await this.messaging.transaction(async (manager) => {
      const entries = await this.#entriesOf(tenant, recipient, manager);
      const own = entries.find(
        ({ channel, category }) => channel === CHANNEL && category === scope.category,
      );
      if (own?.reason === UNSUBSCRIBED) return;
      await this.contacts.optOut(recipient, { ...scope, manager, source: 'unsubscribe link' });
      // An entry keeps its first reason.
      if (own) await this.contacts.unsuppress(recipient, { ...scope, manager });
      const reason = { reason: UNSUBSCRIBED, messageId: id };
      await this.contacts.suppress(recipient, { ...scope, ...reason, manager });
    });
    try {
      await this.emails.recordEvent(id, 'unsubscribed', { tenant });
    } catch (error) {
      // Links work longer than messages are kept.
      if (!(error instanceof MessageNotFoundError)) throw error;
    }
  }

  async #entriesOf(
    tenant: string,
    address: string,
    manager: EntityManager,
  ): Promise<readonly SuppressionEntry[]> {
    const page = { tenant, manager, address, channel: CHANNEL } as const;
    return (await this.contacts.suppressions(page)).data;
  }
}
