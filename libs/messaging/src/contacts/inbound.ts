import { Logger } from '@nestjs/common';
import { addressKey, addressOf, readAddress } from '../message/address.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import { MessageValidationError } from '../message/errors.js';
import { INBOUND_RECEIVED, type InboundReceived } from '../message/events.js';
import type { InboundMessage } from '../message/inbound-message.js';
import { identifier, plausible, recipientNumber } from '../message/report-fields.js';
import type { Clock } from '../ports/clock.js';
import type { EventPublisher } from '../ports/event-publisher.js';
import type { InboundListeners } from '../ports/listeners.js';
import type { ConsentReader, InboundOptions } from '../ports/messaging-options.js';
import { isDataError } from '../store/database/database-errors.js';
import type { Columns, Dialect } from '../store/database/dialect.js';
import { GroupCommit } from '../store/database/group-commit.js';
import { digestId } from '../store/rows/digest-id.js';
import type { Sql, StoreDatabase, Transaction } from '../store/database/store-database.js';
import { consentKey, type ContactConsent, overrules, type Standing } from './consent.js';
import { EVERY, type Identity, tenantOf } from './contact-input.js';
import { ContactStore } from './contact-store.js';

/** Retention of message ids in ms; longer than any provider repeats a callback. */
const REMEMBERED = 30 * 86_400_000;
/** Characters of a text that are stored as evidence of consent. */
const MAX_EVIDENCE = 255;
const MAX_TEXT = 65_536;

/** An inbound message with checked fields. */
interface Incoming {
  readonly message: InboundMessage;
  /** Digest that identifies this message. */
  readonly digest: string;
  readonly identity: Identity;
  /** Epoch milliseconds, never in the future. */
  readonly at: number;
}

interface TenantIncoming extends Incoming {
  readonly tenant: string;
  /** Consent that the text expresses. */
  readonly consent: Standing['state'] | undefined;
}

export interface InboundDependencies {
  readonly registry: ChannelRegistry;
  readonly clock: Clock;
  readonly events: EventPublisher;
  readonly listeners: InboundListeners;
  readonly consentOf: ConsentReader;
  readonly tenantOf: NonNullable<InboundOptions['tenant']>;
  /** Called after a contact was written. */
  readonly onWrite: () => void;
  /** Runs after the commit; errors are logged. */
  readonly after: (received: InboundReceived) => Promise<void>;
}

/**
 * Records inbound messages, many per commit and each once. One transaction makes the sender a
 * contact, opens its window, applies STOP and START and runs the listeners. Events follow the
 * commit.
 */
export class InboundRecorder {
  readonly #logger = new Logger('MessagingInbound');
  readonly #store: ContactStore;
  readonly #log: InboundLog;
  readonly #group: GroupCommit<TenantIncoming, void>;
  readonly #listenerErrors = new WeakSet<Error>();
  readonly #afterwards = new Set<Promise<void>>();

