import { MessagingService } from '@dundun/messaging';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager, In, Not } from 'typeorm';
import { AccountsService, forUpdate } from '../../accounts/accounts.service.js';
import { ApiError, invalidField } from '../../http/api-error.js';
import { isText } from '../../http/fields.js';
import { hashPassword, isPasswordOf } from '../../secrets/password-hash.js';
import { type Actor, Audit, commandLineFor } from '../audit.js';
import { type ChangePassword, type Member, PASSWORD_LENGTH, type Role } from '../portal-api.js';
import { MemberEntity, SavedViewEntity, SessionEntity, User, UserLink } from '../portal.tables.js';
import type { SignedIn } from './sessions.service.js';
import { KnownPlaces, type Visitor } from './known-places.js';
import { deleteFactor, SecondFactors } from './second-factors.service.js';
import { hashShareOf, SignInLimits } from './sign-in-limits.js';
import { KnownPlace } from './sign-in.tables.js';

/** Users of the portal, and their accounts. */
@Injectable()
export class UsersService {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly messaging: MessagingService,
    private readonly accounts: AccountsService,
    private readonly audit: Audit,
    private readonly limits: SignInLimits,
    private readonly places: KnownPlaces,
    private readonly factors: SecondFactors,
  ) {}

  /** The id of the user with this password; `undefined` also for an unknown name. @throws ApiError 429 */
  async verify(visitor: Visitor, written: string, password: string): Promise<string | undefined> {
    const email = written.trim().toLowerCase().slice(0, 254);
    const user = await this.dataSource.manager.findOneBy(User, { email });
    const origin = await this.places.originOf(visitor, user?.id);
    const isRight = await this.limits.during(origin, email, () =>
      isPasswordOf(password, user?.password, hashShareOf(origin)),
    );
    return isRight ? user?.id : undefined;
  }

  /** @throws ApiError 422 for a wrong password, 429 */
  async requirePassword(visitor: Visitor, email: string, current: string): Promise<void> {
    if ((await this.verify(visitor, email, current)) === undefined)
      throw invalidField('current', 'is not your password');
  }

  /** @param userOrEmail `usr_…` or an address @throws ApiError 404 */
  find(userOrEmail: string): Promise<User> {
    return findUser(this.dataSource.manager, userOrEmail);
  }

  /** Ends the user's other sessions. @throws ApiError 422 naming the wrong field, 429 */
  async changePassword(
    { user: { id: userId, email }, sessionId }: SignedIn,
    visitor: Visitor,
    { current, password }: ChangePassword,
  ): Promise<void> {
    await this.requirePassword(visitor, email, current);
    checkNewPassword(password, email);
    const { ip } = visitor;
    const stored = await hashPassword(password, hashShareOf({ ip, isKnown: true }));
    await this.messaging.transaction(async (manager) => {
      await manager.update(User, { id: userId }, { password: stored });
      await manager.delete(SessionEntity, { userId, id: Not(sessionId) });
      const entry = { userId, ip, accountId: null };
      await this.audit.record(manager, entry, 'user.password_changed', userId);
    });
  }

  /** Suspends an account, and ends the sessions of its members that work in it. @throws ApiError 404 */
  suspend(accountId: string, actor: Actor): Promise<void> {
    return this.accounts.suspend(accountId, async (manager) => {
      const operators = await manager.findBy(User, { operator: 1 });
      const userId = Not(In(operators.map(({ id }) => id)));
      await manager.delete(SessionEntity, { accountId, userId });
      const of = { ...actor, accountId };
      await this.audit.record(manager, of, 'account.suspended', accountId);
    });
  }

  /** All users, or those of an account, by address. */
  async list(
    accountId?: string,
  ): Promise<{ readonly user: User; readonly members: MemberEntity[] }[]> {
    const { manager } = this.dataSource;
    const members = await manager.findBy(
      MemberEntity,
      accountId === undefined ? {} : { accountId },
    );
    const ids = [...new Set(members.map(({ userId }) => userId))];
    const users = await manager.find(User, {
      ...(accountId !== undefined && { where: { id: In(ids) } }),
      order: { email: 'ASC' },
    });
    return users.map((user) => ({
      user,
      members: members.filter(({ userId }) => userId === user.id),
    }));
  }

  /** Deletes the user with all sessions, or removes it from one account. @throws ApiError 404 */
  async remove(userOrEmail: string, accountId?: string): Promise<string> {
    return this.messaging.transaction(async (manager) => {
      const { id } = await findUser(manager, userOrEmail);
      const actor = commandLineFor(accountId ?? null);
      if (accountId !== undefined) {
        await this.#leave(manager, accountId, id, actor);
        return id;
      }
      // Deleted by statement, as SQLite may have foreign keys switched off.
      await manager.delete(SessionEntity, { userId: id });
      await manager.delete(MemberEntity, { userId: id });
      await manager.delete(UserLink, { userId: id });
      await manager.delete(SavedViewEntity, { userId: id });
      await manager.delete(KnownPlace, { userId: id });
      await deleteFactor(manager, id);
      await manager.delete(User, { id });
      await this.audit.record(manager, actor, 'user.removed', id);
      return id;
    });
  }

  async members(accountId: string, self: string): Promise<Member[]> {
    const users = await this.list(accountId);
    const factors = await this.factors.usersWith(users.map(({ user }) => user.id));
    return users.flatMap(({ user: { id, email, lastSignInAt }, members }) =>
      members.map(({ role, createdAt }) => ({
        userId: id,
        email,
        role,
        joinedAt: createdAt.toISOString(),
        lastSignInAt: lastSignInAt?.toISOString() ?? null,
        hasSecondFactor: factors.has(id),
        isSelf: id === self,
      })),
    );
  }

  /** @throws ApiError 404 where the account has no such member, 422 for the person itself */
  async changeRole(
    userId: string,
    role: Role,
    actor: Actor & { readonly accountId: string },
  ): Promise<Member> {
    const { accountId } = actor;
    refuseSelf(userId, actor);
    await this.messaging.transaction(async (manager) => {
      const member = await memberOf(manager, accountId, userId);
      if (member.role === role) return;
      await manager.update(MemberEntity, { accountId, userId }, { role });
      const change = `${userId}: ${member.role} → ${role}`;
      await this.audit.record(manager, actor, 'member.role_changed', change);
    });
    const changed = (await this.members(accountId, actor.userId ?? '')).find(
      (member) => member.userId === userId,
    );
    if (!changed) throw noMember();
    return changed;
  }

  /** @throws ApiError 404 where the account has no such member, 422 for the person itself */
  async removeMember(userId: string, actor: Actor & { readonly accountId: string }): Promise<void> {
    refuseSelf(userId, actor);
    await this.messaging.transaction((manager) =>
      this.#leave(manager, actor.accountId, userId, actor),
    );
  }

  async #leave(
    manager: EntityManager,
    accountId: string,
    userId: string,
    actor: Actor,
  ): Promise<void> {
    await memberOf(manager, accountId, userId);
    await manager.delete(MemberEntity, { accountId, userId });
    await manager.delete(SavedViewEntity, { accountId, userId });
    await manager.update(SessionEntity, { accountId, userId }, { accountId: null });
    await this.audit.record(manager, actor, 'member.removed', userId);
  }
}

