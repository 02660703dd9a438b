import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { randomBytes } from 'node:crypto';
import { DataSource, type EntityManager, In, LessThan } from 'typeorm';
import { Account } from '../../accounts/accounts.tables.js';
import { fingerprint } from '../../accounts/credentials.js';
import { ApiError } from '../../http/api-error.js';
import { type Actor, Audit } from '../audit.js';
import type { ChoosableAccount, OwnSession, PortalUser, Role } from '../portal-api.js';
import { MemberEntity, SessionEntity, User, USER_AGENT_LENGTH } from '../portal.tables.js';
import { KnownPlaces, type Visitor } from './known-places.js';
import { SecondFactors } from './second-factors.service.js';

const MINUTE = 60_000;

/** Time without a request after which a session has ended, in milliseconds. */
const IDLE = { operator: 30 * MINUTE, member: 12 * 60 * MINUTE };

/** A session with its user and the account of the request, as they are now. */
export interface SignedIn {
  readonly sessionId: string;
  readonly user: PortalUser;
  /**
   * The account that the address names, else the one that the session started in; `null`: there is
   * none, or the user is not a member of it any more.
   */
  readonly account: ChoosableAccount | null;
  /** Whether the user must set up a second factor before anything else. */
  readonly lacksSecondFactor: boolean;
}

/** The request that starts a session. */
export interface NewSession extends Visitor {
  /** @default the first account that is not suspended */
  readonly accountId?: string | null;
  /** Value of the cookie of the browser's session, which ends. */
  readonly former?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** A session, and the account in which it is read. */
interface AskedSession {
  readonly id: string;
  /** `undefined`: the one that the session started in; `null`: none. */
  readonly accountId?: string | null | undefined;
}

interface ReadSession {
  readonly signedIn: SignedIn;
  /** Epoch milliseconds, exact to a minute. */
  readonly lastUsedAt: number;
}

@Injectable()
export class SessionsService {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly messaging: MessagingService,
    private readonly audit: Audit,
    private readonly factors: SecondFactors,
    private readonly places: KnownPlaces,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /**
   * Signs a user in, ends `former`, and deletes sessions that have ended. With the account given, or
   * the first one that is not suspended.
   * @returns the value of the cookie, which is stored nowhere
   */
  async start(
    userId: string,
    { accountId, former, userAgent, ...visitor }: NewSession,
  ): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    await this.messaging.transaction(async (manager) => {
      const now = new Date(this.clock.now());
      const chosen = accountId ?? (await firstAccountOf(manager, userId));
      await manager.delete(SessionEntity, {
        lastUsedAt: LessThan(new Date(now.getTime() - IDLE.member)),
      });
      if (former !== undefined) await manager.delete(SessionEntity, { id: fingerprint(former) });
      await manager.insert(SessionEntity, {
        id: fingerprint(token),
        userId,
        accountId: chosen,
        createdAt: now,
        lastUsedAt: now,
        ip: visitor.ip,
        userAgent: userAgent?.slice(0, USER_AGENT_LENGTH) ?? null,
      });
      await this.places.note(manager, visitor, userId);
      await manager.update(User, { id: userId }, { lastSignInAt: now });
      const actor = { userId, ip: visitor.ip, accountId: chosen };
      await this.audit.record(manager, actor, 'session.started');
    });
    return token;
  }

  /**
   * The session of a cookie's value, if it has not ended.
   * @param isUse false: the time stays @param accountId named by the address
   */
  async read(
    token: string,
    { isUse = true, accountId }: { isUse?: boolean; accountId?: string | undefined } = {},
  ): Promise<SignedIn | undefined> {
    const id = fingerprint(token);
    const [found] = await this.present([{ id, accountId }]);
    if (!found) return undefined;
    const now = this.clock.now();
    if (isUse && now - found.lastUsedAt > MINUTE)
      await this.messaging.transaction((manager) =>
        manager.update(SessionEntity, { id }, { lastUsedAt: new Date(now) }),
      );
    return found.signedIn;
  }

  /** Why the session of a cookie's value, which {@link read} does not find, has ended. */
  async endingOf(token: string): Promise<string> {
    const { manager } = this.dataSource;
    const session = await manager.findOneBy(SessionEntity, { id: fingerprint(token) });
    const user = session && (await manager.findOneBy(User, { id: session.userId }));
    if (!user)
      return 'Your session was ended, by a sign-out, a new password, another sign-in or long disuse.';
    return `Your session ended after ${user.operator ? '30 minutes' : '12 hours'} without use.`;
  }

