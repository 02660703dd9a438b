import assert from 'node:assert/strict';
import type { CancellingProvider } from '../../../../libs/messaging/src/store/verbs/cancellations.js';
import type { ChannelDefinition } from '../../../../libs/messaging/src/message/channel-definition.js';
import { ChannelRegistry } from '../../../../libs/messaging/src/message/channel-registry.js';
import type { DeliveryReport } from '../../../../libs/messaging/src/message/events.js';
import { STATUSES } from '../../../../libs/messaging/src/message/status.js';
import { StatusListeners } from '../../../../libs/messaging/src/ports/listeners.js';
import { type Clock, systemClock } from '../../../../libs/messaging/src/ports/clock.js';
import type { Intent } from '../../../../libs/messaging/src/store/rows/intent.js';
import type { MessageStore } from '../../../../libs/messaging/src/store/message-store.js';
import type { NewBatch } from '../../../../libs/messaging/src/store/rows/new-batch.js';
import type { OutcomeOf, PlainOutcome } from '../../../../libs/messaging/src/store/rows/outcome.js';
import type { PlannedBatch } from '../../../../libs/messaging/src/store/rows/planned-batch.js';

export interface StoreContractSetup {
  /** A store of its own process; the caller closes its stores. */
  open(options?: StoreOptions): Promise<MessageStore>;
  /** Whether other transactions may hold locks on single rows. */
  readonly locksRows: boolean;
  /** Whether two transactions may change messages of one batch at the same time. */
  readonly writesSideBySide: boolean;
  /** Resolves once a transaction waits for a lock. */
  lockWaited(): Promise<void>;
}

export interface StoreOptions {
  /** `false`: every verb takes the slow path. @default true */
  readonly fastPaths?: boolean;
  readonly listeners?: StatusListeners;
  readonly clock?: Clock;
  /** Providers that are asked to cancel messages. @default none */
  readonly cancelling?: readonly CancellingProvider[];
}

export interface ContractRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}

export const PROVIDER = 'scripted';

const TEXTS: ChannelDefinition = {
  name: 'sms',
  addressKinds: ['phone'],
  statuses: STATUSES,
  accepted: 'sent',
  content: {},
};

/** A channel with a rank of its own for accepted messages, which retention keeps. */
const CALLS: ChannelDefinition = {
  name: 'calls',
  addressKinds: ['phone', 'email'],
  statuses: { initiated: { rank: 41, reported: true }, delivered: STATUSES.delivered },
  accepted: 'initiated',
  content: {},
  retention: 'exempt',
};

export const CONTRACT_CHANNELS = new ChannelRegistry([TEXTS, CALLS]);

/** Reads rows in a form in which two batches compare. */
const ROWS = {
  batch: `SELECT state, revision, parked_until, poll_at - completed_at AS polled_after FROM messaging_batch WHERE id = ?`,
  submission: `SELECT n, first_position, last_position, attempt, provider, outcome, reference, error_code, details
    FROM messaging_submission WHERE batch = ? ORDER BY n`,
  message: `SELECT position, submission, status, attempt, sequence, recipient, reference, error_code
    FROM messaging_message WHERE batch = ? ORDER BY position`,
  report: `SELECT CASE WHEN hash IS NULL THEN 0 ELSE 1 END AS hashed, tenant, position, provider, reference, message_id,
      recipient, status, raw_status, error_code, sequence
    FROM messaging_report WHERE batch = ? ORDER BY position, sequence, raw_status, status`,
} as const;

/** Setup and test functions of the parts of the contract. */
export interface StoreContract {
  readonly setup: StoreContractSetup;
  readonly describe: ContractRunner['describe'];
  readonly test: (name: string, prove: (bench: StoreBench) => Promise<void>) => unknown;
}

export interface Started extends Pick<
  PlainOutcome,
  'batch' | 'n' | 'firstPosition' | 'lastPosition'
> {
  readonly fence: number;
  readonly intended: PlainOutcome['intended'];
}

/** Calls stores as a drain does, in a lane and tenant of its own. */
export class StoreBench {
  static #count = 0;
  readonly scope;
  readonly lane;
  readonly #stores: MessageStore[] = [];
  readonly #fences = new Map<MessageStore, number>();
  #batches = 0;

