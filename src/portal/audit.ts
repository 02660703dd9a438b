import { type Clock, MESSAGING_CLOCK, type Page } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager, In, LessThan } from 'typeorm';
import type { Also } from '../accounts/accounts.service.js';
import { invalidField } from '../http/api-error.js';
import type { PageQuery } from '../http/page.dto.js';
import type { AuditEntry } from './portal-api.js';
import { AuditEntity, User, UserLink } from './portal.tables.js';

/** Every action in words. */
const TITLES = {
  'session.started': 'Signed in',
  'session.ended': 'Signed out',
  'user.joined': 'Joined by a set-up link',
  'user.invited': 'Made a set-up link for an operator',
  'user.password_changed': 'Set a new password',
  'user.password_link': 'Made a link for a new password',
  'user.removed': 'Removed a user',
  'user.second_factor_added': 'Switched a second factor on',
  'user.second_factor_removed': 'Switched a second factor off',
  'user.second_factor_reset': 'Reset the second factor of a user',
  'user.recovery_codes_made': 'Made new recovery codes',
  'session.ended_elsewhere': 'Ended another session',
  'account.second_factor': 'Changed whether members need a second factor',
  'member.invited': 'Invited a member',
  'member.invitation_withdrawn': 'Withdrew an invitation',
  'member.role_changed': 'Changed the role of a member',
  'member.removed': 'Removed a member',
  'token.rotated': 'Made a new API token; the former one stopped working',
  'token.rotated_with_overlap': 'Made a new API token; the former one works for a while',
  'token.created': 'Made an API token by name',
  'token.revoked': 'Revoked an API token',
  'key.created': 'Made an API key',
  'key.revoked': 'Revoked an API key',
  'smpp.added': 'Added a system_id for SMPP',
  'smpp.changed': 'Changed how texts of a system_id are read',
  'smpp.rotated': 'Made a new password of a system_id; the former one stopped working',
  'smpp.removed': 'Removed a system_id',
  'webhook.added': 'Added a webhook',
  'webhook.changed': 'Changed a webhook',
  'webhook.deleted': 'Deleted a webhook',
  'webhook.secret_rotated': 'Made a new signing secret of a webhook',
  'webhook.tested': 'Sent a test event to a webhook',
  'webhook.redelivered': 'Sent callbacks of a webhook again',
  'sender.added': 'Added a sender ID',
  'sender.requested': 'Asked for a sender ID',
  'sender.approved': 'Approved a sender ID',
  'sender.rejected': 'Rejected a sender ID',
  'sender.deleted': 'Deleted a sender ID',
  'caller.added': 'Added a caller id',
  'caller.requested': 'Asked for a caller id',
  'caller.approved': 'Approved a caller id',
  'caller.rejected': 'Rejected a caller id',
  'caller.removed': 'Removed a caller id',
  'do_not_call.added': 'Added a number to the do-not-call list',
  'do_not_call.removed': 'Removed a number from the do-not-call list',
  'do_not_call.revealed': 'Looked at whole numbers of the do-not-call list',
  'group.created': 'Made a group',
  'group.renamed': 'Renamed a group',
  'group.deleted': 'Deleted a group',
  'group.members_added': 'Added members to a group',
  'group.member_removed': 'Removed a member from a group',
  'group.revealed': 'Looked at whole addresses of a group',
  'group.exported': 'Exported the members of a group',
  'number.added': 'Added a WhatsApp number, or its ids at Meta',
  'template.changed': 'Added or changed a template',
  'domain.added': 'Added a domain',
  'domain.verified': 'Asked for the verification of a domain',
  'domain.rotated': 'Made new DKIM keys of a domain',
  'domain.deleted': 'Deleted a domain',
  'suppressions.revealed': 'Looked at whole suppressed addresses',
  'suppression.added': 'Suppressed an address',
  'suppression.lifted': 'Lifted a suppression',
  'message.revealed': 'Looked at a whole message',
  'message.sent': 'Sent a message',
  'message.resent': 'Sent a message again',
  'message.settled': 'Settled a message',
  'messages.resent': 'Sent all messages of a filter again',
  'messages.settled': 'Recorded what became of all messages of a filter',
  'contact.revealed': 'Looked at a whole contact',
  'contact.erased': 'Erased a person',
  'contact.file_downloaded': 'Downloaded a file of a contact',
  'messages.exported': 'Exported messages',
  'view.shared': 'Shared a view of a list with the account',
  'view.unshared': 'Deleted a shared view of a list',
  'batch.cancelled': 'Cancelled a batch',
  'batch.rescheduled': 'Rescheduled a batch',
  'lane.paused': 'Paused a lane',
  'lane.resumed': 'Ended the pause of a lane',
  'lanes.held_as_restored': 'Held the lanes of a restored database',
  'lanes.released': 'Released the lanes of a restored database',
  'contacts.imported': 'Imported contacts',
  'contacts.exported': 'Exported contacts',
  'phone.replied': 'Answered as a simulated customer',
  'phone.reported': 'Reported a status as the simulated network',
  'orders.allowed': 'Let the account order airtime and data',
  'orders.forbidden': 'Switched orders of the account off',
  'order.settled': 'Settled an order',
  'orders.released': 'Let the orders of a restored database go',
  'account.created': 'Made an account',
  'account.suspended': 'Suspended the account',
  'account.resumed': 'Ended the suspension of the account',
  'account.rate_changed': 'Changed the rate of the account',
  'account.guard_changed': 'Changed the limits against abuse of the account',
  'account.words_changed': 'Changed the consent words of the account',
  'billing.mode_changed': 'Changed how the account pays',
  'billing.limit_changed': 'Changed the credit limit of the account',
  'billing.topped_up': 'Added to the balance of the account',
  'billing.adjusted': 'Adjusted the balance of the account',
  'billing.thresholds_set': 'Set the notices about the balance of the account',
  'billing.budget_set': 'Set a budget of the account',
  'billing.budget_removed': 'Removed a budget of the account',
  'rates.imported': 'Imported a rate card',
  'alert_rule.added': 'Added a rule of alerts',
  'alert_rule.changed': 'Changed a rule of alerts',
  'alert_rule.removed': 'Removed a rule of alerts, or restored the one of its kind',
  'alert_channel.added': 'Added a channel for alerts',
  'alert_channel.tested': 'Sent a test to a channel for alerts',
  'alert_channel.removed': 'Removed a channel for alerts',
  'probes.sent': 'Sent probes to test phones',
  'secrets.rotated': 'Encrypted the stored secrets with another key',
} as const;

