import { keepNewest } from '../../message/keep-newest.js';
import { createHash } from 'node:crypto';
import {
  type BoundSession,
  decodeText,
  MessageAssembler,
  messageOf,
  type PduOf,
} from '@dundun/smpp';
import { v7 } from 'uuid';
import type { Clock } from '../../ports/clock.js';
import type { InboundSink } from '../../ports/message-transport.js';

/** Time in which a message that comes again is the same, in milliseconds. */
const REPETITION = 600_000;
const MOST = 1_000;

interface Received {
  readonly id: string;
  readonly at: number;
  readonly session: BoundSession;
  isStored: boolean;
}

/**
 * Inbound messages. SMPP gives them no id: one that comes again, because it was refused or its
 * connection ended, has the id of the first time; else equal texts are two messages.
 */
export class SmppInbound {
  readonly #assembler: MessageAssembler;
  readonly #received = new Map<string, Received>();
  /** Long messages whose last part was refused. */
  readonly #unstored = new Map<string, Buffer>();

  constructor(private readonly clock: Clock) {
    this.#assembler = new MessageAssembler({ now: () => clock.now() });
  }

  /**
   * Stores the message once all of its parts are there; parts are held in memory.
   * @throws the error of the sink; the SMSC then sends the PDU again
   */
  async receive(
    pdu: PduOf<'deliver_sm' | 'data_sm'>,
    session: BoundSession,
    sink: InboundSink,
  ): Promise<void> {
    const { source, destination, dataCoding } = pdu;
    const { bytes, concatenation } = messageOf(pdu);
    const between = `${source.address} ${destination.address}`;
    const place = concatenation && `${between} ${concatenation.reference} ${concatenation.total}`;
    // The last part of a message that could not be stored came again: the others are here.
    const whole =
      (place && this.#unstored.get(place)) ||
      (concatenation ? this.#assembler.add(between, concatenation, bytes) : bytes);
    if (!whole) return;
    if (place) keep(this.#unstored, place, whole);
    const digest = createHash('sha256').update(`${between} ${dataCoding} `).update(whole);
    const received = this.#identify(digest.digest('base64url'), session);
    const message = {
      messageId: received.id,
      channel: 'sms',
      from: source.address.replace(/^\+/, ''),
      bsuid: null,
      to: destination.address.replace(/^\+/, ''),
      text: decodeText(whole, dataCoding) ?? null,
      sentAt: null,
    };
    await sink([message]);
    received.isStored = true;
    if (place) this.#unstored.delete(place);
  }

  #identify(digest: string, session: BoundSession): Received {
    const now = this.clock.now();
    const before = this.#received.get(digest);
    const isSame = before && now - before.at < REPETITION && isRepeated(before);
    const received = { id: isSame ? before.id : v7(), at: now, session, isStored: false };
    keep(this.#received, digest, received);
    return received;
  }
}

/** As the newest of at most `MOST`. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  keepNewest(map, MOST);
}

/** The SMSC may not have the answer of the first time. */
function isRepeated({ isStored, session }: Received): boolean {
  return !isStored || session.isClosed;
}