  constructor(private readonly setup: StoreContractSetup) {
    const tenant = `t${Date.now().toString(36)}-${StoreBench.#count++}`;
    this.scope = { tenant, channel: 'sms' } as const;
    this.lane = `${tenant}:sms`;
  }

  to(position: number): string {
    return String(2_348_010_000_000 + position);
  }

  async open(options: StoreOptions = {}): Promise<MessageStore> {
    const store = await this.setup.open(options);
    this.#stores.push(store);
    return store;
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store.close();
  }

  async enqueue(
    store: MessageStore,
    recipients = 1,
    changes: Partial<NewBatch> = {},
  ): Promise<string> {
    const { id } = await store.newBatches.enqueue(this.batch(recipients, changes));
    return id;
  }

  batch(recipients: number, changes: Partial<NewBatch> = {}): NewBatch {
    return {
      id: systemClock.id(),
      tenant: this.scope.tenant,
      channel: 'sms',
      lane: this.lane,
      class: 'normal',
      sender: 'ACME',
      content: { kind: 'text', text: 'Hello' },
      deliveryReport: true,
      parts: 1,
      recipients: Array.from({ length: recipients }, (_, n) => this.to(n)),
      denied: [],
      createdAt: Date.now() + this.#batches++,
      sendAt: null,
      validFor: null,
      idempotencyKey: null,
      fingerprint: null,
      ...changes,
    };
  }

  /** The steps of a drain up to the start of requests; `meanwhile` runs between plan and intent. */
  async intend(
    store: MessageStore,
    share = 1,
    limit = 100,
    meanwhile?: () => Promise<unknown>,
  ): Promise<Started[]> {
    const fence = await this.#fence(store);
    const planned = await store.work.plan(this.lane, limit);
    await meanwhile?.();
    const live = await store.intents.record(intentOf(planned, this.lane, fence, share));
    return startedOf(planned, fence, share).filter(({ batch }) => live.has(batch));
  }

  /** A batch in one submission, accepted by the provider. */
  async accepted(
    store: MessageStore,
    recipients: number,
    changes: Partial<NewBatch> = {},
  ): Promise<string> {
    const id = await this.enqueue(store, recipients, changes);
    for (const started of await this.intend(store, recipients))
      await store.outcomes.record(accepted(started, recipients === 1));
    return id;
  }

  report(store: MessageStore, ...reports: Partial<DeliveryReport>[]): Promise<void> {
    return store.reports.record(reports.map(reportOf), { provider: PROVIDER });
  }

  async expectBatch(
    store: MessageStore,
    id: string,
    status: string,
    counts: Record<string, number>,
  ): Promise<void> {
    const batch = await store.reads.batch(id, this.scope);
    assert.deepEqual({ status: batch.status, counts: batch.counts }, { status, counts });
  }

  async loggedStatuses(store: MessageStore, id: string): Promise<unknown[]> {
    const { data } = await store.reads.reports(this.scope, { batchIds: [id], limit: 100 });
    return data.map(({ status, sequence }) => [status, sequence]);
  }

  async rows(store: MessageStore, id: string): Promise<unknown> {
    const tables = Object.entries(ROWS).map(async ([table, sql]) => {
      const rows = await store.database.all<Record<string, unknown>>(sql, [id]);
      return [
        table,
        rows.map((row) =>
          Object.fromEntries(
            Object.entries(row).map(([name, value]) => [
              name,
              String(value).replaceAll(id, 'batch'),
            ]),
          ),
        ),
      ];
    });
    return Object.fromEntries(await Promise.all(tables));
  }

  takeOver(store: MessageStore): Promise<unknown> {
    return this.#fence(store);
  }

  /** Batch and chunks of a new batch, without values that differ from run to run. */
  async enqueuedRows(store: MessageStore, id: string, at: number) {
    const [batch] = await store.database.all<Record<string, unknown>>(
      `SELECT tenant, lane, priority, sender, content, delivery_report, parts, recipient_count, created_at, send_at,
         available_at, valid_until, state, fingerprint FROM messaging_batch WHERE id = ?`,
      [id],
    );
    const chunks = await store.database.all<{ recipients: string }>(
      'SELECT recipients FROM messaging_batch_chunk WHERE batch = ? ORDER BY n',
      [id],
    );
    const number = (value: unknown) => (value === null ? null : Number(value));
    return {
      ...batch,
      created_at: number(batch?.['created_at']),
      send_at: number(batch?.['send_at']),
      available_at: Number(batch?.['available_at']) > (at + 3_000_000) * 1_000,
      valid_until: batch?.['valid_until'] !== null,
      recipients: chunks.map(({ recipients }) => recipients),
    };
  }