  constructor(
    private readonly database: StoreDatabase,
    private readonly needs: InboundDependencies,
  ) {
    this.#store = new ContactStore(database.dialect, needs.clock);
    this.#log = new InboundLog(database);
    this.#group = new GroupCommit((take) => this.#flush(take), {
      maxItems: 500,
      isItemError: (error) =>
        isDataError(error) ||
        error instanceof MessageValidationError ||
        (error instanceof Error && this.#listenerErrors.has(error)),
    });
  }

  /**
   * Resolves after the commit. A message without a required field, or to a number of no tenant, is
   * skipped and logged; a later delivery of it is processed.
   */
  async record(
    messages: readonly InboundMessage[],
    { transport }: { readonly transport: string },
  ): Promise<void> {
    const { registry, clock } = this.needs;
    const now = clock.now();
    const all = await Promise.all(
      messages.map((message) => this.#assign(message, checked(message, transport, registry, now))),
    );
    const refused = all.filter((one) => typeof one === 'string');
    if (refused.length > 0)
      this.#logger.warn(`${refused.length} inbound messages were left out: ${refused[0]}`);
    await Promise.all(
      all.flatMap((one) => (typeof one === 'string' ? [] : [this.#group.add(one)])),
    );
  }

  async idle(): Promise<void> {
    await this.#group.idle();
    await Promise.all(this.#afterwards);
  }

  /** Deletes ids past their retention. @returns the number of deleted ids */
  forget(limit: number): Promise<number> {
    return this.#log.expire(this.needs.clock.now() - REMEMBERED, limit);
  }

  /**
   * @throws MessageValidationError where the tenant of the `inbound.tenant` option has no valid
   *   form
   */
  async #assign(given: InboundMessage, one: Incoming | string): Promise<TenantIncoming | string> {
    if (typeof one === 'string') return one;
    const tenant = given.tenant ?? (await this.needs.tenantOf(one.message));
    if (tenant === undefined) return 'no tenant has the number they were written to';
    const { text } = one.message;
    const message = { ...one.message, tenant: tenantOf({ tenant }) };
    const consent = text === null ? undefined : await this.needs.consentOf(text, message);
    return { ...one, tenant: message.tenant, consent };
  }

  async #flush(take: () => readonly TenantIncoming[]): Promise<void[]> {
    const { clock, events, onWrite } = this.needs;
    const received = await this.database.transaction((tx) => this.#persist(tx, take(), clock.id()));
    onWrite();
    if (events.wants(INBOUND_RECEIVED))
      for (const one of received) events.publish(INBOUND_RECEIVED, one);
    for (const one of received) this.#runAfter(one);
    return take().map(() => undefined);
  }

  async #persist(
    tx: Transaction,
    all: readonly TenantIncoming[],
    token: string,
  ): Promise<InboundReceived[]> {
    const { clock, listeners } = this.needs;
    const digests = all.map(({ digest }) => digest);
    const fresh = new Set(await this.#log.add(tx, digests, token, clock.now()));
    // Of two messages with one id in one group, the first is taken.
    const taken = all.filter(({ digest }) => fresh.delete(digest));
    if (taken.length === 0) return [];
    const contacts = await this.#contacts(tx, taken);
    await this.#store.inbound.record(
      tx,
      taken.map(({ message, at }, n) => ({ contact: contacts[n]!, sender: message.to, at })),
    );
    const changed = await this.#changeConsent(tx, taken, contacts);
    const received = taken.map(({ message, tenant, at }, n): InboundReceived => {
      const { sentAt: _, ...rest } = message;
      const consent = changed.get(n) ?? null;
      return { ...rest, tenant, contactId: contacts[n]!, sentAt: new Date(at), consent };
    });
    await this.#callListeners(tx, received, listeners);
    return received;
  }

  async #contacts(tx: Transaction, taken: readonly TenantIncoming[]): Promise<string[]> {
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

  /** @returns the changed consent by the position of its message */
  async #changeConsent(
    tx: Transaction,
    taken: readonly TenantIncoming[],
    contacts: readonly string[],
  ): Promise<ReadonlyMap<number, Standing['state']>> {
    const given = new Map<number, ContactConsent>();
    taken.forEach(({ message: { channel, text }, at, consent: state }, index) => {
      if (state === undefined) return;
      const evidence = (text ?? '').slice(0, MAX_EVIDENCE);
      const contact = contacts[index]!;
      const scope = { channel, category: EVERY };
      given.set(index, { contact, ...scope, state, at, source: 'keyword', evidence });
    });
    const changed = new Map<number, Standing['state']>();
    if (given.size === 0) return changed;
    const all = [...given.values()];
    const { consents } = this.#store;
    const present = await consents.present(
      tx,
      all.map(({ contact }) => contact),
    );
    const now = this.needs.clock.now();
    await consents.record(tx, all, now);
    for (const [index, consent] of given) {
      const key = `${consent.contact} ${consentKey(consent)}`;
      const before = present.get(key);
      if (before && !overrules(consent, before, now)) continue;
      present.set(key, consent);
      if (before?.state !== consent.state) changed.set(index, consent.state);
    }
    return changed;
  }

  async #callListeners(
    { manager }: Transaction,
    received: readonly InboundReceived[],
    listeners: InboundListeners,
  ): Promise<void> {
    try {
      await this.database.runForeign(() => listeners.notify(received, manager));
    } catch (error) {
      const failure =
        error instanceof Error ? error : new Error('a listener failed', { cause: error });
      this.#listenerErrors.add(failure);
      throw failure;
    }
  }

  #runAfter(received: InboundReceived): void {
    const done = this.needs
      .after(received)
      .catch((error: unknown) =>
        this.#logger.warn(`No reply to an inbound message: ${(error as Error).name}`),
      )
      .finally(() => this.#afterwards.delete(done));
    this.#afterwards.add(done);
  }
}

