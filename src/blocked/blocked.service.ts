import {
  ContactsService,
  MessagingService,
  type Page,
  type SuppressionEntry,
} from '@dundun/messaging';
import { Global, Injectable, Module } from '@nestjs/common';
import type { Also } from '../accounts/accounts.service.js';
import { ApiError } from '../http/api-error.js';
import type { PageQuery } from '../http/page.dto.js';

/** Reason of an entry that the recipient made; only the recipient takes it back. */
export const UNSUBSCRIBED = 'unsubscribe';

/** A list of the addresses to which an account sends nothing on one channel. */
export interface BlockList {
  readonly channel: string;
  /** Of the entries that are added to it and lifted from it; `*`: every one. */
  readonly category: string;
  /** Of an entry that has no other. */
  readonly reason: string;
  /** Error for an address without an entry. */
  readonly missing: string;
}

/** Addresses without email, or without the email of one category. */
export const SUPPRESSIONS: BlockList = {
  channel: 'email',
  category: '*',
  reason: 'manual',
  missing: 'This address is not on the suppression list',
};

/** Numbers without marketing calls. */
export const DO_NOT_CALL: BlockList = {
  channel: 'voice',
  category: 'marketing',
  reason: 'do_not_call',
  missing: 'This number is not on the do-not-call list',
};

export interface NewEntry {
  readonly address: string;
  readonly reason?: string | undefined;
  /** @default that of the list */
  readonly category?: string | null | undefined;
}

/** The lists of accounts: suppressions of the library, by channel and category. */
@Injectable()
export class BlockedService {
  constructor(
    private readonly contacts: ContactsService,
    private readonly messaging: MessagingService,
  ) {}

  /** Ordered by address; entries of every category. @param page `address`: those of one address */
  list(
    tenant: string,
    { channel }: BlockList,
    { cursor, limit, address }: PageQuery & { readonly address?: string | undefined },
  ): Promise<Page<SuppressionEntry>> {
    const ofOne = address === undefined ? {} : { address };
    return this.contacts.suppressions({ tenant, channel, cursor, limit, ...ofOne });
  }

  /** All or none; an address that has an entry of the category already keeps its reason. */
  add(tenant: string, list: BlockList, entries: readonly NewEntry[], also?: Also): Promise<void> {
    return this.messaging.transaction(async (manager) => {
      const groups = new Map<string, [NewEntry, string[]]>();
      for (const entry of entries) {
        const key = JSON.stringify([entry.reason, entry.category]);
        const [, addresses] = groups.get(key) ?? groups.set(key, [entry, []]).get(key) ?? [];
        addresses?.push(entry.address);
      }
      for (const [{ reason, category }, addresses] of groups.values())
        await this.contacts.suppress(addresses, {
          tenant,
          manager,
          channel: list.channel,
          category: category ?? list.category,
          reason: reason ?? list.reason,
        });
      await also?.(manager);
    });
  }

  /** @throws ApiError 404 where the list has no such address, 422 where only its person lifts it */
  async lift(tenant: string, list: BlockList, address: string, also?: Also): Promise<void> {
    await this.messaging.transaction(async (manager) => {
      const { channel } = list;
      const { data } = await this.contacts.suppressions({ tenant, manager, address, channel });
      const entries = data.filter(
        ({ category }) => list.category === '*' || category === list.category,
      );
      if (entries.length === 0) throw new ApiError('not_found', list.missing);
      const lifted = entries.filter(({ reason }) => reason !== UNSUBSCRIBED);
      if (lifted.length === 0)
        throw new ApiError('opted_out', 'The recipient unsubscribed, and alone takes that back');
      for (const { channel: of, category } of lifted)
        await this.contacts.unsuppress(address, { tenant, manager, channel: of, category });
      await also?.(manager);
    });
  }
}

/** Also for the command line. */
@Global()
@Module({ providers: [BlockedService], exports: [BlockedService] })
export class BlockedModule {}
