import type { Concatenation } from '@dundun/smpp';
import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { forUpdate } from '../accounts/accounts.service.js';
import { SubmitRefused } from './command-statuses.js';
import { SmppCredential, SmppPart } from './smpp.tables.js';

/** Parts of a pair that wait for others. */
const MOST_PARTS = 2_000;

/** Bytes of a part; a header leaves 134. */
const MOST_BYTES = 255;

/** A part, and the message that it belongs to. */
export interface ReceivedPart {
  readonly systemId: string;
  readonly sender: string;
  readonly recipient: string;
  /** The receipts that it asks for. */
  readonly receipts: number;
  readonly place: Concatenation;
  readonly bytes: Buffer;
}

/** All parts of a message. */
export interface CompleteMessage {
  readonly bytes: Buffer;
  readonly messageId: string;
  /** The receipts that each part asks for, in order. */
  readonly receipts: readonly number[];
}

/**
 * Keeps the parts of long messages until they are complete: in the database, because the answer to a
 * part says that the gateway has it, and parts come over binds of several processes.
 */
@Injectable()
export class SmppParts {
  constructor(
    private readonly messaging: MessagingService,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  /**
   * Keeps a part, or passes the whole message to `accept` in the transaction that deletes its parts.
   * @returns the id of the part; of the last one what `accept` returns
   * @throws SubmitRefused where too many parts wait
   */
  add(
    part: ReceivedPart,
    accept: (message: CompleteMessage, manager: EntityManager) => Promise<string>,
  ): Promise<string> {
    const { systemId, sender, recipient, receipts, place, bytes } = part;
    if (bytes.length > MOST_BYTES) throw new SubmitRefused('ESME_RINVMSGLEN');
    const body = bytes.toString('base64');
    const of = { systemId, messageKey: keyOf(part) };
    return this.messaging.transaction(async (manager) => {
      // Parts that come at once, over several binds, take turns.
      await manager.findOne(SmppCredential, { where: { systemId }, ...forUpdate(manager) });
      let others = await manager.findBy(SmppPart, of);
      const same = others.find((other) => other.part === place.part);
      if (same && same.body !== body) {
        // The reference is used again, for a message whose predecessor was never complete.
        await manager.delete(SmppPart, of);
        others = [];
      } else if (same) return idOf(same.messageId, same.part);
      const messageId = others[0]?.messageId ?? this.clock.id();
      if (others.length + 1 < place.total) {
        if ((await manager.countBy(SmppPart, { systemId })) >= MOST_PARTS)
          throw new SubmitRefused('ESME_RMSGQFUL');
        const createdAt = new Date(this.clock.now());
        const row = { ...of, part: place.part, messageId, sender, recipient, receipts, body };
        await manager.insert(SmppPart, { ...row, createdAt });
        return idOf(messageId, place.part);
      }
      const all = [...others, { part: place.part, receipts, body }].toSorted(
        (a, b) => a.part - b.part,
      );
      await manager.delete(SmppPart, of);
      const message = {
        bytes: Buffer.concat(all.map((one) => Buffer.from(one.body, 'base64'))),
        messageId,
        // The last part has the id of the batch, and its receipts.
        receipts: all.map((one) => (one.part === place.part ? 0 : one.receipts)),
      };
      return accept(message, manager);
    });
  }

  /** Deletes the parts of a message that was refused, and returns them. */
  take(manager: EntityManager, part: ReceivedPart): Promise<SmppPart[]> {
    const of = { systemId: part.systemId, messageKey: keyOf(part) };
    return takeParts(manager, of);
  }
}

async function takeParts(
  manager: EntityManager,
  of: Pick<SmppPart, 'systemId' | 'messageKey'>,
): Promise<SmppPart[]> {
  const found = await manager.findBy(SmppPart, of);
  await manager.delete(SmppPart, of);
  return found;
}

function keyOf({ sender, recipient, place: { reference, total } }: ReceivedPart): string {
  return hash('sha256', JSON.stringify([reference, total, sender, recipient]), 'hex').slice(0, 32);
}

/** The id of a part that is not the last one to come. */
export function idOf(messageId: string, part: number): string {
  return `${messageId}-${part}`;
}
