import { type Clock, MESSAGING_CLOCK, MessagingService, readAddress } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { randomBytes } from 'node:crypto';
import { DataSource, type EntityManager, IsNull, LessThan, MoreThan } from 'typeorm';
import { forUpdate, lockAccount } from '../../accounts/accounts.service.js';
import { Account } from '../../accounts/accounts.tables.js';
import { fingerprint, randomBase62 } from '../../accounts/credentials.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { ApiError, invalidField } from '../../http/api-error.js';
import { EMAIL_RULE } from '../../http/fields.js';
import { hashPassword } from '../../secrets/password-hash.js';
import { type Actor, Audit, commandLineFor } from '../audit.js';
import type { Invitation, Role, SetUp, SetupInfo } from '../portal-api.js';
import { type LinkKind, MemberEntity, SessionEntity, User, UserLink } from '../portal.tables.js';
import type { Visitor } from './known-places.js';
import { SecondFactors } from './second-factors.service.js';
import { hashShareOf, SignInLimits } from './sign-in-limits.js';
import { checkNewPassword, findUser, UsersService } from './users.service.js';

const HOUR = 3_600_000;

/** How long a used or expired link is still explained, in milliseconds. */
const EXPLAINED = 30 * 24 * HOUR;

/** Most invitations of an account that are open at once. */
const MOST_INVITATIONS = 100;

/** Rights that a link gives. Without account and role: an operator. */
export interface Invited {
  readonly accountId: string | null;
  readonly role: Role | null;
  readonly operator: boolean;
  /** The only address that may use the link. */
  readonly email?: string | undefined;
}

