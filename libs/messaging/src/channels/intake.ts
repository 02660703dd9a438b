import { Inject, Injectable } from '@nestjs/common';
import type { AcceptedBatch } from '../store/accepted-batch.js';
import { MessageStore } from '../store/message-store.js';
import type { Transaction } from '../store/store-database.js';
import type { NewBatch } from '../store/new-batch.js';
import { retryWhileUnavailable } from '../store/unavailable-retry.js';
import type { MessageContent } from '../message/message.js';
import { PolicyError } from '../policy/policy-error.js';
import { PolicyPipeline } from '../policy/policy-pipeline.js';
import { LANE_WAKER, type LaneWaker } from '../ports/lane-waker.js';
import { admit } from './admission.js';
import type { Receipt } from './receipt.js';

/** Where the checked batches of every channel come in: policy, then the store, then the lane is woken. */
@Injectable()
export class Intake {
  constructor(
    @Inject(MessageStore) private readonly store: MessageStore,
    @Inject(LANE_WAKER) private readonly waker: LaneWaker,
    @Inject(PolicyPipeline) private readonly policy: PolicyPipeline,
  ) {}

  /**
   * Resolves once the batch is durable, or part of the caller's transaction `tx`.
   * @param content what `wanted.content` is the JSON of
   * @throws PolicyError where policy denies every recipient; nothing was stored
   * @throws IdempotencyKeyReusedError
   * @throws IdempotencyKeyInUseError
   */
  take(wanted: NewBatch, content: MessageContent, tx?: Transaction): Promise<Receipt> {
    return !tx && this.policy.isSilent(wanted.channel)
      ? this.#store(wanted)
      : this.#judge(wanted, content, tx);
  }

  async #judge(wanted: NewBatch, content: MessageContent, tx?: Transaction): Promise<Receipt> {
    const batch = this.policy.isSilent(wanted.channel)
      ? wanted
      : await admit(this.policy, wanted, content, tx);
    if (batch instanceof PolicyError) {
      const first = await this.replayOf(wanted, tx);
      if (first) return first;
      throw batch;
    }
    return tx ? this.#within(tx, batch) : this.#store(batch);
  }

  async #store(batch: NewBatch): Promise<Receipt> {
    const accepted = await this.store.acceptance.accept(batch);
    if (!accepted.replayed) this.waker.wake(batch.lane, dueOf(batch));
    return receiptOf(accepted);
  }

  /**
   * What was answered to the first batch with this one's idempotency key.
   * @throws IdempotencyKeyReusedError where that was another message
   */
  async replayOf(batch: NewBatch, tx?: Transaction): Promise<Receipt | undefined> {
    const { acceptance, database } = this.store;
    const first = await (tx
      ? acceptance.replayOf(batch, tx)
      : retryWhileUnavailable(() => acceptance.replayOf(batch, database)));
    return first && receiptOf(first);
  }

  async #within(tx: Transaction, batch: NewBatch): Promise<Receipt> {
    const due = dueOf(batch);
    const { afterCommit, acceptance } = this.store;
    const accepted = await acceptance.acceptWithin(tx, batch);
    const runner = tx.manager.queryRunner!;
    afterCommit.on(runner, `${batch.lane} ${due ?? ''}`, () => this.waker.wake(batch.lane, due));
    if (accepted.changes.length > 0)
      afterCommit.on(runner, accepted.id, () => acceptance.tell(accepted));
    return receiptOf(accepted);
  }
}

/** `undefined`: at once. */
function dueOf({ sendAt, createdAt }: NewBatch): number | undefined {
  return sendAt !== null && sendAt > createdAt ? sendAt : undefined;
}

function receiptOf({ id, recipients, createdAt, replayed }: AcceptedBatch): Receipt {
  return { id, recipients, createdAt: new Date(createdAt), replayed };
}
