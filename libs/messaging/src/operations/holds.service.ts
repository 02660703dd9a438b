import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { HoldWatch } from '../dispatch/hold-watch.js';
import { AlreadySentError, MessagingError } from '../message/errors.js';
import { MESSAGING_CLOCK, type Clock } from '../ports/clock.js';
import { MESSAGE_TRANSPORTS, type Transports } from '../ports/message-transport.js';
import {
  type Hold,
  hasLane,
  HoldIndex,
  type NewHold,
  RESTORE_HOLD,
  RESTORED,
  restoreHoldOf,
} from '../store/rows/hold.js';
import type { Transaction } from '../store/database/store-database.js';
import { MessageStore } from '../store/message-store.js';

/** Messages of a lane that a restored database has queued or in flight. */
export interface RestoredLane {
  readonly lane: string;
  readonly channel: string;
  /** Accepted and due before the restore: the lost database may have sent them. */
  readonly queued: number;
  /** Due after the restore: the lost database did not send them. */
  readonly scheduled: number;
  /** In flight at the backup; resent under the key that the provider still knows: no duplicate. */
  readonly resendable: number;
  /** In flight at the backup; they become `unknown`, and are polled where the provider allows it. */
  readonly lost: number;
}

/** Choice for messages that the lost database may have sent since the backup. */
export type InDoubt = 'send' | 'unknown';

/** A database that is no restored copy, or was released, has nothing in doubt. */
export class NotRestoredError extends MessagingError {
  constructor() {
    super(
      'not_restored',
      'The database is not held as a restored copy; nothing is left to release',
    );
  }
}

function isOfChannel({ lanes, reason }: Hold): boolean {
  return reason === RESTORED && lanes.startsWith('*:');
}

/** Batches in one read of a cancel. */
const PAGE = 500;

/**
 * Holds on lanes: sends are accepted and wait, requests in flight end, nothing starts until the
 * release. It counts in the calling process once {@link HoldsService.hold} has resolved (with a
 * `manager`: just after its commit), and in every other process within about a second. A restored database starts with all
 * lanes held, because messages sent since the backup would leave again.
 * @example
 * await holds.hold({ lanes: `${tenant}:*`, reason: 'account_suspended' });
 * await holds.release({ lanes: `${tenant}:*`, reason: 'account_suspended' });
 */
@Injectable()
export class HoldsService {
  /** @internal */
  constructor(
    @Inject(MessageStore) private readonly store: MessageStore,
    @Inject(MESSAGE_TRANSPORTS) private readonly transports: Transports,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
    @Inject(HoldWatch) private readonly watch: HoldWatch,
  ) {}

  list(): Promise<Hold[]> {
    return this.store.holds.list();
  }

  /**
   * Holds lanes, also those that do not exist yet. A hold of these lanes for this reason stays, with
   * the new note and end. Once it resolves, this process starts nothing on the lanes; other processes
   * stop within about a second, and requests in flight end.
   * @param manager of the caller's transaction @default a transaction of its own
   * @throws MessageValidationError
   */
  async hold(hold: NewHold, { manager }: { readonly manager?: EntityManager } = {}): Promise<void> {
    return this.#change(manager, (tx) => this.store.holds.place(tx, hold));
  }

  /** Ends a hold; other holds on the same lanes stay. False: there is no such hold. */
  async release(
    hold: Pick<Hold, 'lanes' | 'reason'>,
    { manager }: { readonly manager?: EntityManager } = {},
  ): Promise<boolean> {
    return this.#change(manager, (tx) => this.store.holds.lift(tx, hold));
  }

  /**
   * Cancels every batch of the lanes that has messages left to start. Repeatable.
   * @param lanes as of a hold; hold them first, or further messages start meanwhile
   * @returns the number of cancelled batches
   */
  async cancelWaiting(lanes: string): Promise<number> {
    const { waiting, batches } = this.store;
    const own = (await waiting.lanes()).filter((lane) => hasLane(lanes, lane));
    let cancelled = 0;
    for (const lane of own)
      for (let after = FIRST_ID; ;) {
        const page = await waiting.batches(lane, after, PAGE);
        const last = page.at(-1);
        if (!last) break;
        for (const { id, tenant, channel } of page) {
          const done = await batches.cancel(id, { tenant, channel }).catch(ignoreEnded);
          if (done) cancelled++;
        }
        after = last.id;
      }
    return cancelled;
  }

  /** Time of the restore; `undefined`: the database is not held as a restored copy. */
  async restoredSince(): Promise<Date | undefined> {
    const { lanes, reason } = RESTORE_HOLD;
    const holds = await this.list();
    return holds.find((hold) => hold.lanes === lanes && hold.reason === reason)?.since;
  }

  /**
   * Treats the database as a restored copy, for restores that it cannot notice by itself. Call it
   * before the restored app starts.
   */
  async markRestored(): Promise<void> {
    const { database, holds } = this.store;
    await database.transaction(async (tx) => {
      await holds.place(tx, RESTORE_HOLD);
      await holds.holdIrrevocable(tx);
    });
    await this.watch.follow();
  }

  /** Effect of a release on each lane's messages. @throws NotRestoredError */
  async restoredWork(): Promise<RestoredLane[]> {
    const since = await this.#restoredSince();
    const now = this.clock.now();
    const lanes = await this.store.waiting.byLane(since);
    return lanes.map(({ inFlight, ...lane }) => {
      let resendable = 0;
      let lost = 0;
      for (const { provider, firstSentAt, messages } of inFlight) {
        const keyLasts = this.transports.get(provider)?.capabilities.idempotencyWindow ?? 0;
        if (now - firstSentAt.getTime() < keyLasts) resendable += messages;
        else lost += messages;
      }
      return { ...lane, resendable, lost };
    });
  }

  /**
   * Releases the lanes of a restored database. `send`: queued messages are sent, also those that
   * the lost database has sent since the backup. `unknown`: those that were accepted and due before
   * the restore become `unknown` and are not sent. Channels with a hold of their own stay held. Either way, messages in flight at the backup are
   * resent while the provider knows their key, else `unknown`; later messages are sent.
   * @throws NotRestoredError
   */
  async releaseRestored(inDoubt: InDoubt): Promise<void> {
    const since = await this.#restoredSince();
    const { waiting, holds } = this.store;
    const kept = new HoldIndex((await this.list()).filter(isOfChannel));
    if (inDoubt === 'unknown')
      for (const lane of await waiting.lanes()) if (!kept.of(lane)) await holds.doubt(lane, since);
    await this.release(RESTORE_HOLD);
  }

  /**
   * Releases the messages of one channel whose effect cannot be taken back, such as `vas`, after
   * {@link releaseRestored}. Its provider recognises what the lost database has sent by its key.
   * @throws NotRestoredError
   */
  async releaseRestoredChannel(channel: string): Promise<void> {
    if (!(await this.release(restoreHoldOf(channel)))) throw new NotRestoredError();
  }

  async #change<T>(
    manager: EntityManager | undefined,
    change: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    const { database } = this.store;
    const own = database.callersTransaction(manager);
    if (own) {
      const result = await change(own);
      this.store.afterCommit.on(own.manager.queryRunner!, () => void this.watch.follow());
      return result;
    }
    const result = await database.transaction(change);
    await this.watch.follow();
    return result;
  }

  async #restoredSince(): Promise<Date> {
    const since = await this.restoredSince();
    if (!since) throw new NotRestoredError();
    return since;
  }
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

function ignoreEnded(error: unknown): undefined {
  if (!(error instanceof AlreadySentError)) throw error;
}
