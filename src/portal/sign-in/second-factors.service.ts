import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { DataSource, type EntityManager, In, IsNull, MoreThan, Not } from 'typeorm';
import { encode } from 'uqr';
import { forUpdate } from '../../accounts/accounts.service.js';
import { Account } from '../../accounts/accounts.tables.js';
import { fingerprint } from '../../accounts/credentials.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { type ApiError, invalidField } from '../../http/api-error.js';
import { Secrets } from '../../secrets/secrets.js';
import { type Actor, Audit, type AuditAction } from '../audit.js';
import type { NewSecondFactor, RecoveryCodes, SecondFactorState } from '../portal-api.js';
import { SessionEntity } from '../portal.tables.js';
import { SignInLimits } from './sign-in-limits.js';
import { RecoveryCode, SECOND_FACTOR_SECRET, SecondFactor } from './sign-in.tables.js';

/** Seconds that a code is shown for. */
const PERIOD = 30;

/** Codes of this many periods before and after the present one are right, for clocks that differ. */
const WINDOW = 1;

const RECOVERY_CODES = 10;

/** Letters of recovery codes: RFC 4648's base32, as authenticator apps show keys. */
const RECOVERY_CODE = /^[A-Z2-7]{16}$/;

/** Outcome of the second step of a sign-in. */
export type SecondStep = 'passed' | 'missing' | 'wrong';

/** Codes of authenticator apps (RFC 6238) beside the password, and the recovery codes for a lost phone. */
@Injectable()
export class SecondFactors {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly messaging: MessagingService,
    private readonly secrets: Secrets,
    private readonly limits: SignInLimits,
    private readonly audit: Audit,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
    @Inject(ENVIRONMENT)
    private readonly environment: Pick<Environment, 'PORTAL_OPERATOR_SECOND_FACTOR' | 'PUBLIC_URL'>,
  ) {}

  /** Passes users without a second factor. @throws ApiError 429 */
  async check(userId: string, code: string | undefined): Promise<SecondStep> {
    if (!(await this.usersWith([userId])).has(userId)) return 'passed';
    if (code === undefined) return 'missing';
    return (await this.#isCodeOf(userId, code)) ? 'passed' : 'wrong';
  }

  /** Those of the users who have one, in one read. */
  async usersWith(userIds: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await this.dataSource.manager.findBy(SecondFactor, {
      userId: In(userIds),
      confirmedAt: Not(IsNull()),
    });
    return new Set(found.map(({ userId }) => userId));
  }

  /** Whether the user must have one for this account, or as an operator. */
  isRequired(isOperator: boolean, account: Account | undefined): boolean {
    const ofOperators = this.environment.PORTAL_OPERATOR_SECOND_FACTOR === 'required';
    return (isOperator && ofOperators) || account?.secondFactor === 'required';
  }

  async stateOf(userId: string): Promise<SecondFactorState> {
    const { manager } = this.dataSource;
    const found = await manager.findOneBy(SecondFactor, { userId });
    return {
      since: found?.confirmedAt?.toISOString() ?? null,
      recoveryCodes: found?.confirmedAt ? await manager.countBy(RecoveryCode, { userId }) : 0,
    };
  }

  /** A new key, which asks for no code before {@link confirm}. @throws ApiError 422 where one is on */
  async prepare(userId: string, email: string): Promise<NewSecondFactor> {
    const secret = new Secret({ size: 20 });
    await this.messaging.transaction(async (manager) => {
      const present = await lockedFactor(manager, userId);
      if (present?.confirmedAt)
        throw invalidField('code', 'belongs to a second factor that is on; switch it off first');
      const row = {
        userId,
        secret: this.secrets.seal(SECOND_FACTOR_SECRET, userId, secret.base32),
        createdAt: new Date(this.clock.now()),
        confirmedAt: null,
        lastPeriod: 0,
      };
      await manager.upsert(SecondFactor, row, ['userId']);
    });
    const { host } = new URL(this.environment.PUBLIC_URL);
    const label = { issuer: `Dundun ${host}`, label: email };
    const uri = new TOTP({ ...label, secret, period: PERIOD }).toString();
    return { secret: secret.base32, uri, qr: qrPath(uri) };
  }

  /**
   * Switches the prepared one on with its first code, and ends the user's other sessions.
   * @throws ApiError 422 for a wrong code, 429
   */
  async confirm(userId: string, code: string, session: SessionOf): Promise<RecoveryCodes> {
    await this.#requireCode(userId, code);
    return this.messaging.transaction(async (manager) => {
      // A key that another tab prepared meanwhile has no code yet.
      const proven = { userId, lastPeriod: MoreThan(0) };
      if (!(await manager.existsBy(SecondFactor, proven))) throw wrongCode();
      await manager.update(SecondFactor, proven, { confirmedAt: new Date(this.clock.now()) });
      await manager.delete(SessionEntity, { userId, id: Not(session.sessionId) });
      await this.#record(manager, session.actor, 'user.second_factor_added', userId);
      return newRecoveryCodes(manager, userId);
    });
  }

  /** Replaces the recovery codes. @throws ApiError 422 for a wrong code, 429 */
  async renewCodes(userId: string, code: string, actor: Actor): Promise<RecoveryCodes> {
    await this.#requireCode(userId, code);
    return this.messaging.transaction(async (manager) => {
      await this.#record(manager, actor, 'user.recovery_codes_made', userId);
      return newRecoveryCodes(manager, userId);
    });
  }

  /** @throws ApiError 422 for a wrong code, 429 */
  async remove(userId: string, code: string, actor: Actor): Promise<void> {
    await this.#requireCode(userId, code);
    await this.messaging.transaction(async (manager) => {
      await deleteFactor(manager, userId);
      await this.#record(manager, actor, 'user.second_factor_removed', userId);
    });
  }

  /** For a user who has lost the phone and the recovery codes. Ends the user's sessions. */
  async reset(userId: string, actor: Actor): Promise<void> {
    await this.messaging.transaction(async (manager) => {
      await deleteFactor(manager, userId);
      await manager.delete(SessionEntity, { userId });
      await this.#record(manager, actor, 'user.second_factor_reset', userId);
    });
  }

  async #requireCode(userId: string, code: string): Promise<void> {
    if (!(await this.#isCodeOf(userId, code))) throw wrongCode();
  }

  /** Uses the code up: of two requests with one code, one passes. @throws ApiError 429 */
  #isCodeOf(userId: string, written: string): Promise<boolean> {
    const code = written.replaceAll(/[\s-]/g, '').toUpperCase();
    return this.limits.duringCode(userId, () =>
      this.messaging.transaction(async (manager) => {
        const factor = await lockedFactor(manager, userId);
        if (!factor) return false;
        if (RECOVERY_CODE.test(code)) return isRecoveryCode(manager, factor, code);
        const secret = Secret.fromBase32(
          this.secrets.open(SECOND_FACTOR_SECRET, userId, factor.secret),
        );
        const at = { period: PERIOD, timestamp: this.clock.now() };
        const delta = TOTP.validate({ token: code, secret, window: WINDOW, ...at });
        const period = TOTP.counter(at) + (delta ?? 0);
        if (delta === null || period <= factor.lastPeriod) return false;
        await manager.update(SecondFactor, { userId }, { lastPeriod: period });
        return true;
      }),
    );
  }

  /** The entry belongs to no account, as a user may be in many. */
  #record(manager: EntityManager, actor: Actor, action: AuditAction, userId: string) {
    return this.audit.record(manager, { ...actor, accountId: null }, action, userId);
  }
}

