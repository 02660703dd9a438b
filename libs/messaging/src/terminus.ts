import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { HoldsService } from './operations/holds.service.js';
import { MessagingService } from './messaging.service.js';
import { type Duration, milliseconds } from './ports/option-schema.js';

/** Codes of a pause that an answer names; a provider may answer any other text as its code. */
const PAUSE_REASONS: ReadonlySet<string> = new Set([
  'unauthorized',
  'forbidden',
  'throttled',
  'unreachable',
  'unexpected_redirect',
  'not_the_interface',
  'not_the_provider',
  'account_restricted',
  'payment_required',
  'not_sent',
  'no_route',
  'bind_refused',
]);

/** Longest wait, in ms, of a check for the store's answer. */
const READ_TIMEOUT = 2_000;

export interface LanesCheckOptions {
  /**
   * A lane that has had due work for longer, without a pause, a hold or a process that works on it,
   * is stuck: the check is down. @default '5m'
   */
  readonly stuckAfter?: Duration;
}

export interface WritesCheckOptions {
  /** Wait of a write after which the check is down. @default '5s' */
  readonly waitsAfter?: Duration;
}

export interface ProgressCheckOptions {
  /** Time without a statement in a transaction after which the check is down. @default '60s' */
  readonly stuckAfter?: Duration;
}

/**
 * Health checks for `@nestjs/terminus` 11 and 12. Reasons are fixed words, so that anybody may read
 * the answer: it names no lane, no address and no message of a driver. Messages of a degraded check
 * wait or leave later; none is lost. Terminus 11 has no `degraded`: the check is `up` there, with the
 * same details.
 * @example
 * // @Module({ imports: [TerminusModule], providers: [MessagingHealthIndicator] })
 * health.check([() => messaging.lanes('lanes'), () => messaging.engine('engine')]);
 */
@Injectable()
export class MessagingHealthIndicator {
  readonly #logger = new Logger('Health');

  /** @internal */
  constructor(
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(MessagingService) private readonly messaging: MessagingService,
    @Inject(HoldsService) private readonly holds: HoldsService,
  ) {}

  /**
   * Down: a lane is stuck, or the store cannot be read. Degraded: a lane is paused after failures of
   * its provider, or all lanes are held; the hold of some lanes is no fault.
   * @throws MessagingConfigError where `stuckAfter` is no duration
   */
  async lanes<const Key extends string>(
    key: Key,
    { stuckAfter = '5m' }: LanesCheckOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const limit = milliseconds('stuckAfter', stuckAfter);
    const session = this.indicators.check(key);
    const read = Promise.all([this.messaging.lanes(), this.holds.list()]);
    const [lanes, holds] = (await this.#answerOf('lanes', read)) ?? [];
    if (!lanes || !holds) return session.down({ reason: 'store_unreadable' });
    const paused: Record<string, number> = {};
    const held: Record<string, number> = {};
    let waiting = 0;
    let stuck = 0;
    for (const lane of lanes) {
      const { hold, pauseReason } = lane;
      if (hold) held[hold.reason] = (held[hold.reason] ?? 0) + 1;
      else if (pauseReason !== null) {
        const word = PAUSE_REASONS.has(pauseReason) ? pauseReason : 'other';
        paused[word] = (paused[word] ?? 0) + 1;
      } else if (!lane.leased && lane.waiting > limit) stuck++;
      waiting = Math.max(waiting, lane.waiting);
    }
    const all = holds.find((hold) => hold.lanes === '*')?.reason;
    const details = {
      busy: lanes.length,
      paused,
      held,
      stuck,
      longest_wait_ms: Math.round(waiting),
      ...(all !== undefined && { all_held: all }),
    };
    if (stuck > 0) return session.down(details);
    const isDegraded = all !== undefined || Object.keys(paused).length > 0;
    return isDegraded ? degraded(session, details) : session.up(details);
  }

  /**
   * Degraded: a provider accepts nothing, because it refused a bind or a credential, cannot be reached,
   * or asked for a pause. Its messages wait, or leave by another one; `MessagingService.providers()` names
   * it. `waiting: 'connections'` is no fault: other processes hold all connections that a provider allows,
   * and send; this one takes over once one of them stops.
   */
  async providers<const Key extends string>(key: Key): Promise<HealthIndicatorResult<Key>> {
    const session = this.indicators.check(key);
    const providers = await this.#answerOf('providers', this.messaging.pausedProviders());
    if (!providers) return session.down({ reason: 'store_unreadable' });
    const paused: Record<string, number> = {};
    for (const { pauseReason } of providers) {
      const word = pauseReason !== null && PAUSE_REASONS.has(pauseReason) ? pauseReason : 'other';
      paused[word] = (paused[word] ?? 0) + 1;
    }
    const isWaiting = this.messaging.isWaitingForPlaces;
    const details = { paused, ...(isWaiting && { waiting: 'connections' }) };
    return Object.keys(paused).length > 0 ? degraded(session, details) : session.up(details);
  }

  /**
   * For readiness. Down: a write has waited longer than `waitsAfter` for its turn or for the database. The
   * reason is `locked` where another process holds the lock of an SQLite file, `transaction_open` where a
   * transaction of this process holds the turn, else `no_answer`.
   * @throws MessagingConfigError where `waitsAfter` is no duration
   */
  writes<const Key extends string>(
    key: Key,
    { waitsAfter = '5s' }: WritesCheckOptions = {},
  ): HealthIndicatorResult<Key> {
    const limit = milliseconds('waitsAfter', waitsAfter);
    const session = this.indicators.check(key);
    const { waiting, waitsFor } = this.messaging.writeHealth();
    if (waitsFor === undefined || waiting <= limit) return session.up();
    const reason = waitsFor === 'database' ? 'no_answer' : waitsFor;
    return session.down({ reason, longest_wait_ms: Math.round(waiting) });
  }

  /**
   * For liveness. Down: a transaction of this process has run no statement for `stuckAfter`, while the
   * database answers another connection, so that only a restart helps. A database that is away, or locked by
   * another process, never fails it.
   * @throws MessagingConfigError where `stuckAfter` is no duration
   */
  async progress<const Key extends string>(
    key: Key,
    { stuckAfter = '60s' }: ProgressCheckOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const session = this.indicators.check(key);
    const isStuck = await this.messaging.isStuck(stuckAfter);
    return isStuck ? session.down({ reason: 'transaction_open' }) : session.up();
  }

  /** Degraded: the engine's broker is unreachable, so that messages leave some seconds later. */
  async engine<const Key extends string>(key: Key): Promise<HealthIndicatorResult<Key>> {
    const session = this.indicators.check(key);
    const { state } = await this.messaging.engineHealth();
    // The engine logs the cause whenever it changes.
    return state === 'up' ? session.up() : degraded(session, { reason: 'broker_unavailable' });
  }

  /** `undefined`: the store failed, or has not answered in time. */
  async #answerOf<T>(what: string, read: Promise<T>): Promise<T | undefined> {
    const late = wait(READ_TIMEOUT, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${READ_TIMEOUT} ms`);
    });
    try {
      return await Promise.race([read, late]);
    } catch (error) {
      this.#logger.warn({ message: `the ${what} cannot be read`, err: error });
      return undefined;
    } finally {
      late.catch(() => undefined);
    }
  }
}

type Session<Key extends string> = ReturnType<typeof HealthIndicatorService.prototype.check<Key>>;

function degraded<Key extends string>(
  session: Session<Key>,
  details: Record<string, unknown>,
): HealthIndicatorResult<Key> {
  return Reflect.has(session, 'degraded') ? session.degraded(details) : session.up(details);
}