  /** Each of these sessions that has not ended, in one read of each table. Notes no use. */
  async present(asked: readonly AskedSession[]): Promise<(ReadSession | undefined)[]> {
    const { manager } = this.dataSource;
    const sessions = await manager.findBy(SessionEntity, {
      id: In([...new Set(asked.map(({ id }) => id))]),
    });
    if (sessions.length === 0) return asked.map(() => undefined);
    const userIds = sessions.map(({ userId }) => userId);
    const accountIds = [...sessions, ...asked].flatMap(({ accountId }) => accountId ?? []);
    const [users, factors, members, accounts] = await Promise.all([
      manager.findBy(User, { id: In(userIds) }),
      this.factors.usersWith(userIds),
      accountIds.length === 0 ? [] : manager.findBy(MemberEntity, { userId: In(userIds) }),
      accountIds.length === 0 ? [] : manager.findBy(Account, { id: In(accountIds) }),
    ]);
    const now = this.clock.now();
    return asked.map(({ id, accountId: named }) => {
      const session = sessions.find((one) => one.id === id);
      const user = users.find((one) => one.id === session?.userId);
      if (!session || !user) return undefined;
      const { userId, lastUsedAt } = session;
      const accountId = named === undefined ? session.accountId : named;
      const isOperator = user.operator === 1;
      const idle = now - lastUsedAt.getTime();
      if (idle > (isOperator ? IDLE.operator : IDLE.member)) return undefined;
      const account = accounts.find((one) => one.id === accountId);
      const member = members.find((one) => one.userId === userId && one.accountId === accountId);
      const role = isOperator ? 'admin' : member?.role;
      return {
        signedIn: {
          sessionId: id,
          user: { id: userId, email: user.email, isOperator },
          account: account && role ? choosable(account, role) : null,
          lacksSecondFactor: !factors.has(userId) && this.factors.isRequired(isOperator, account),
        },
        lastUsedAt: lastUsedAt.getTime(),
      };
    });
  }

  /** The user's accounts by name, and that of the request. */
  async accountsOf({ user, account }: SignedIn): Promise<ChoosableAccount[]> {
    const { manager } = this.dataSource;
    const members = await manager.findBy(MemberEntity, { userId: user.id });
    const ids = members.map(({ accountId }) => accountId);
    const accounts = ids.length === 0 ? [] : await manager.findBy(Account, { id: In(ids) });
    const roles = new Map(members.map(({ accountId, role }) => [accountId, role]));
    const own = accounts.map((one) =>
      choosable(one, user.isOperator ? 'admin' : (roles.get(one.id) ?? 'viewer')),
    );
    const isListed = own.some(({ id }) => id === account?.id);
    return [...own, ...(account && !isListed ? [account] : [])].toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  }

  /** The user's sessions that have not ended, the last used first. */
  async listOf({ user, sessionId }: SignedIn): Promise<OwnSession[]> {
    const { manager } = this.dataSource;
    const sessions = await manager.findBy(SessionEntity, { userId: user.id });
    const present = await this.present(sessions.map(({ id }) => ({ id })));
    return sessions
      .filter((_, n) => present[n] !== undefined)
      .toSorted((a, b) => b.lastUsedAt.getTime() - a.lastUsedAt.getTime())
      .map(({ id, createdAt, lastUsedAt, ip, userAgent }) => ({
        id: shownId(id),
        createdAt: createdAt.toISOString(),
        lastUsedAt: lastUsedAt.toISOString(),
        ip,
        userAgent,
        isCurrent: id === sessionId,
      }));
  }

  /** Ends another session of the user. @returns its id @throws ApiError 404 */
  async endOther({ user }: SignedIn, shown: string, actor: Actor): Promise<string> {
    return this.messaging.transaction(async (manager) => {
      const sessions = await manager.findBy(SessionEntity, { userId: user.id });
      const id = sessions.map((one) => one.id).find((one) => shownId(one) === shown);
      if (id === undefined) throw new ApiError('not_found', 'There is no such session');
      await manager.delete(SessionEntity, { id });
      await this.audit.record(manager, actor, 'session.ended_elsewhere');
      return id;
    });
  }

  async end(sessionId: string, actor: Actor): Promise<void> {
    await this.messaging.transaction(async (manager) => {
      await manager.delete(SessionEntity, { id: sessionId });
      await this.audit.record(manager, actor, 'session.ended');
    });
  }
}

/** Names a session in lists: the stored id is the digest of its cookie. */
function shownId(id: string): string {
  return fingerprint(id).slice(0, 32);
}

function choosable({ id, name, suspendedAt }: Account, role: Role): ChoosableAccount {
  return { id, name, role, suspended: suspendedAt !== null };
}

async function firstAccountOf(manager: EntityManager, userId: string): Promise<string | null> {
  const members = await manager.find(MemberEntity, {
    where: { userId },
    order: { createdAt: 'ASC', accountId: 'ASC' },
  });
  const ids = members.map(({ accountId }) => accountId);
  if (ids.length === 0) return null;
  const suspended = new Set(
    (await manager.findBy(Account, { id: In(ids) })).flatMap(({ id, suspendedAt }) =>
      suspendedAt ? id : [],
    ),
  );
  return ids.find((id) => !suspended.has(id)) ?? ids[0] ?? null;
}
