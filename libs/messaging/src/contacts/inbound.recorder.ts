import { Logger } from '@nestjs/common';
import { isDataError } from '../store/database-errors.js';
import { GroupCommit } from '../store/group-commit.js';
import type { StoreDatabase, Transaction } from '../store/store-database.js';
import { MessageValidationError } from '../message/errors.js';
import { INBOUND_RECEIVED, type InboundReceived } from '../message/events.js';
import type { InboundMessage } from '../message/inbound-message.js';
import type { Clock } from '../ports/clock.js';
import type { EventPublisher } from '../ports/event-publisher.js';
import type { InboundListeners } from '../ports/inbound-listener.js';
import type { ConsentReader, InboundOptions } from '../ports/inbound-options.js';
import { type ContactConsent, Consents, overrules, type Standing } from './consents.js';
import { ContactStore } from './contact-store.js';
import { InboundLog } from './inbound-log.js';
import { InboundTimes } from './inbound-times.js';
import { type Incoming, incoming } from './incoming.js';
import { tenantOf } from './person.js';

/** Milliseconds an id is remembered: longer than any provider repeats a callback. */
const REMEMBERED = 30 * 86_400_000;
/** What of a text is kept as evidence of consent. */
const EVIDENCE = 255;

type Owned = Incoming & {
  readonly tenant: string;
  /** What the text says of consent. */
  readonly says: Standing['state'] | undefined;
};

export interface InboundDependencies {
  readonly clock: Clock;
  readonly events: EventPublisher;
  readonly listeners: InboundListeners;
  readonly consentOf: ConsentReader;
  readonly tenantOf: NonNullable<InboundOptions['tenant']>;
  /** Somebody is being written down. */
  readonly onWrite: () => void;
  /** After the commit; whatever it throws is its own affair. */
  readonly after: (received: InboundReceived) => Promise<void>;
}

/**
 * Takes what people wrote to us, many to a commit and each once: the writer becomes a contact, their
 * window opens, STOP and START change their consent, listeners hear of it in the same transaction and
 * everybody else after it.
 */
export class InboundRecorder {
  readonly #logger = new Logger('MessagingInbound');
  readonly #store: ContactStore;
  readonly #consents: Consents;
  readonly #times: InboundTimes;
  readonly #log: InboundLog;
  readonly #group: GroupCommit<Owned, void>;
  readonly #faults = new WeakSet<Error>();
  readonly #afterwards = new Set<Promise<void>>();