function wrongCode(): ApiError {
  return invalidField('code', 'is wrong, or was used before; wait for the next one');
}

/** The session of a change, and its person. */
export interface SessionOf {
  readonly sessionId: string;
  readonly actor: Actor;
}

function lockedFactor(manager: EntityManager, userId: string): Promise<SecondFactor | null> {
  return manager.findOne(SecondFactor, { where: { userId }, ...forUpdate(manager) });
}

/** The row of the factor is locked, so the code is used once. */
async function isRecoveryCode(
  manager: EntityManager,
  { userId, confirmedAt }: SecondFactor,
  code: string,
): Promise<boolean> {
  const row = { userId, fingerprint: fingerprint(code) };
  if (!confirmedAt || !(await manager.existsBy(RecoveryCode, row))) return false;
  await manager.delete(RecoveryCode, row);
  return true;
}

export async function deleteFactor(manager: EntityManager, userId: string): Promise<void> {
  await manager.delete(RecoveryCode, { userId });
  await manager.delete(SecondFactor, { userId });
}

async function newRecoveryCodes(manager: EntityManager, userId: string): Promise<RecoveryCodes> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => {
    const { base32 } = new Secret({ buffer: new Uint8Array(randomBytes(10)).buffer });
    return base32;
  });
  await manager.delete(RecoveryCode, { userId });
  await manager.insert(
    RecoveryCode,
    codes.map((code) => ({ userId, fingerprint: fingerprint(code) })),
  );
  return { codes: codes.map((code) => code.replaceAll(/(.{4})(?!$)/g, '$1-')) };
}

/** The black squares of a QR code as an SVG path, one unit each. */
function qrPath(text: string): NewSecondFactor['qr'] {
  const { data, size } = encode(text, { border: 4 });
  const path = data
    .flatMap((row, y) => row.flatMap((isBlack, x) => (isBlack ? `M${x} ${y}h1v1h-1z` : [])))
    .join('');
  return { size, path };
}
