import {
  type Address,
  type ErasedAddress,
  type ErasureListener,
  MessagingService,
} from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager, In, IsNull } from 'typeorm';
import { lockAccount } from '../accounts/accounts.service.js';
import { fingerprint } from '../accounts/credentials.js';
import { ApiError, invalidField } from '../http/api-error.js';
import { Audit } from './audit.js';
import type { ImportedViews, KeptView, NewSavedView, SavedView } from './portal-api.js';
import { hasRole } from './portal.guard.js';
import type { InAccount } from './portal-request.js';
import { SavedViewEntity, VIEW_LENGTHS } from './portal.tables.js';

/** Views of a person in an account, and views that are shared with it. */
export const MOST_VIEWS = 100;

type Owner = Pick<SavedViewEntity, 'accountId' | 'userId'>;

/** Filters of lists that people keep under names. */
@Injectable()
export class SavedViews implements ErasureListener {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly messaging: MessagingService,
    private readonly audit: Audit,
  ) {}

  /** The person's own, and those that are shared with the account, by name. */
  async list({ actor }: InAccount, page: string): Promise<SavedView[]> {
    const { accountId, userId } = actor;
    const found = await this.dataSource.manager.findBy(SavedViewEntity, [
      { accountId, page, userId: userId ?? '' },
      { accountId, page, userId: IsNull() },
    ]);
    const byName = found.toSorted((one, other) => one.name.localeCompare(other.name));
    return byName.map(viewOf);
  }

  /** @throws ApiError 403 where the role does not share, 422 beyond {@link MOST_VIEWS} */
  async save({ actor, role }: InAccount, view: NewSavedView): Promise<SavedView> {
    const { accountId, userId } = actor;
    if (view.shared && !hasRole(role, 'admin'))
      throw new ApiError('insufficient_scope', 'Only admins share views; keep it for yourself');
    const kept = entityOf({ accountId, userId: view.shared ? null : userId }, view.page, view);
    await this.messaging.transaction(async (manager) => {
      await lockAccount(manager, accountId);
      if (view.shared) {
        const { id } = entityOf({ accountId, userId }, view.page, view);
        await manager.delete(SavedViewEntity, { id });
        await this.audit.record(manager, actor, 'view.shared', kept.id);
      }
      await manager.delete(SavedViewEntity, { id: kept.id });
      await insert(manager, kept, [kept]);
    });
    return viewOf(kept);
  }

  /** @throws ApiError 422 beyond {@link MOST_VIEWS}; then none is kept */
  async import(caller: InAccount, { page, views }: ImportedViews): Promise<SavedView[]> {
    const { accountId, userId } = caller.actor;
    const owner = { accountId, userId };
    await this.messaging.transaction(async (manager) => {
      await lockAccount(manager, accountId);
      const present = await manager.findBy(SavedViewEntity, {
        accountId,
        page,
        userId: userId ?? '',
      });
      const names = new Set(present.map(({ name }) => name));
      const added = new Map(views.map((view) => [view.name.trim(), entityOf(owner, page, view)]));
      for (const name of names) added.delete(name);
      await insert(manager, owner, [...added.values()]);
    });
    return this.list(caller, page);
  }

  /** @throws ApiError 404 where there is none that the person sees, 403 for a shared one without the role */
  async remove({ actor, role }: InAccount, id: string): Promise<void> {
    const { accountId, userId } = actor;
    await this.messaging.transaction(async (manager) => {
      const view = await manager.findOneBy(SavedViewEntity, { id, accountId });
      if (!view || (view.userId !== null && view.userId !== userId))
        throw new ApiError('not_found', 'There is no such view');
      if (view.userId === null) {
        if (!hasRole(role, 'admin'))
          throw new ApiError('insufficient_scope', 'Only admins delete shared views');
        await this.audit.record(manager, actor, 'view.unshared', id);
      }
      await manager.delete(SavedViewEntity, { id });
    });
  }

  /** Deletes the views of every person that search for the address. */
  async onErased({ tenant, address }: ErasedAddress, given?: EntityManager): Promise<void> {
    const kept = await (given ?? this.dataSource.manager).findBy(SavedViewEntity, {
      accountId: tenant,
    });
    const ids = kept.filter(({ query }) => hasAddress(query, address)).map(({ id }) => id);
    if (ids.length === 0) return;
    const erase = (manager: EntityManager) => manager.delete(SavedViewEntity, { id: In(ids) });
    await (given ? erase(given) : this.messaging.transaction(erase));
  }
}

/** As people write it: `+234 801 234 5678` is 2348012345678. */
function hasAddress(query: string, { kind, value }: Address): boolean {
  return [...new URLSearchParams(query).values()].some((given) =>
    kind === 'phone'
      ? given.replaceAll(/\D/g, '') === value
      : given.trim().toLowerCase() === value.toLowerCase(),
  );
}

/** The account is locked, so that two requests do not both find room. @throws ApiError 422 */
async function insert(
  manager: EntityManager,
  { accountId, userId }: Owner,
  views: readonly SavedViewEntity[],
): Promise<void> {
  if (views.length === 0) return;
  const where = { accountId, userId: userId ?? IsNull() };
  const present = await manager.countBy(SavedViewEntity, where);
  if (present + views.length > MOST_VIEWS)
    throw invalidField(
      'name',
      `is one too many: there are at most ${MOST_VIEWS} views ${userId === null ? 'that are shared' : 'of your own'}; delete one first`,
    );
  await manager.insert(SavedViewEntity, [...views]);
}

function entityOf(owner: Owner, page: string, { name, query }: KeptView): SavedViewEntity {
  const trimmed = name.trim();
  const key = JSON.stringify([owner.accountId, owner.userId, page, trimmed]);
  // One form of each query, whatever the client wrote.
  const written = new URLSearchParams(query).toString();
  if (written.length > VIEW_LENGTHS.query)
    throw invalidField(
      'query',
      `must be at most ${VIEW_LENGTHS.query} characters as it is encoded`,
    );
  return { id: fingerprint(key), ...owner, page, name: trimmed, query: written };
}

function viewOf({ id, name, query, userId }: SavedViewEntity): SavedView {
  return { id, name, query, shared: userId === null };
}
