import type { DeliveryReceipt } from '@dundun/smpp';
import { keepNewest } from '../../message/keep-newest.js';
import { addressIdentity } from '../../message/phone-identity.js';

/** A message whose receipts need more than the id in them to be understood. */
export interface SentMessage {
  readonly submissionId: string;
  readonly sender: string;
  readonly recipient: string;
  /** The number of the message in its PDUs; receipts of some SMSCs repeat it. */
  readonly userReference: number;
  readonly parts: number;
  /** Canonical ids of the parts that the SMSC accepted. */
  readonly ids: string[];
  readonly deliveredIds: Set<string>;
  /** Milliseconds. */
  readonly startedAt: number;
  /** When the answers were given up; `undefined` where none is missing. */
  doubtSince: number | undefined;
}

/** Longest reference that is stored. */
const LONGEST_REFERENCE = 255;

/**
 * The reference of a message: the ids of all of its parts, so that another process knows them. Where
 * they are too long together, the last part stands for all.
 */
export function referenceOfParts(ids: readonly string[]): string {
  const all = ids.join(' ');
  return all.length <= LONGEST_REFERENCE ? all : (ids.at(-1) as string);
}

export function partsOf(reference: string): readonly string[] {
  return reference.split(' ');
}

/** Most messages and ids that are remembered; the oldest are forgotten. */
const MOST = 50_000;
/** How long a message is remembered, in milliseconds. */
const MEMORY = 3 * 86_400_000;
/** How exact the dates of receipts are: they may lack the seconds. */
const EXACTNESS = 61_000;

/**
 * The messages that this process remembers: the ids of the parts of long messages, and which
 * messages have no answer. Another process finds the parts in the reference, when it polls the
 * message; a short message without an answer it finds in the store, by what the receipt says of it.
 */
export class SentMessages {
  readonly #byId = new Map<string, SentMessage>();
  readonly #doubts = new Map<string, Set<SentMessage>>();
  #doubtCount = 0;

  /** The SMSC answered a part with this id. */
  accepted(message: SentMessage, id: string): void {
    message.ids.push(id);
    this.#byId.delete(id);
    this.#byId.set(id, message);
    keepNewest(this.#byId, MOST);
  }

  /** Whether the id is one of this process. */
  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** An answer is missing. */
  doubt(message: SentMessage, now: number): void {
    message.doubtSince = now;
    const key = keyOf(message);
    const same = this.#doubts.get(key);
    if (same) same.add(message);
    else this.#doubts.set(key, new Set([message]));
    if (++this.#doubtCount > MOST) {
      const [oldest] = this.#doubts.values().next().value as Set<SentMessage>;
      if (oldest) this.#settle(oldest);
    }
  }

  /**
   * The message of a receipt: by its id; else one in doubt with the same sender and recipient, by its
   * own number, or where no other is in doubt and it was submitted at that time.
   */
  of(id: string, receipt: DeliveryReceipt, from: string, to: string, now: number) {
    const known = this.#byId.get(id);
    if (known) return known;
    const doubts = [...(this.#doubts.get(keyOf({ sender: to, recipient: from })) ?? [])].filter(
      (message) => this.#isRemembered(message, now),
    );
    const { userMessageReference, submitDate } = receipt;
    const named = doubts.filter(({ userReference }) => userReference === userMessageReference);
    const [found, ...others] = userMessageReference === undefined ? doubts : named;
    if (!found || others.length > 0) return undefined;
    if (userMessageReference === undefined && !isWithin(found, submitDate)) return undefined;
    this.accepted(found, id);
    return found;
  }

  /** Forgets a message of which no receipt or answer is expected any more. */
  end(message: SentMessage): void {
    this.#settle(message);
    for (const id of message.ids) this.#byId.delete(id);
  }

  #settle(message: SentMessage): void {
    const key = keyOf(message);
    const same = this.#doubts.get(key);
    if (!same?.delete(message)) return;
    this.#doubtCount--;
    if (same.size === 0) this.#doubts.delete(key);
  }

  #isRemembered(message: SentMessage, now: number): boolean {
    if (now - message.startedAt <= MEMORY) return true;
    this.#settle(message);
    return false;
  }
}

function keyOf({ sender, recipient }: Pick<SentMessage, 'sender' | 'recipient'>): string {
  return `${sender} ${addressIdentity(recipient)}`;
}

function isWithin({ startedAt, doubtSince }: SentMessage, submitted: Date | undefined): boolean {
  if (submitted === undefined || doubtSince === undefined) return false;
  const time = submitted.getTime();
  return time >= startedAt - EXACTNESS && time <= doubtSince + EXACTNESS;
}