export type AuditAction = keyof typeof TITLES;

/** The person, and the account that the entry belongs to. */
export interface Actor {
  /** `null`: the command line. */
  readonly userId: string | null;
  readonly ip: string | null;
  readonly accountId: string | null;
}

export function commandLineFor(accountId: string | null): Actor {
  return { userId: null, ip: null, accountId };
}

/** Width of the column. */
const LONGEST_TARGET = 255;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Start of a target that is a user or an invitation. */
const PERSON = /^(?:usr|lnk)_[0-9A-Za-z]{22}/;

/** Append-only: there is no method that changes or deletes an entry. */
@Injectable()
export class Audit {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  /** @param target the changed object; never a secret, nor a recipient's address */
  async record(
    manager: EntityManager,
    { userId, ip, accountId }: Actor,
    action: AuditAction,
    target: string | null = null,
  ): Promise<void> {
    await manager.insert(AuditEntity, {
      id: this.clock.id(),
      at: new Date(this.clock.now()),
      userId,
      ip: ip?.slice(0, 45) ?? null,
      accountId,
      action,
      target: target?.slice(0, LONGEST_TARGET) ?? null,
    });
  }

  /** Records with a change; without a target the id of the object that it creates. */
  also(actor: Actor, action: AuditAction, target?: string): Also {
    return (manager, created) => this.record(manager, actor, action, target ?? created ?? null);
  }

  /** Newest first. @param accountId `null`: of all accounts @throws ApiError 422 on `cursor` */
  async list(accountId: string | null, { cursor, limit }: PageQuery): Promise<Page<AuditEntry>> {
    if (cursor !== undefined && !UUID.test(cursor))
      throw invalidField('cursor', 'must be the nextCursor of the page before');
    const { manager } = this.dataSource;
    const found = await manager.find(AuditEntity, {
      where: {
        ...(accountId !== null && { accountId }),
        ...(cursor !== undefined && { id: LessThan(cursor) }),
      },
      order: { id: 'DESC' },
      take: limit + 1,
    });
    const entries = found.slice(0, limit);
    const emails = await emailsOf(
      manager,
      entries.flatMap(({ userId, target }) => [userId, target?.match(PERSON)?.[0]]),
    );
    return {
      data: entries.map(({ id, at, userId, ip, accountId: account, action, target }) => ({
        id,
        at: at.toISOString(),
        userId,
        userEmail: (userId && emails.get(userId)) ?? null,
        ip,
        accountId: account,
        action,
        title: titleOf(action),
        target,
        targetText: target?.replace(PERSON, (id) => emails.get(id) ?? id) ?? null,
      })),
      nextCursor: found.length > limit ? (entries.at(-1)?.id ?? null) : null,
    };
  }
}

/** The addresses of users and of invitations that have one, by id. */
async function emailsOf(
  manager: EntityManager,
  ids: readonly (string | null | undefined)[],
): Promise<ReadonlyMap<string, string>> {
  const unique = [...new Set(ids)].filter((id) => typeof id === 'string');
  const of = (start: string) => ({ id: In(unique.filter((id) => id.startsWith(start))) });
  const users = await manager.findBy(User, of('usr_'));
  const links = await manager.findBy(UserLink, of('lnk_'));
  return new Map([...users, ...links].flatMap(({ id, email }) => (email ? [[id, email]] : [])));
}

function titleOf(action: string): string {
  return (TITLES as Readonly<Record<string, string>>)[action] ?? action;
}
