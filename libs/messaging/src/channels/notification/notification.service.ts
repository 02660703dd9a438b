import { setTimeout as wait } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import type { StoreListeners } from '../../store/store-listeners.js';
import type { HoldWatch } from '../../dispatch/hold-watch.js';
import {
  type FallbackReason,
  NOTIFICATION_ENDED,
  NOTIFICATION_FELL_BACK,
  type NotificationChange,
} from '../../message/events.js';
import type { ListOptions, Page, TenantOption } from '../../message/views.js';
import { PolicyError } from '../../policy/policy.service.js';
import type { ErasureListeners } from '../../ports/listeners.js';
import type { MessagingSettings } from '../../ports/messaging-settings.js';
import type { AlsoOption, Transaction } from '../../store/database/sql.js';
import { isBatchId } from '../../message/ids.js';
import { decodeCursor, encodeCursor } from '../../store/rows/cursor.js';
import { type ChannelContext, pageOf } from '../channel.service.js';
import { NotificationAcceptance } from './notification-acceptance.js';
import type { NotificationEvents } from './notification-events.js';
import { type CheckedNotification, checkedNotification } from './notification-input.js';
import { NotificationChanges } from './notification-changes.js';
import { NotificationRunner } from './notification-runner.js';
import {
  labelsOf,
  NotificationStore,
  type SeenMessage,
  type StoredNotification,
  type StoredStep,
} from './notification-store.js';
import {
  type NewNotification,
  NotificationEndedError,
  NotificationNotFoundError,
  type NotificationReceipt,
  type NotificationRecipient,
  type NotificationSendOptions,
  type NotificationStep,
  type NotificationView,
} from './notification.js';

/** Notifications that one transaction deletes. */
const SLICE = 1_000;
/** Waits, in ms, until a cancel tries again for a message that another transaction has locked. */
const CANCEL_AGAIN = [20, 50, 100, 200, 400];

interface Cancelled {
  readonly isLocked: boolean;
  readonly publish: () => void;
}

/**
 * Notifications over several channels, of which the next takes over where a message was not
 * delivered. Each channel has a message of its own. A notification goes on in any process that
 * dispatches; a crash loses and doubles nothing.
 * @example
 * const { id } = await notifications.send({ via: ['whatsapp', 'sms'], whatsapp, sms, fallback: { after: '2m' } }, to);
 * const { status, steps } = await notifications.find(id);
 */
export class NotificationService {
  readonly #notifications: NotificationStore;
  readonly #acceptance: NotificationAcceptance;
  readonly #runner: NotificationRunner;

