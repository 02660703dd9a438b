import { Logger } from '@nestjs/common';
import { type Address, addressKey, addressOf, readAddress } from '../message/address.js';
import type { ChannelDefinition } from '../message/channel-definition.js';
import type { ChannelRegistry } from '../message/channel-registry.js';
import {
  INBOUND_RECEIVED,
  type InboundMessage,
  type InboundPreference,
  type InboundReceived,
} from '../message/events.js';
import { boundedContent, jsonOf } from '../message/content/inbound-content.js';
import { identifier, plausible, recipientNumber } from '../message/report-fields.js';
import type { Clock } from '../ports/clock.js';
import type { EventPublisher, InboundListeners } from '../ports/listeners.js';
import type { ConsentReader } from '../ports/messaging-options.js';
import type { MessagingSettings } from '../ports/messaging-settings.js';
import { isUnavailable } from '../store/database/database-errors.js';
import { GroupCommit } from '../store/database/group-commit.js';
import type { Sql, Transaction } from '../store/database/store-database.js';
import { digestId } from '../store/rows/digest-id.js';
import { consentWords } from './consent-words.js';
import { EVERY, type Identity, identityBy, tenantOf } from './contact-input.js';
import type { ContactStore } from './contact-store.js';
import { groupedBy, type Row } from './contact-tables.js';

/** Retention of message ids in ms; longer than any provider repeats a callback. */
const REMEMBERED = 30 * 86_400_000;
/** Characters of a text that are stored as evidence of consent. */
const MAX_EVIDENCE = 255;
const MAX_TEXT = 65_536;
/** Characters of the name of a profile. */
const MAX_PROFILE = 255;
/** Most messages of a transaction. */
const MOST = 500;

/** A checked message, with its defaults. */
type CheckedMessage = Omit<InboundReceived, 'id' | 'tenant' | 'contactId' | 'sentAt' | 'consent'> &
  Pick<InboundMessage, 'sentAt'>;

interface Incoming {
  readonly tenant: string;
  readonly message: CheckedMessage;
  /** The provider that brought it. */
  readonly provider: string;
  /** Digest that identifies this message. */
  readonly digest: string;
  readonly identity: Identity;
  /** Epoch milliseconds, never in the future. */
  readonly at: number;
  /** `false`: a choice in the settings of the platform. */
  readonly isMessage: boolean;
  /** Consent that the text expresses, or that the platform reports. */
  readonly consent: InboundPreference | undefined;
}

/**
 * Records inbound messages, many per commit and each once. One transaction makes the sender a
 * contact, opens its window, applies STOP and START and runs the listeners; events follow its
 * commit. A choice in the settings of the platform changes the consent alone.
 */
export class InboundRecorder {
  readonly #logger = new Logger('MessagingInbound');
  readonly #consentOf: ConsentReader;
  readonly #group: GroupCommit<Incoming, void>;
  readonly #afterwards = new Set<Promise<void>>();