  constructor(
    private readonly database: StoreDatabase,
    private readonly needs: InboundDependencies,
  ) {
    const { dialect } = database;
    this.#store = new ContactStore(dialect, needs.clock);
    this.#consents = new Consents(dialect);
    this.#times = new InboundTimes(dialect);
    this.#log = new InboundLog(database);
    this.#group = new GroupCommit((take) => this.#flush(take), {
      maxItems: 500,
      isItemError: (error) =>
        isDataError(error) ||
        error instanceof MessageValidationError ||
        (error instanceof Error && this.#faults.has(error)),
    });
  }

  /**
   * Resolves after the commit. What nothing can be made of, and what is nobody's, is left out and logged:
   * it counts when it comes again.
   */
  async record(
    messages: readonly InboundMessage[],
    { transport }: { readonly transport: string },
  ): Promise<void> {
    const now = this.needs.clock.now();
    const all = await Promise.all(
      messages.map((message) => this.#owned(message, incoming(message, transport, now))),
    );
    const unfit = all.filter((one) => typeof one === 'string');
    if (unfit.length > 0)
      this.#logger.warn(`${unfit.length} inbound messages were left out: ${unfit[0]}`);
    await Promise.all(all.flatMap((one) => (typeof one === 'string' ? [] : [this.#take(one)])));
  }

  async idle(): Promise<void> {
    await this.#group.idle();
    await Promise.all(this.#afterwards);
  }

  /** Forgets ids that nobody repeats any more. @returns how many */
  forget(limit: number): Promise<number> {
    return this.#log.expire(this.needs.clock.now() - REMEMBERED, limit);
  }

  /** @throws MessageValidationError where the app's tenant is none */
  async #owned(given: InboundMessage, one: Incoming | string): Promise<Owned | string> {
    if (typeof one === 'string') return one;
    const tenant = given.tenant ?? (await this.needs.tenantOf(one.message));
    if (tenant === undefined) return 'nobody has the number they were written to';
    const { text } = one.message;
    const message = { ...one.message, tenant: tenantOf({ tenant }) };
    const says = text === null ? undefined : await this.needs.consentOf(text, message);
    return { ...one, tenant: message.tenant, says };
  }

  /** Where phone and bsuid belong to two contacts, the phone tells who wrote. */
  async #take(one: Owned): Promise<void> {
    const { identity } = one;
    await this.#group.add(one).catch((error: unknown) => {
      const both = identity.phone !== null && identity.bsuid !== null;
      if (!(error instanceof MessageValidationError) || !both) throw error;
      return this.#group.add({ ...one, identity: { ...identity, bsuid: null } });
    });
  }

  async #flush(take: () => readonly Owned[]): Promise<void[]> {
    const { clock, events, onWrite } = this.needs;
    const received = await this.database.transaction((tx) => this.#persist(tx, take(), clock.id()));
    onWrite();
    if (events.wants(INBOUND_RECEIVED))
      for (const one of received) events.publish(INBOUND_RECEIVED, one);
    for (const one of received) this.#afterwardsDo(one);
    return take().map(() => undefined);
  }

  async #persist(
    tx: Transaction,
    all: readonly Owned[],
    token: string,
  ): Promise<InboundReceived[]> {
    const { clock, listeners } = this.needs;
    const digests = all.map(({ digest }) => digest);
    const fresh = new Set(await this.#log.add(tx, digests, token, clock.now()));
    // Of two with one id in one group, the first.
    const taken = all.filter(({ digest }) => fresh.delete(digest));
    if (taken.length === 0) return [];
    const contacts = await this.#contacts(tx, taken);
    await this.#times.record(
      tx,
      taken.map(({ message, at }, n) => ({ contact: contacts[n]!, sender: message.to, at })),
    );
    const changed = await this.#consent(tx, taken, contacts);
    const received = taken.map(({ message, tenant, at }, n): InboundReceived => {
      const { sentAt: _, ...rest } = message;
      const consent = changed.get(n) ?? null;
      return { ...rest, tenant, contactId: contacts[n]!, sentAt: new Date(at), consent };
    });
    await this.#tell(tx, received, listeners);
    return received;
  }

  async #contacts(tx: Transaction, taken: readonly Owned[]): Promise<string[]> {
    const contacts: string[] = [];
    for (const tenant of [...new Set(taken.map((one) => one.tenant))].sort()) {
      const own = [...taken.entries()].filter(([, one]) => one.tenant === tenant);
      const ids = await this.#store.resolve(
        tx,
        tenant,
        own.map(([, { identity }]) => identity),
      );
      own.forEach(([index], n) => (contacts[index] = ids[n] as string));
    }
    return contacts;
  }

  /** Those whose word changed their consent, and to what. */
  async #consent(
    tx: Transaction,
    taken: readonly Owned[],
    contacts: readonly string[],
  ): Promise<ReadonlyMap<number, Standing['state']>> {
    const said = new Map<number, ContactConsent>();
    taken.forEach(({ message, at, says: state }, index) => {
      const { text, channel } = message;
      if (state === undefined) return;
      const evidence = (text ?? '').slice(0, EVIDENCE);
      const contact = contacts[index]!;
      said.set(index, { contact, channel, state, at, source: 'keyword', evidence });
    });
    const changed = new Map<number, Standing['state']>();
    if (said.size === 0) return changed;
    const all = [...said.values()];
    const held = await this.#consents.held(
      tx,
      all.map(({ contact }) => contact),
    );
    const now = this.needs.clock.now();
    await this.#consents.record(tx, all, now);
    for (const [index, consent] of said) {
      const key = `${consent.contact} ${consent.channel}`;
      const before = held.get(key);
      if (before && !overrules(consent, before, now)) continue;
      held.set(key, consent);
      if (before?.state !== consent.state) changed.set(index, consent.state);
    }
    return changed;
  }

  async #tell(
    { manager }: Transaction,
    received: readonly InboundReceived[],
    listeners: InboundListeners,
  ): Promise<void> {
    try {
      await this.database.guest(() => listeners.tell(received, manager));
    } catch (error) {
      const fault =
        error instanceof Error ? error : new Error('a listener failed', { cause: error });
      this.#faults.add(fault);
      throw fault;
    }
  }

  #afterwardsDo(received: InboundReceived): void {
    const done = this.needs
      .after(received)
      .catch((error: unknown) =>
        this.#logger.warn(`No reply to an inbound message: ${(error as Error).name}`),
      )
      .finally(() => this.#afterwards.delete(done));
    this.#afterwards.add(done);
  }
}