  /** @internal */
  constructor(
    private readonly context: ChannelContext,
    private readonly settings: Pick<MessagingSettings, 'reports' | 'store'>,
    private readonly events: NotificationEvents,
    erasures: ErasureListeners,
    storeListeners: StoreListeners,
    holds: Pick<HoldWatch, 'of'>,
  ) {
    const { store, channels, enqueuer, clock } = context;
    const { giveUpAfter } = settings.reports;
    const notifications = new NotificationStore(store.database, channels);
    this.#notifications = notifications;
    const { idempotencyWindow } = settings.store;
    this.#acceptance = new NotificationAcceptance(
      store,
      notifications,
      enqueuer,
      events,
      idempotencyWindow,
    );
    this.#runner = new NotificationRunner(
      store,
      notifications,
      enqueuer,
      clock,
      new NotificationChanges(notifications, holds, giveUpAfter),
      events,
    );
    storeListeners.add({ onStepEnded: () => this.#runner.wake() });
    erasures.add(notifications);
  }

  /**
   * Accepts a notification to one person. A channel whose message policy denies is left out, and the
   * next one begins at once. Resolves once the notification and its first message are durable, or,
   * with `manager`, part of that transaction. Where it throws one of these errors, nothing was
   * stored.
   * @param to an address for all channels, or one of each kind, such as `{ phone, email }`
   * @throws MessageValidationError naming each wrong field, such as `sms.body`
   * @throws PolicyError where policy denies the message of every channel
   * @throws IdempotencyKeyReusedError where the key was used for another notification
   * @throws IdempotencyKeyInUseError where another open transaction holds the key; try again
   * @throws TransactionRequiredError where `manager` is in no transaction of the data source
   * @throws NoRouteError where no provider carries one of the channels
   * @example
   * await notifications.send({ via: ['whatsapp', 'sms'], whatsapp, sms }, '+2348012345678', { manager });
   */
  async send(
    notification: NewNotification,
    to: NotificationRecipient,
    options: NotificationSendOptions = {},
  ): Promise<NotificationReceipt> {
    const manager = this.context.store.database.callersTransaction(options.manager)?.manager;
    const checked = checkedNotification(this.context, notification, to, options);
    const { keys } = checked;
    const stored = this.#stored(checked, []);
    const former = await this.#acceptance.replayOf(
      { notification: stored, keys: keys.slice(1) },
      manager,
    );
    if (former) return former;
    const denials = await this.#denials(checked, manager);
    const batch = checked.batches[denials.length];
    if (!batch) {
      // The first send under this key stands where policies have changed since.
      const first = await this.#acceptance.replayOf({ notification: stored, keys }, manager);
      if (first) return first;
      throw refusal(denials);
    }
    const own = denials.length === 0 ? stored : this.#stored(checked, denials);
    const fellBack = fallbackOf(checked, denials);
    return this.context.enqueuer.accepting(batch, (traced) =>
      this.#acceptance.accept({ notification: own, batch: traced, fellBack, keys }, manager),
    );
  }

  /**
   * The first receipt of this notification under `idempotencyKey`, also where policy would now deny
   * it. `undefined`: the key was not used.
   * @throws MessageValidationError naming each wrong field
   * @throws IdempotencyKeyReusedError where the key was used for another notification
   */
  async replayOf(
    notification: NewNotification,
    to: NotificationRecipient,
    options: NotificationSendOptions & { readonly idempotencyKey: string },
  ): Promise<NotificationReceipt | undefined> {
    const manager = this.context.store.database.callersTransaction(options.manager)?.manager;
    const checked = checkedNotification(this.context, notification, to, options);
    const asked = { notification: this.#stored(checked, []), keys: checked.keys };
    return this.#acceptance.replayOf(asked, manager);
  }

  /** @throws NotificationNotFoundError */
  async find(id: string, { tenant = '' }: TenantOption = {}): Promise<NotificationView> {
    const { database } = this.context.store;
    const found = isBatchId(id) ? await this.#notifications.find(database, tenant, id) : undefined;
    if (!found) throw new NotificationNotFoundError();
    const seen = await this.#notifications.messages(database, [found]);
    return viewOf(found, seen, this.#notifications);
  }

  /** Lists notifications, the newest first. */
  async list(options: ListOptions = {}): Promise<Page<NotificationView>> {
    const { database } = this.context.store;
    const { tenant = '' } = options;
    const { limit, cursor } = pageOf(options);
    const before = cursor === undefined ? undefined : decodeCursor(cursor, 'uuid');
    const rows = await this.#notifications.newest(database, tenant, limit + 1, before);
    const found = rows.slice(0, limit);
    const seen = await this.#notifications.messages(database, found);
    return {
      data: found.map((row) => viewOf(row, seen, this.#notifications)),
      nextCursor: rows.length > limit ? encodeCursor(found.at(-1)!.id) : null,
    };
  }

  /**
   * Cancels a notification: no further channel takes over, and a message that has not started is
   * cancelled. A message that was sent, or may have been, still decides how the notification ends;
   * without one it is `cancelled`. Repeated calls are safe.
   * @throws NotificationNotFoundError
   * @throws NotificationEndedError where nothing is left to cancel
   */
  async cancel(
    id: string,
    { tenant = '', also }: TenantOption & AlsoOption = {},
  ): Promise<NotificationView> {
    const { database } = this.context.store;
    if (!isBatchId(id)) throw new NotificationNotFoundError();
    for (const again of [...CANCEL_AGAIN, undefined]) {
      const { isLocked, publish } = await database.transaction((tx) =>
        this.#cancel(tx, tenant, id, again === undefined, also),
      );
      publish();
      if (!isLocked) break;
      await wait(again);
    }
    return this.find(id, { tenant });
  }

  /** @internal Looks at the notifications that are due. */
  run(signal?: AbortSignal): Promise<void> {
    return this.#runner.run(signal);
  }

  /** @internal Deletes notifications that ended before the retention. */
  async forget(signal: AbortSignal): Promise<void> {
    const { reports, store: options } = this.settings;
    const { messages } = options.retention;
    if (messages === undefined) return;
    const kept = Math.max(messages, options.idempotencyWindow, reports.giveUpAfter);
    const before = this.context.clock.now() - kept;
    const step = () =>
      this.context.store.database.transaction((tx) =>
        this.#notifications.forget(tx, before, SLICE),
      );
    while (!signal.aborted && (await step()) === SLICE);
  }

  /** @internal Resolves when no send and no look is under way. */
  async idle(): Promise<void> {
    await this.#acceptance.idle();
    await this.#runner.idle();
  }

  /** Policy's denials of the first channels; where it denies all, one for each. */
  async #denials(
    { batches }: CheckedNotification,
    manager: EntityManager | undefined,
  ): Promise<PolicyError[]> {
    const denials: PolicyError[] = [];
    for (const batch of batches) {
      const [denial] = await this.context.enqueuer.denialsOf([batch], manager);
      if (!denial) break;
      denials.push(denial);
    }
    return denials;
  }

  /** The notification as it is stored with its first message that policy allows. */
  #stored(
    { id, tenant, batches, plan, createdAt, beginsAt }: CheckedNotification,
    denials: readonly PolicyError[],
  ): StoredNotification {
    const first = denials.length;
    const steps = batches.map(({ channel, id: batch }, n): StoredStep => {
      if (n > first) return { channel };
      const reason: { reason?: FallbackReason } = n === 0 ? {} : { reason: 'denied' };
      const begun = { channel, at: beginsAt, ...reason };
      return n < first ? { ...begun, denied: true, code: denials[n]!.code } : { ...begun, batch };
    });
    const messages = plan.messages.slice(first);
    const hasNext = messages.length > 0;
    const { giveUpAfter } = this.settings.reports;
    return {
      id,
      tenant,
      status: 'pending',
      steps,
      plan: hasNext ? { ...plan, messages } : null,
      createdAt,
      endedAt: null,
      dueAt: beginsAt + Math.min(giveUpAfter, (hasNext ? plan.after : null) ?? Infinity),
    };
  }

  /** @param isLast whether a message that another transaction has locked is left alone */
  async #cancel(
    tx: Transaction,
    tenant: string,
    id: string,
    isLast: boolean,
    also: AlsoOption['also'],
  ): Promise<Cancelled> {
    const { clock, store } = this.context;
    const row = await this.#notifications.find(tx, tenant, id, true);
    if (!row) throw new NotificationNotFoundError();
    const nothing = { isLocked: false, publish: () => undefined };
    if (row.status === 'cancelled') return nothing;
    if (row.status !== 'pending') throw new NotificationEndedError(row.status);
    const seen = await this.#notifications.messages(tx, [row]);
    const states = row.steps.flatMap(({ batch, stopped }) => {
      const state = batch === undefined || stopped ? undefined : seen.get(batch)?.state;
      return batch !== undefined && state !== undefined ? [{ batch, state }] : [];
    });
    const queued = states.flatMap(({ batch, state }) => (state === 'queued' ? [batch] : []));
    const stopped = await store.batches.cancelQueued(tx, queued);
    const stoppedIds = new Set(stopped.map(({ rest }) => rest.id));
    const isLocked = stopped.length < queued.length && !isLast;
    if (!row.plan && stopped.length === 0 && !isLocked) throw new NotificationEndedError('pending');
    const isLeft = states.some(
      ({ batch, state }) => !stoppedIds.has(batch) && state !== 'failed' && state !== 'cancelled',
    );
    const steps = row.steps.map((step) =>
      step.batch !== undefined && stoppedIds.has(step.batch)
        ? { ...step, stopped: true as const, status: 'cancelled' }
        : step,
    );
    const rest = { ...row, steps, plan: null };
    const ended = { status: 'cancelled', endedAt: clock.now(), dueAt: null } as const;
    await this.#notifications.update(tx, [isLeft ? { ...rest, dueAt: 0 } : { ...rest, ...ended }]);
    const changes = isLeft ? [] : [cancellationOf(row, seen)];
    await this.events.record(tx, changes);
    if (!isLocked) await also?.(tx.manager);
    return {
      isLocked,
      publish: () => {
        store.batches.publish(stopped);
        this.events.publish(changes);
      },
    };
  }
}