  constructor(
    private readonly store: ContactStore,
    private readonly registry: ChannelRegistry,
    private readonly clock: Clock,
    private readonly events: EventPublisher,
    private readonly listeners: InboundListeners,
    private readonly options: MessagingSettings['inbound'],
    /** Runs after the commit; errors are logged. */
    private readonly after: (received: InboundReceived) => Promise<void>,
  ) {
    this.#consentOf = options.consent ?? consentWords();
    this.#group = new GroupCommit((take) => this.#flush(take), {
      maxItems: MOST,
      // Any other error is that of a listener, or of one message's data.
      isItemError: (error) => !isUnavailable(error),
    });
  }

  /**
   * Resolves after the commit. A message without a required field, or to a number of no tenant, is
   * skipped and logged; a later delivery of it is processed.
   */
  async record(
    messages: readonly InboundMessage[],
    origin: { readonly transport: string },
  ): Promise<void> {
    for (let from = 0; from < messages.length; from += MOST)
      await this.#recordSlice(messages.slice(from, from + MOST), origin);
  }

  async #recordSlice(
    messages: readonly InboundMessage[],
    { transport }: { readonly transport: string },
  ): Promise<void> {
    const all = await Promise.all(messages.map((message) => this.#checked(message, transport)));
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

  /** Deletes at most `limit` ids past their retention. @returns the number of deleted ids */
  forget(limit: number): Promise<number> {
    return this.store.database.transaction(async (tx) => {
      const rows = await tx.all<{ id: string }>(
        'SELECT id FROM messaging_inbound_message WHERE received_at < ? ORDER BY received_at LIMIT ?',
        [(this.clock.now() - REMEMBERED) * 1_000, limit],
      );
      const old = rows.map(({ id }) => id);
      if (old.length > 0) await this.store.tables.delete(tx, 'inbound_message', old);
      return old.length;
    });
  }

  /** Deletes at most `limit` texts that are older than `age` in ms. @returns their number */
  forgetTexts(age: number, limit: number): Promise<number> {
    return this.store.database.transaction(async (tx) => {
      const { dialect } = this.store.tables;
      const old = await tx.all<{ contact: string; id: string }>(
        `SELECT contact, id FROM messaging_inbound_text WHERE received_at < ${dialect.now} - ?
         ORDER BY received_at LIMIT ?`,
        [age * 1_000, limit],
      );
      for (const { contact, id } of old)
        await tx.run('DELETE FROM messaging_inbound_text WHERE contact = ? AND id = ?', [
          contact,
          id,
        ]);
      return old.length;
    });
  }

  /** @returns why it is skipped @throws MessageValidationError for a malformed `inbound.tenant` */
  async #checked(given: InboundMessage, transport: string): Promise<Incoming | string> {
    const messageId = identifier(given.messageId);
    if (messageId === null) return 'no message id';
    const to = recipientNumber(given.to) ?? identifier(given.to);
    if (to === null) return 'no number it was written to';
    const channel = this.registry.find(given.channel);
    // Some providers write phone numbers as JSON numbers.
    const sender: unknown = Number.isSafeInteger(given.from) ? String(given.from) : given.from;
    const from = readAddress(sender, channel?.addressKinds);
    const bsuid = addressOf('platform', given.bsuid);
    const name = from || bsuid || !takesNames(channel) ? null : identifier(sender);
    const named = name === null ? undefined : addressOfName(given.channel, name);
    const addresses = [from, bsuid, named].flatMap((one) => (one ? [addressKey(one)] : []));
    if (addresses.length === 0) return 'no address it was written from';
    if (!channel) return 'no channel of this app';
    const now = this.clock.now();
    const text = cleaned(given.text, MAX_TEXT);
    const message: CheckedMessage = {
      messageId,
      channel: given.channel,
      from: from?.value ?? name,
      bsuid: bsuid?.value ?? null,
      to,
      text,
      content: boundedContent(given.content, text),
      profileName: cleaned(given.profileName, MAX_PROFILE),
      repliesTo: identifier(given.repliesTo),
      sentAt: given.sentAt instanceof Date ? plausible(given.sentAt, now) : null,
      ...(given.opensWindow === false && { opensWindow: false }),
    };
    const tenantName = given.tenant ?? (await this.options.tenant(message));
    if (tenantName === undefined) return 'no tenant has the number they were written to';
    const tenant = tenantOf({ tenant: tenantName });
    const said =
      text === null || given.authentic === false
        ? undefined
        : await this.#consentOf(text, { ...message, tenant });
    // Words to others than the app's number may opt out, to be sure, but not in.
    const counts = said !== undefined && (said === 'opted_out' || given.opensWindow !== false);
    return {
      tenant,
      message,
      provider: transport,
      digest: digestId(transport, given.channel, messageId),
      identity: identityBy(addresses),
      at: Math.min(message.sentAt?.getTime() ?? now, now),
      isMessage: given.preference === undefined,
      consent: given.preference ?? (counts ? { category: EVERY, state: said } : undefined),
    };
  }

  async #flush(take: () => readonly Incoming[]): Promise<void[]> {
    const received = await this.store.write({}, (tx) => this.#persist(tx, take()));
    if (this.events.wants(INBOUND_RECEIVED))
      for (const one of received) this.events.publish(INBOUND_RECEIVED, one);
    for (const one of received) this.#runAfter(one);
    return take().map(() => undefined);
  }

  async #persist(tx: Transaction, all: readonly Incoming[]): Promise<InboundReceived[]> {
    const fresh = await this.#addDigests(tx, new Set(all.map(({ digest }) => digest)));
    // The first of two messages with one id in one group is taken.
    const taken = all.filter(({ digest }) => fresh.delete(digest));
    if (taken.length === 0) return [];
    const byTenant = groupedBy(taken, ({ tenant }) => tenant);
    const received: InboundReceived[] = [];
    for (const tenant of [...byTenant.keys()].sort())
      received.push(...(await this.#receive(tx, tenant, byTenant.get(tenant) ?? [])));
    await this.store.database.runForeign(() => this.listeners.notify(received, tx.manager));
    return received;
  }

  async #receive(tx: Sql, tenant: string, all: readonly Incoming[]): Promise<InboundReceived[]> {
    const identities = all.map(({ identity }) => identity);
    const contacts = await this.store.resolve(tx, tenant, identities, { rewrite: false });
    const contactAt = (n: number) => contacts[n] as string;
    const ids = all.map(() => this.clock.id());
    const times = all.flatMap(({ message, at }, n) =>
      message.opensWindow === false
        ? []
        : [{ contact: contactAt(n), sender: message.to, last_at: at }],
    );
    await this.store.recordInbound(tx, times);
    if (this.options.keepText)
      await this.store.tables.insert(
        tx,
        'inbound_text',
        all.flatMap((one, n) =>
          one.isMessage ? [rowOf(one, contactAt(n), ids[n] as string)] : [],
        ),
      );
    const said = all.map(({ message: { channel, text }, at, isMessage, consent }, n) => {
      const evidence = (text ?? '').slice(0, MAX_EVIDENCE);
      const source = isMessage ? 'keyword' : 'platform';
      return consent && { ...consent, contact: contactAt(n), channel, at, source, evidence };
    });
    const given = said.filter((one) => one !== undefined);
    const changed = await this.store.consents.record(tx, given, this.clock.now());
    return all.flatMap(({ message, at, isMessage }, n) => {
      if (!isMessage) return [];
      const consent = changed.find((one) => one === said[n])?.state ?? null;
      const id = ids[n] as string;
      return [{ ...message, id, tenant, contactId: contactAt(n), sentAt: new Date(at), consent }];
    });
  }

  /** Stores only digests of the message ids. @returns the new ones */
  async #addDigests(tx: Sql, digests: ReadonlySet<string>): Promise<Set<string>> {
    const { tables } = this.store;
    const { dialect, ids } = tables;
    // The token tells the rows of this transaction from earlier ones.
    const [token, received_at] = [this.clock.id(), this.clock.now()];
    await tables.insert(
      tx,
      'inbound_message',
      [...digests].map((id) => ({ id, token, received_at })),
      dialect.ignoreConflict('messaging_inbound_message', 'id'),
    );
    const fresh = await tx.all<{ id: string }>(
      `SELECT i.id FROM ${ids.sql} ${dialect.join} messaging_inbound_message i
         ON i.id = v_id AND i.token = ?`,
      [...tables.bind(digests), token],
    );
    return new Set(fresh.map(({ id }) => id));
  }

  #runAfter(received: InboundReceived): void {
    const done = this.after(received)
      .catch((error: unknown) =>
        this.#logger.warn(`No reply to an inbound message: ${(error as Error).name}`),
      )
      .finally(() => this.#afterwards.delete(done));
    this.#afterwards.add(done);
  }
}

function rowOf(
  { tenant, message, provider, identity, at }: Incoming,
  contact: string,
  id: string,
): Row<'inbound_text'> {
  const { content } = message;
  return {
    contact,
    id,
    tenant,
    channel: message.channel,
    sender: message.from ?? (identity.written[0] as string),
    recipient: message.to,
    text: message.text,
    received_at: at,
    message: message.messageId,
    provider,
    kind: content.kind,
    profile: message.profileName,
    answers: message.repliesTo,
    content: content.kind === 'text' ? null : (jsonOf(content) ?? null),
  };
}

function cleaned(text: unknown, most: number): string | null {
  return typeof text === 'string' ? text.slice(0, most).replace(/[\0\p{Cs}]/gu, '') : null;
}

/** Whether short codes and names may write on the channel: its addresses are phone numbers alone. */
function takesNames(channel: ChannelDefinition | undefined): boolean {
  return channel?.addressKinds.every((kind) => kind === 'phone') ?? false;
}

/** Address of a sender that is no number, which no platform's id equals. */
function addressOfName(channel: string, name: string): Address | undefined {
  return addressOf('platform', `${channel}:${encodeURIComponent(name)}`);
}
