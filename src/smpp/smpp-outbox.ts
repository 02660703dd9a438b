import {
  type CancelledBatch,
  type Clock,
  type ErasedAddress,
  type ErasureListener,
  type InboundListener,
  type InboundReceived,
  MESSAGING_CLOCK,
  MessagingService,
  type MessageStatusChanged,
  type StatusListener,
} from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { type EntityManager, In, IsNull } from 'typeorm';
import { type EndingChange, isOverSmpp, receiptsFor } from './smpp-receipts.js';
import { type NewDelivery, SmppCredential, SmppDelivery, SmppPart } from './smpp.tables.js';

/** Rows per insert. */
const MAX_ROWS = 500;

/** Widths of the columns, and of an address in SMPP. */
const MAX_MESSAGE_ID = 64;
const MAX_ADDRESS = 20;

const CANCELLATION = { previous: 'queued', status: 'cancelled', errorCode: null } as const;

/** As of callbacks. */
const MAX_TEXT = 4_096;

/**
 * Writes receipts and inbound messages for binds in the transaction of their event, also in processes
 * without binds, and erases people from them.
 */
@Injectable()
export class SmppOutbox implements StatusListener, InboundListener, ErasureListener {
  constructor(
    private readonly messaging: MessagingService,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  async onStatusChanged(
    changes: readonly MessageStatusChanged[],
    manager: EntityManager,
  ): Promise<void> {
    await this.#writeReceipts(changes, manager);
  }

  /** A submit has one message. */
  async onCancelled(batches: readonly CancelledBatch[], manager: EntityManager): Promise<void> {
    const changes = batches.flatMap(({ recipient, cancelledAt, ...batch }) =>
      recipient === null
        ? []
        : [{ ...batch, ...CANCELLATION, recipient, providerTime: cancelledAt }],
    );
    await this.#writeReceipts(changes, manager);
  }

  async #writeReceipts(changes: readonly EndingChange[], manager: EntityManager): Promise<void> {
    const found = changes.flatMap((change) =>
      receiptsFor(change).map((receipt) => ({ receipt, tenant: change.tenant })),
    );
    if (found.length === 0) return;
    // A pair may be removed by now, and metadata of a send over HTTP may name any pair.
    const systemIds = [...new Set(found.map(({ receipt }) => receipt.systemId))];
    const known = await manager.findBy(SmppCredential, { systemId: In(systemIds) });
    const owners = new Map(known.map(({ systemId, accountId }) => [systemId, accountId]));
    await this.write(
      manager,
      found.flatMap(({ receipt, tenant }) =>
        owners.get(receipt.systemId) === tenant ? [receipt] : [],
      ),
    );
  }

  /** Inbound SMS go to the oldest pair of the account. */
  async onInbound(received: readonly InboundReceived[], manager: EntityManager): Promise<void> {
    for (const { tenant, messageId, from, to, text, sentAt } of received.filter(isOverSmpp)) {
      if (from === null || text === null) continue;
      const [pair] = await manager.find(SmppCredential, {
        where: { accountId: tenant },
        order: { createdAt: 'ASC', systemId: 'ASC' },
        take: 1,
      });
      if (!pair) continue;
      const { systemId } = pair;
      const times = { submittedAt: sentAt, doneAt: sentAt };
      const ids = { systemId, messageId: messageId.slice(0, MAX_MESSAGE_ID) };
      const addresses = {
        source: from.slice(0, MAX_ADDRESS),
        destination: to.slice(0, MAX_ADDRESS),
      };
      // PostgreSQL takes no NUL.
      const written = text.slice(0, MAX_TEXT).replaceAll('\0', '');
      const message = { ...ids, ...times, ...addresses, state: null, text: written };
      await this.write(manager, [message]);
    }
  }

  /** Due at once. @param manager the transaction of the event */
  async write(manager: EntityManager, deliveries: readonly NewDelivery[]): Promise<void> {
    const createdAt = new Date(this.clock.now());
    const rows = deliveries.map((delivery) => ({ ...delivery, createdAt }));
    for (let from = 0; from < rows.length; from += MAX_ROWS)
      await manager
        .createQueryBuilder()
        .insert()
        .into(SmppDelivery)
        .values(rows.slice(from, from + MAX_ROWS))
        .updateEntity(false)
        .execute();
  }

  /** Receipts leave without the number. */
  async onErased({ tenant, address }: ErasedAddress, given?: EntityManager): Promise<void> {
    if (address.kind !== 'phone') return;
    const { value } = address;
    const erase = async (manager: EntityManager): Promise<void> => {
      const pairs = await manager.findBy(SmppCredential, { accountId: tenant });
      if (pairs.length === 0) return;
      const of = { systemId: In(pairs.map(({ systemId }) => systemId)) };
      await manager.delete(SmppPart, { ...of, recipient: value });
      await manager.delete(SmppDelivery, { ...of, source: value, state: IsNull() });
      await manager.update(SmppDelivery, { ...of, source: value }, { source: '' });
    };
    await (given ? erase(given) : this.messaging.transaction(erase));
  }
}
