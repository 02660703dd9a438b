import {
  ContactsService,
  isPhoneNumber,
  MessagingService,
  type Page,
  type SuppressionEntry,
} from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { AccountsService, type Also } from '../accounts/accounts.service.js';
import { ApiError, invalidField } from '../http/api-error.js';

/** The do-not-call list is the suppression of marketing on voice. */
const SCOPE = { channel: 'voice', category: 'marketing' } as const;
const REASON = 'do_not_call';

interface PageOf {
  readonly cursor?: string | undefined;
  readonly limit: number;
  /** The entries of one number. */
  readonly phone?: string | undefined;
}

/** Numbers that get no marketing calls of an account. */
@Injectable()
export class DoNotCallService {
  constructor(
    private readonly contacts: ContactsService,
    private readonly messaging: MessagingService,
    private readonly accounts: AccountsService,
  ) {}

  /** Ordered by number; with suppressions of every category on voice. */
  async list(tenant: string, { cursor, limit, phone }: PageOf): Promise<Page<SuppressionEntry>> {
    await this.accounts.find(tenant);
    return this.contacts.suppressions({
      tenant,
      channel: SCOPE.channel,
      limit,
      cursor,
      ...(phone !== undefined && { address: checkedNumber(phone) }),
    });
  }

  /** Repeatable. */
  async add(tenant: string, phone: string, also?: Also): Promise<void> {
    const number = checkedNumber(phone);
    await this.accounts.find(tenant);
    await this.messaging.transaction(async (manager) => {
      await this.contacts.suppress(number, { ...SCOPE, tenant, manager, reason: REASON });
      await also?.(manager);
    });
  }

  /** @throws ApiError 404 where the number is not on the list */
  async remove(tenant: string, phone: string, also?: Also): Promise<void> {
    const address = checkedNumber(phone);
    await this.accounts.find(tenant);
    await this.messaging.transaction(async (manager) => {
      const { channel } = SCOPE;
      const { data } = await this.contacts.suppressions({ tenant, manager, channel, address });
      if (!data.some(({ category }) => category === SCOPE.category))
        throw new ApiError('not_found', 'This number is not on the do-not-call list');
      await this.contacts.unsuppress(address, { ...SCOPE, tenant, manager });
      await also?.(manager);
    });
  }
}

/** @throws ApiError 422 */
function checkedNumber(phone: string): string {
  if (!isPhoneNumber(phone))
    throw invalidField('phone', 'must be 7 to 15 digits with country code');
  return phone;
}