/** @returns one line with the reason where the message is invalid (no content, no address) */
function checked(
  given: InboundMessage,
  transport: string,
  registry: ChannelRegistry,
  now: number,
): Incoming | string {
  const messageId = identifier(given.messageId);
  if (messageId === null) return 'no message id';
  const to = recipientNumber(given.to) ?? identifier(given.to);
  if (to === null) return 'no number it was written to';
  const channel = registry.find(given.channel);
  const from = readAddress(
    isNumber(given.from) ? String(given.from) : given.from,
    channel?.addressKinds,
  );
  const bsuid = addressOf('platform', given.bsuid);
  const addresses = [from, bsuid].flatMap((address) => (address ? [addressKey(address)] : []));
  if (addresses.length === 0) return 'no address it was written from';
  if (!channel) return 'no channel of this app';
  const sentAt = given.sentAt instanceof Date ? plausible(given.sentAt, now) : null;
  const message: InboundMessage = {
    messageId,
    channel: given.channel,
    from: from?.value ?? null,
    bsuid: bsuid?.value ?? null,
    to,
    text: textOf(given.text),
    sentAt,
  };
  return {
    message,
    digest: digestId(transport, given.channel, messageId),
    identity: { addresses: [...new Set(addresses)], name: undefined },
    at: Math.min(sentAt?.getTime() ?? now, now),
  };
}

/** Some providers write phone numbers as JSON numbers. */
function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function textOf(text: unknown): string | null {
  return typeof text === 'string' ? text.slice(0, MAX_TEXT).replace(/[\0\p{Cs}]/gu, '') : null;
}

const INBOUND = { v_id: 'uuid', v_token: 'uuid', v_at: 'bigint' } as const satisfies Columns;

/** Digests of the ids of recorded inbound messages; nothing else of them is stored. */
class InboundLog {
  readonly #sql: ReturnType<typeof statementsFor>;

  constructor(private readonly database: StoreDatabase) {
    this.#sql = statementsFor(database.dialect);
  }

  /**
   * Records digests.
   * @param token unique to this transaction
   * @returns the digests that are new
   */
  async add(
    tx: Sql,
    digests: readonly string[],
    token: string,
    now: number,
  ): Promise<ReadonlySet<string>> {
    const { rows, insert, ids, select } = this.#sql;
    const sorted = [...new Set(digests)].sort();
    await tx.run(insert, rows.bind(sorted.map((id) => [id, token, now * 1_000])));
    const fresh = await tx.all<{ id: string }>(select, [
      ...ids.bind(sorted.map((id) => [id])),
      token,
    ]);
    return new Set(fresh.map(({ id }) => id));
  }

  /**
   * Deletes at most `limit` digests older than `oldest`, in epoch milliseconds. @returns the number
   * of deleted digests
   */
  expire(oldest: number, limit: number): Promise<number> {
    const { old, ids, remove } = this.#sql;
    return this.database.transaction(async (tx) => {
      const rows = await tx.all<{ id: string }>(old, [oldest * 1_000, limit]);
      if (rows.length > 0) await tx.run(remove, ids.bind(rows.map(({ id }) => [id])));
      return rows.length;
    });
  }
}

function statementsFor(dialect: Dialect) {
  const rows = dialect.rows(INBOUND);
  const ids = dialect.rows({ v_id: 'uuid' });
  return {
    rows,
    ids,
    insert: `INSERT INTO messaging_inbound_message (id, token, received_at)
      SELECT v_id, v_token, v_at FROM ${rows.sql} WHERE 1 = 1
      ${dialect.ignoreConflict('messaging_inbound_message', 'id')}`,
    select: `SELECT i.id FROM ${ids.sql} ${dialect.join} messaging_inbound_message i
      ON i.id = v_id AND i.token = ?`,
    old: 'SELECT id FROM messaging_inbound_message WHERE received_at < ? ORDER BY received_at LIMIT ?',
    remove: dialect.deleteFrom('messaging_inbound_message', 'id', ids),
  };
}