export interface MadeLink {
  readonly id: string;
  /** Shown once. */
  readonly link: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

type LinkSettings = Pick<Environment, 'PUBLIC_URL' | 'HOST'>;

/** One-time links that make users, add accounts to them, or replace a password. */
@Injectable()
export class SetUpLinks {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly messaging: MessagingService,
    private readonly users: UsersService,
    private readonly audit: Audit,
    private readonly limits: SignInLimits,
    private readonly factors: SecondFactors,
    @Inject(ENVIRONMENT) private readonly environment: LinkSettings,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** The link of the first start, to the gateway's own address: an operator, and admin of the account. */
  async firstLink(manager: EntityManager, accountId: string): Promise<string> {
    const first = { accountId, role: 'admin', operator: true } as const;
    return (await this.#makeLink(manager, 'first', first)).code;
  }

  /** @throws ApiError 404 for an unknown account, 422 */
  invite(invited: Invited, actor: Actor): Promise<MadeLink> {
    const { accountId, role, operator } = invited;
    const email = invited.email === undefined ? undefined : checkedEmail(invited.email);
    return this.messaging.transaction(async (manager) => {
      if (accountId !== null) {
        await lockAccount(manager, accountId);
        const open = { accountId, usedAt: IsNull(), expiresAt: MoreThan(this.#now) };
        if ((await manager.countBy(UserLink, open)) >= MOST_INVITATIONS)
          throw invalidField(
            'role',
            `cannot be invited now: ${MOST_INVITATIONS} invitations are open; withdraw one first`,
          );
      }
      const made = await this.#makeLink(manager, 'invite', { ...invited, email });
      const action = operator ? 'user.invited' : 'member.invited';
      const target = operator ? made.id : `${made.id}: ${role}`;
      await this.audit.record(manager, { ...actor, accountId }, action, target);
      return this.#shown(made);
    });
  }

  /** A link with which the user sets a new password. @throws ApiError 404 */
  reset(userOrEmail: string): Promise<MadeLink & { readonly userId: string }> {
    return this.messaging.transaction(async (manager) => {
      const { id, email } = await findUser(manager, userOrEmail);
      const reset = { accountId: null, role: null, operator: false, email, userId: id };
      const made = await this.#makeLink(manager, 'reset', reset);
      await this.audit.record(manager, commandLineFor(null), 'user.password_link', id);
      return { userId: id, ...this.#shown(made) };
    });
  }

  /** @throws ApiError 404 that explains a wrong, used or expired code, 429 */
  async explain({ ip }: Visitor, code: string): Promise<SetupInfo> {
    const { kind, email, accountId, role, operator, expiresAt } = await this.#linkOf(ip, code);
    const account =
      accountId === null
        ? null
        : await this.dataSource.manager.findOneBy(Account, { id: accountId });
    return {
      kind,
      email,
      accountName: account?.name ?? null,
      role,
      isOperator: operator === 1,
      expiresAt: expiresAt.toISOString(),
    };
  }

  /**
   * Uses the link: makes the user, or adds the account to the user with this address and password,
   * or sets a new password and ends the user's sessions. A user with a second factor gives its code.
   * @returns `undefined`: nothing is changed, because that code is missing
   * @throws ApiError 404 for the link, 422 for the fields, 429
   */
  async setUp(
    visitor: Visitor,
    { code, email: written, password, secondFactor }: SetUp,
  ): Promise<{ readonly userId: string; readonly accountId: string | null } | undefined> {
    const { ip } = visitor;
    const link = await this.#linkOf(ip, code);
    const email = checkedEmail(written);
    if (link.email !== null && link.email !== email)
      throw invalidField('email', 'is not the address that this link is for');
    const known = await this.dataSource.manager.findOneBy(User, { email });
    if (link.kind !== 'reset' && known) {
      if ((await this.users.verify(visitor, email, password)) === undefined)
        throw invalidField(
          'password',
          'is not the password of this address, which has a user already; enter that password',
        );
      if (!(await this.#passes(known.id, secondFactor))) return undefined;
      return this.messaging.transaction((manager) => this.#join(manager, ip, link, known.id));
    }
    checkNewPassword(password, email);
    if (link.userId !== null && !(await this.#passes(link.userId, secondFactor))) return undefined;
    const stored = await hashPassword(password, hashShareOf({ ip, isKnown: false }));
    return this.messaging.transaction(async (manager) => {
      if (link.kind === 'reset') return this.#setPassword(manager, ip, link, stored);
      if (await manager.existsBy(User, { email }))
        throw invalidField('email', 'was registered by another request; try again');
      const id = `usr_${randomBase62(22)}`;
      const createdAt = this.#now;
      await manager.insert(User, { id, email, password: stored, operator: 0, createdAt });
      return this.#join(manager, ip, link, id);
    });
  }

  /** @returns false: the code is missing @throws ApiError 422 for a wrong code, 429 */
  async #passes(userId: string, code: string | undefined): Promise<boolean> {
    const step = await this.factors.check(userId, code);
    if (step === 'wrong')
      throw invalidField('secondFactor', 'is wrong, or was used before; wait for the next one');
    return step === 'passed';
  }

  /** Links of the account that were neither used nor have expired, oldest first. */
  async invitations(accountId: string): Promise<Invitation[]> {
    const found = await this.dataSource.manager.find(UserLink, {
      where: { accountId, usedAt: IsNull(), expiresAt: MoreThan(this.#now) },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
    return found.flatMap(({ id, role, email, createdAt, expiresAt }) =>
      role ? [invitationOf({ id, createdAt, expiresAt }, role, email)] : [],
    );
  }

  /** @throws ApiError 404 */
  async withdraw(linkId: string, actor: Actor & { readonly accountId: string }): Promise<void> {
    const { accountId } = actor;
    await this.messaging.transaction(async (manager) => {
      const open = { id: linkId, accountId, usedAt: IsNull() };
      if (!(await manager.existsBy(UserLink, open)))
        throw new ApiError('not_found', 'There is no such invitation');
      await manager.delete(UserLink, open);
      await this.audit.record(manager, actor, 'member.invitation_withdrawn', linkId);
    });
  }

  async #join(manager: EntityManager, ip: string, link: UserLink, userId: string) {
    const { accountId, role, operator } = await this.#claim(manager, link);
    if (operator === 1) await manager.update(User, { id: userId }, { operator: 1 });
    if (accountId !== null && role !== null)
      await manager.save(MemberEntity, { accountId, userId, role, createdAt: this.#now });
    const target = operator === 1 ? 'operator' : role;
    await this.audit.record(manager, { userId, ip, accountId }, 'user.joined', target);
    return { userId, accountId };
  }

  async #setPassword(manager: EntityManager, ip: string, link: UserLink, password: string) {
    const { userId } = await this.#claim(manager, link);
    if (userId === null) throw linkError('unknown');
    await manager.update(User, { id: userId }, { password });
    await manager.delete(SessionEntity, { userId });
    const actor = { userId, ip, accountId: null };
    await this.audit.record(manager, actor, 'user.password_changed', userId);
    return { userId, accountId: null };
  }

  /** The second of two concurrent uses finds the link used. */
  async #claim(manager: EntityManager, { id }: UserLink): Promise<UserLink> {
    const link = await manager.findOne(UserLink, { where: { id }, ...forUpdate(manager) });
    const refused = this.#refusalOf(link);
    if (!link || refused) throw linkError(refused ?? 'unknown');
    await manager.update(UserLink, { id }, { usedAt: this.#now });
    return link;
  }

  /** @throws ApiError 404, 429 */
  async #linkOf(ip: string, code: string): Promise<UserLink> {
    let link: UserLink | null = null;
    await this.limits.during({ ip, isKnown: true }, 'set-up link', async () => {
      const known = { fingerprint: fingerprint(code) };
      link = await this.dataSource.manager.findOneBy(UserLink, known);
      return link !== null;
    });
    const refused = this.#refusalOf(link);
    if (!link || refused) throw linkError(refused ?? 'unknown');
    return link;
  }

  #refusalOf(link: UserLink | null): LinkRefusal | undefined {
    if (!link) return 'unknown';
    if (link.usedAt) return 'used';
    return link.expiresAt.getTime() <= this.clock.now() ? 'expired' : undefined;
  }

  async #makeLink(
    manager: EntityManager,
    kind: LinkKind,
    { operator, email, ...given }: Invited & { readonly userId?: string },
  ) {
    const code = randomBytes(32).toString('base64url');
    const createdAt = this.#now;
    const expiresAt = new Date(createdAt.getTime() + HOUR);
    await manager.delete(UserLink, {
      expiresAt: LessThan(new Date(createdAt.getTime() - EXPLAINED)),
    });
    const id = `lnk_${randomBase62(22)}`;
    await manager.insert(UserLink, {
      id,
      fingerprint: fingerprint(code),
      kind,
      ...given,
      email: email ?? null,
      operator: Number(operator),
      createdAt,
      expiresAt,
    });
    return { id, code, createdAt, expiresAt };
  }

  #shown({
    code,
    ...made
  }: {
    id: string;
    code: string;
    createdAt: Date;
    expiresAt: Date;
  }): MadeLink {
    return { ...made, link: setupLink(portalUrl(this.environment), code) };
  }

  get #now(): Date {
    return new Date(this.clock.now());
  }
}

/**
 * `PUBLIC_URL`; at `localhost` the loopback address that the start prints, because the cookie of a
 * session belongs to one host name.
 */
function portalUrl({ PUBLIC_URL, HOST }: LinkSettings): string {
  const url = new URL(PUBLIC_URL);
  if (url.hostname === 'localhost' && HOST === '0.0.0.0') url.hostname = '127.0.0.1';
  else if (url.hostname === 'localhost' && HOST.startsWith('127.')) url.hostname = HOST;
  return url.href;
}

/** The code is in the fragment, which browsers send to no server. */
export function setupLink(base: string, code: string): string {
  return `${base.replace(/\/+$/, '')}/portal/setup#code=${code}`;
}

export function invitationOf(
  { id, createdAt, expiresAt }: Pick<MadeLink, 'id' | 'createdAt' | 'expiresAt'>,
  role: Role,
  email: string | null,
): Invitation {
  const [created, expires] = [createdAt.toISOString(), expiresAt.toISOString()];
  return { id, role, email, createdAt: created, expiresAt: expires };
}

type LinkRefusal = 'unknown' | 'used' | 'expired';

const REMEDY =
  'ask for a new one: an admin makes it under Settings, Members, an operator with dundun user';

function linkError(refusal: LinkRefusal): ApiError {
  const reasons = {
    unknown: 'This set-up link is wrong, or was withdrawn; copy it whole, or',
    used: 'This set-up link was used already; sign in, or',
    expired: 'This set-up link has expired: it works for an hour;',
  };
  return new ApiError('not_found', `${reasons[refusal]} ${REMEDY}`);
}

/** In lower case. @throws ApiError 422 */
function checkedEmail(written: string): string {
  const address = readAddress(written.trim(), ['email']);
  if (!address || address.value.length > 254) throw invalidField('email', EMAIL_RULE);
  return address.value.toLowerCase();
}
