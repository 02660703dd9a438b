import type { EntityManager } from 'typeorm';
import { IdempotencyKeyInUseError, IdempotencyKeyReusedError } from '../../message/errors.js';
import type { NotificationChange } from '../../message/events.js';
import { isLockTimeout } from '../../store/database/database-errors.js';
import { isOwnError } from '../../store/verbs/enqueue.js';
import { GroupCommit } from '../../store/database/group-commit.js';
import { retryWhileUnavailable } from '../../store/database/retry.js';
import type { Transaction } from '../../store/database/store-database.js';
import type { MessageStore } from '../../store/message-store.js';
import type { NewBatch } from '../../store/rows/new-batch.js';
import type { Enqueuer } from '../enqueuer.js';
import type { NotificationEvents } from './notification-events.js';
import type {
  KeyOwner,
  NotificationKey,
  NotificationStore,
  StoredNotification,
} from './notification-store.js';
import type { NotificationReceipt } from './notification.js';

/** A notification with the batch of its first message. */
export interface AskedNotification {
  readonly notification: StoredNotification;
  readonly batch: NewBatch;
  /** Policy denied the channels before it. */
  readonly fellBack?: NotificationChange | undefined;
  /** By the present key of the digests first; empty without an idempotency key. */
  readonly keys: readonly NotificationKey[];
}

type Answer = NotificationReceipt | IdempotencyKeyReusedError;

/** Most notifications of a transaction. */
const MOST = 500;

/** Longest wait, in ms, for a transaction that holds a key. */
const KEY_TIMEOUT = 1_000;

/** Stores notifications with their first messages; concurrent sends share commits. */
export class NotificationAcceptance {
  readonly #plain: GroupCommit<AskedNotification, Answer>;
  /** A separate group: only notifications with keys may wait for a key. Also of those that fell back. */
  readonly #keyed: GroupCommit<AskedNotification, Answer>;

