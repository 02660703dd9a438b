import { type BuiltInChannel, parseMailbox } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { AccountsService, type Also } from '../accounts/accounts.service.js';
import type { SenderState } from '../accounts/accounts.tables.js';
import { SenderRegistry, WhatsAppNumbers } from '../accounts/senders.js';
import { SenderDomains } from '../email/sender-domains.js';
import { ApiError, type ApiErrorCode } from '../http/api-error.js';
import { CallersService } from '../voice/callers.service.js';
import type { AuditAction } from './audit.js';

interface Named {
  readonly sender: string;
  readonly state: SenderState;
}

/** Senders that an admin asks for and an operator approves. */
export interface Approvals {
  /** Senders of an account, also those that wait. */
  list(accountId: string): Promise<readonly Named[]>;
  add(accountId: string, sender: string, also: Also): Promise<void>;
  request(accountId: string, sender: string, also: Also): Promise<SenderState>;
  approve(accountId: string, sender: string, also: Also): Promise<void>;
  remove(
    accountId: string,
    sender: string,
    options: { readonly only?: SenderState; readonly also: Also },
  ): Promise<void>;
  /** The first senders of all accounts that wait. */
  pending(most: number): Promise<readonly { accountId: string; sender: string }[]>;
  readonly audit: Readonly<
    Record<'added' | 'requested' | 'approved' | 'rejected' | 'removed', AuditAction>
  >;
}

export interface ChannelSenders {
  /** @throws ApiError 422 where the account may not send from it */
  check(accountId: string, from: string): Promise<void>;
  /** Senders to choose from; without it a person types one. */
  readonly list?: (accountId: string) => Promise<readonly string[]>;
  readonly approvals?: Approvals;
}

/** The rules for senders, by channel. A channel of the app's own has the check of its definition alone. */
@Injectable()
export class SenderRules {
  readonly ofChannel: ReadonlyMap<string, ChannelSenders>;

  constructor(
    accounts: AccountsService,
    senders: SenderRegistry,
    numbers: WhatsAppNumbers,
    domains: SenderDomains,
    callers: CallersService,
  ) {
    const rules: Readonly<Record<BuiltInChannel, ChannelSenders | null>> = {
      sms: {
        check: async (id, from) =>
          refuseUnless(
            await senders.isRegistered(id, from),
            'sender_not_registered',
            'an approved sender ID of this account; see Senders',
          ),
        ...approved({
          list: (id) => accounts.listSenders(id),
          add: (id, sender, also) => accounts.addSender(id, sender, also),
          request: (id, sender, also) => accounts.requestSender(id, sender, also),
          approve: (id, sender, also) => accounts.approveSender(id, sender, also),
          remove: (id, sender, options) => accounts.removeSender(id, sender, options),
          pending: async (most) =>
            (await accounts.pendingSenders(most)).map(({ account: { id }, sender }) => ({
              accountId: id,
              sender,
            })),
          audit: {
            added: 'sender.added',
            requested: 'sender.requested',
            approved: 'sender.approved',
            rejected: 'sender.rejected',
            removed: 'sender.deleted',
          },
        }),
      },
      whatsapp: {
        check: async (id, from) =>
          refuseUnless(
            (await numbers.ownerOf(from)) === id,
            'sender_not_registered',
            'a WhatsApp number of this account; see Senders',
          ),
        list: (id) => accounts.listNumbers(id),
      },
      voice: {
        check: async (id, from) =>
          refuseUnless(
            await callers.isRegistered(id, from),
            'caller_not_registered',
            'an approved caller id of this account; see Senders',
          ),
        ...approved({
          list: async (id) =>
            (await callers.list(id)).map(({ caller: sender, state }) => ({ sender, state })),
          add: (id, sender, also) => callers.add(id, sender, also),
          request: (id, sender, also) => callers.request(id, sender, also),
          approve: (id, sender, also) => callers.approve(id, sender, also),
          remove: (id, sender, options) => callers.remove(id, sender, options),
          pending: async (most) =>
            (await callers.pending(most)).map(({ accountId, caller: sender }) => ({
              accountId,
              sender,
            })),
          audit: {
            added: 'caller.added',
            requested: 'caller.requested',
            approved: 'caller.approved',
            rejected: 'caller.rejected',
            removed: 'caller.removed',
          },
        }),
      },
      email: {
        check: async (id, from) => {
          const { email = '' } = parseMailbox(from) ?? {};
          const domain = email.slice(email.lastIndexOf('@') + 1);
          const isOwn = domain !== '' && (await domains.isVerified(id, domain));
          refuseUnless(
            isOwn,
            'domain_not_verified',
            'of a verified domain of this account; see Email, Domains',
          );
        },
      },
      // An order has no sender.
      vas: null,
    };
    this.ofChannel = new Map(
      Object.entries(rules).flatMap(([channel, rule]) => (rule ? [[channel, rule] as const] : [])),
    );
  }

  /** @throws ApiError 404 where senders of the channel are not approved here */
  approvalsOf(channel: string): Approvals {
    const { approvals } = this.ofChannel.get(channel) ?? {};
    if (!approvals) throw new ApiError('not_found', 'There is no such sender ID');
    return approvals;
  }
}

function approved(approvals: Approvals): Pick<ChannelSenders, 'list' | 'approvals'> {
  return {
    approvals,
    list: async (id) =>
      (await approvals.list(id)).flatMap(({ sender, state }) =>
        state === 'approved' ? [sender] : [],
      ),
  };
}

function refuseUnless(isAllowed: boolean, code: ApiErrorCode, wanted: string): void {
  if (isAllowed) return;
  const message = `must be ${wanted}`;
  throw new ApiError(code, `from: ${message}`, { details: [{ path: 'from', message }] });
}