function refusal(denials: readonly PolicyError[]): PolicyError {
  const [first, ...others] = denials.flatMap((error) => error.denials);
  return new PolicyError([first!, ...others]);
}

function cancellationOf(
  row: StoredNotification,
  seen: ReadonlyMap<string, SeenMessage>,
): NotificationChange {
  return {
    event: NOTIFICATION_ENDED,
    change: {
      tenant: row.tenant,
      notificationId: row.id,
      ...labelsOf(row, seen),
      status: 'cancelled',
      previous: 'pending',
      deliveredBy: [],
    },
  };
}

/** What a notification tells whose first channels policy denies at the send. */
function fallbackOf(
  { id, tenant, batches }: CheckedNotification,
  denials: readonly PolicyError[],
): NotificationChange | undefined {
  const [from, to] = [batches[denials.length - 1], batches[denials.length]];
  const denial = denials.at(-1);
  if (!from || !to || !denial) return undefined;
  return {
    event: NOTIFICATION_FELL_BACK,
    change: {
      tenant,
      notificationId: id,
      reason: 'denied',
      from: from.channel,
      errorCode: denial.code,
      to: to.channel,
      messageId: `${to.id}-0`,
      ...to.labels,
    },
  };
}

/** @param seen the messages of its steps */
function viewOf(
  row: StoredNotification,
  seen: ReadonlyMap<string, SeenMessage>,
  store: Pick<NotificationStore, 'stateOfStatus'>,
): NotificationView {
  const steps = row.steps.map((step) => stepView(step, row, seen));
  const isReached = ({ status }: NotificationStep) => store.stateOfStatus(status) === 'reached';
  return {
    id: row.id,
    status: row.status,
    steps,
    deliveredBy: steps.filter(isReached).map(({ channel }) => channel),
    createdAt: new Date(row.createdAt),
    endedAt: row.endedAt === null ? null : new Date(row.endedAt),
  };
}

function stepView(
  { channel, batch, at, denied, reason, status, code }: StoredStep,
  { plan }: StoredNotification,
  seen: ReadonlyMap<string, SeenMessage>,
): NotificationStep {
  const message = batch === undefined ? undefined : seen.get(batch);
  const notBegun = plan ? 'waiting' : 'unused';
  const known = denied ? 'denied' : (message?.status ?? status ?? 'unknown');
  return {
    channel,
    status: at === undefined ? notBegun : known,
    messageId: batch === undefined ? null : `${batch}-0`,
    errorCode: message?.code ?? code ?? null,
    startedAt: at === undefined ? null : new Date(at),
    reason: reason ?? null,
  };
}