  constructor(
    private readonly store: MessageStore,
    private readonly notifications: NotificationStore,
    private readonly enqueuer: Enqueuer,
    private readonly events: NotificationEvents,
    /** Retention of idempotency keys in milliseconds. */
    private readonly idempotencyWindow: number,
  ) {
    const { database } = store;
    this.#plain = new GroupCommit((take) => retryWhileUnavailable(() => this.#storePlain(take())), {
      maxItems: MOST,
      isItemError: isOwnError,
    });
    this.#keyed = new GroupCommit(
      (take) =>
        retryWhileUnavailable(() =>
          database.transaction((tx) => this.#storeKeyed(tx, take()), KEY_TIMEOUT),
        ),
      { maxItems: MOST, isItemError: (error) => isOwnError(error) || isLockTimeout(error) },
    );
  }

  /**
   * Resolves once the notification is durable, or in the caller's transaction.
   * @throws IdempotencyKeyReusedError
   * @throws IdempotencyKeyInUseError
   */
  async accept(asked: AskedNotification, manager?: EntityManager): Promise<NotificationReceipt> {
    const { database, afterCommit } = this.store;
    if (manager) {
      const tx = database.join(manager);
      const [receipt] = (await this.#storeKeyed(tx, [asked])).map(answer);
      if (!receipt!.replayed) afterCommit.on(tx.manager.queryRunner!, () => this.#begin(asked));
      return receipt!;
    }
    database.refuseWithin();
    const group = asked.keys.length === 0 && !asked.fellBack ? this.#plain : this.#keyed;
    const receipt = answer(
      await group.add(asked).catch((error: unknown) => {
        throw isLockTimeout(error) ? new IdempotencyKeyInUseError({ cause: error }) : error;
      }),
    );
    // The store of notifications without keys counts its batches.
    if (group === this.#plain) this.enqueuer.wake(asked.batch);
    else if (!receipt.replayed) this.#begin(asked);
    return receipt;
  }

  /**
   * The first receipt under one of the keys.
   * @throws IdempotencyKeyReusedError where it belongs to another notification
   */
  async replayOf(
    { notification, keys }: Pick<AskedNotification, 'notification' | 'keys'>,
    manager?: EntityManager,
  ): Promise<NotificationReceipt | undefined> {
    if (keys.length === 0) return undefined;
    const { database } = this.store;
    const asked = keys.map(({ key }) => [notification.tenant, key] as const);
    const owners = await (manager
      ? this.notifications.owners(database.join(manager), asked)
      : retryWhileUnavailable(() => this.notifications.owners(database, asked)));
    for (const own of keys) {
      const owner = owners.find(({ key }) => key === own.key);
      if (owner && !this.#isExpired(owner, notification)) return answer(replayed(own, owner));
    }
    return undefined;
  }

  async idle(): Promise<void> {
    await Promise.all([this.#plain.idle(), this.#keyed.idle()]);
  }

  /** After the commit. */
  #begin({ batch, fellBack }: AskedNotification): void {
    this.enqueuer.begin(batch);
    if (fellBack) this.events.publish([fellBack]);
  }

  async #storePlain(asked: readonly AskedNotification[]): Promise<Answer[]> {
    await this.enqueuer.storeWith(
      asked.map(({ batch }) => batch),
      { insert: this.notifications.insertion(asked.map(({ notification }) => notification)) },
    );
    return asked.map(accepted);
  }

  async #storeKeyed(tx: Transaction, asked: readonly AskedNotification[]): Promise<Answer[]> {
    const keyed = asked.filter(({ keys }) => keys.length > 0);
    let owners = await this.#insert(tx, asked, keyed);
    const expired = owners.filter((owner) => this.#isExpired(owner, keyed[0]!.notification));
    if (expired.length > 0) {
      await this.notifications.releaseKeys(tx, expired);
      owners = await this.#insert(tx, asked, keyed);
    }
    const byKey = new Map(owners.map((owner) => [keyOf(owner.tenant, owner.key), owner]));
    const answers = asked.map((one) => {
      const [own] = one.keys;
      const owner = own && byKey.get(keyOf(one.notification.tenant, own.key));
      return owner && owner.id !== one.notification.id ? replayed(own, owner) : accepted(one);
    });
    const isStored = (one: Answer) => !(one instanceof Error) && !one.replayed;
    const stored = asked.filter((_, index) => isStored(answers[index]!));
    await this.enqueuer.storeWithin(
      tx,
      stored.map(({ batch }) => batch),
    );
    await this.events.record(
      tx,
      stored.flatMap(({ fellBack }) => fellBack ?? []),
    );
    return answers;
  }

  /** @returns the owners of the keys, locked */
  async #insert(
    tx: Transaction,
    asked: readonly AskedNotification[],
    keyed: readonly AskedNotification[],
  ): Promise<KeyOwner[]> {
    await this.notifications.insert(
      tx,
      asked.map(({ notification, keys: [key] }) => ({ ...notification, key })),
    );
    const keys = keyed.map(
      ({ notification, keys: [own] }) => [notification.tenant, own!.key] as const,
    );
    return this.notifications.owners(tx, keys, true);
  }

  #isExpired({ createdAt }: KeyOwner, notification: StoredNotification): boolean {
    return createdAt + this.idempotencyWindow < notification.createdAt;
  }
}

function accepted({ notification }: AskedNotification): NotificationReceipt {
  return receiptOf(notification, false);
}

function replayed({ fingerprint }: NotificationKey, owner: KeyOwner): Answer {
  if (fingerprint !== owner.fingerprint) return new IdempotencyKeyReusedError();
  return receiptOf(owner, true);
}

/** The first message of a notification stays the same. */
function receiptOf(
  { id, createdAt, steps }: Pick<StoredNotification, 'id' | 'createdAt' | 'steps'>,
  replayed: boolean,
): NotificationReceipt {
  const { channel, batch } = steps.find((step) => step.batch !== undefined)!;
  const messageId = `${batch}-0`;
  return { id, createdAt: new Date(createdAt), replayed, channel, messageId };
}

function answer(result: Answer): NotificationReceipt {
  if (result instanceof Error) throw result;
  return result;
}

function keyOf(tenant: string, key: string): string {
  return JSON.stringify([tenant, key]);
}