  /** The lane's fence, read by taking the lane over with another process. */
  async #fence(store: MessageStore): Promise<number> {
    for (const [holder, fence] of this.#fences)
      if (holder !== store) {
        await holder.lanes.release(this.lane, fence, null, true);
        this.#fences.delete(holder);
      }
    const known = this.#fences.get(store);
    if (known !== undefined) return known;
    const lease = await store.lanes.acquire(this.lane);
    assert(lease);
    this.#fences.set(store, lease.fence);
    return lease.fence;
  }
}

function* submissionsOf(planned: readonly PlannedBatch[], share: number) {
  for (const batch of planned)
    for (let from = 0; from < batch.recipients.length; from += share)
      yield {
        batch,
        n: batch.nextSubmission + from / share,
        recipients: batch.recipients.slice(from, from + share),
      };
}

function intentOf(
  planned: readonly PlannedBatch[],
  lane: string,
  fence: number,
  share: number,
): Intent {
  return {
    lane,
    fence,
    firstSentAt: Date.now(),
    batches: planned.map(({ id, revision, more, moreRequeued }) => ({
      id,
      revision,
      pending: more,
      requeued: moreRequeued,
      deferUntil: null,
    })),
    submissions: [...submissionsOf(planned, share)].map(({ batch, n, recipients }) => ({
      batch: batch.id,
      n,
      firstPosition: recipients[0]?.position as number,
      lastPosition: recipients.at(-1)?.position as number,
      members: null,
      attempt: 1,
      content: null,
      provider: PROVIDER,
      reason: null,
      recipients,
    })),
    deferred: [],
  };
}

function startedOf(planned: readonly PlannedBatch[], fence: number, share: number): Started[] {
  return [...submissionsOf(planned, share)].map(({ batch, n, recipients }) => ({
    batch: batch.id,
    n,
    fence,
    firstPosition: recipients[0]?.position as number,
    lastPosition: recipients.at(-1)?.position as number,
    intended: {
      positions: recipients.map(({ position }) => position),
      guarded: false,
      whole: n === 0 && !batch.more && recipients.length === batch.recipients.length,
      submission: {
        tenant: batch.tenant,
        channel: batch.channel,
        sender: batch.sender,
        recipients: recipients.map(({ recipient }) => recipient),
        deliveryReport: true,
        attempt: 1,
      },
    },
  }));
}

export function headOf({ batch, n, fence, firstPosition, lastPosition }: Started) {
  return { batch, n, fence, firstPosition, lastPosition, provider: PROVIDER };
}

/** @param named whether the answer has an id for the first message */
export function accepted(started: Started, named = true): PlainOutcome {
  const { batch, n, firstPosition, intended } = started;
  return {
    ...headOf(started),
    result: 'accepted',
    reference: `ref-${batch}-s${n}`,
    ...(named && {
      messageIds: new Map([[firstPosition, `id-${batch}-s${n}-${firstPosition}`]]),
    }),
    intended,
  };
}

/** A definite refusal that leaves further attempts. */
export function refused(
  started: Started,
  changes: Partial<OutcomeOf<'refused'>> = {},
): OutcomeOf<'refused'> {
  return {
    ...headOf(started),
    result: 'refused',
    errorCode: 'busy',
    countedFailures: 0,
    exhausted: false,
    deferFor: 0,
    deferred: false,
    ...changes,
  };
}

export function reportOf(changes: Partial<DeliveryReport>): DeliveryReport {
  return {
    reference: null,
    messageId: null,
    recipient: null,
    status: 'delivered',
    rawStatus: 'DELIVRD',
    errorCode: null,
    providerTime: new Date('2026-01-01T00:00:00Z'),
    ...changes,
  };
}