export async function findUser(manager: EntityManager, userOrEmail: string): Promise<User> {
  const where = userOrEmail.startsWith('usr_')
    ? { id: userOrEmail }
    : { email: userOrEmail.trim().toLowerCase() };
  const user = await manager.findOneBy(User, where);
  if (!user) throw new ApiError('not_found', 'There is no such user; `dundun user list` shows all');
  return user;
}

function refuseSelf(userId: string, actor: Actor): void {
  if (actor.userId === userId)
    throw invalidField('userId', 'is your own; another admin changes it');
}

async function memberOf(
  manager: EntityManager,
  accountId: string,
  userId: string,
): Promise<MemberEntity> {
  const where = { accountId, userId };
  const member = await manager.findOne(MemberEntity, { where, ...forUpdate(manager) });
  if (!member) throw noMember();
  return member;
}

function noMember(): ApiError {
  return new ApiError('not_found', 'This account has no such member');
}

/** @throws ApiError 422 */
export function checkNewPassword(password: string, email: string): void {
  const { min, max } = PASSWORD_LENGTH;
  const { length } = password.normalize('NFKC');
  if (!isText(password, 4 * max) || length < min || length > max)
    throw invalidField('password', `must be ${min} to ${max} characters`);
  if (new Set(password).size < 5 || password.toLowerCase() === email)
    throw invalidField('password', 'is easy to guess; use a longer phrase of several words');
}
