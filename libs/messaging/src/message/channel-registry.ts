import type { ChannelDefinition, SuppressionRule } from './channel-definition.js';
import { MessagingConfigError } from './errors.js';
import type { ReportDetails } from './events.js';
import {
  type Channel,
  CONSENT_CATEGORIES,
  type ConsentCategory,
  type MessageContent,
} from './message.js';
import {
  type ChannelStatus,
  FIRST_REPORTED_RANK,
  STATUS_RANK,
  type StatusDefinition,
  STATUSES,
} from './status.js';

/** Statuses of every channel: the library itself sets them. */
const { queued, sending, unknown, expired, failed, rejected, cancelled } = STATUSES;
const COMMON = { queued, sending, unknown, expired, failed, rejected, cancelled };

/** The channels of an app. Injectable in every module that imports the messaging module. */
export class ChannelRegistry {
  readonly #channels = new Map<string, ChannelDefinition>();
  /** By the type of their webhooks. */
  readonly #ofEvent = new Map<string, ChannelDefinition>();
  readonly #statuses = new Map<string, StatusDefinition>(Object.entries(COMMON));
  readonly #names = new Map<number, string>();
  readonly #events = new Set<string>();
  /** Error codes by the status or event that suppresses with one of them; `undefined`: with any. */
  readonly #suppressing = new Map<string, ReadonlySet<string> | undefined>();
  readonly #windowClosing = new Set<string>();
  /** Statuses of channels that send again after some of them. */
  readonly #redialled = new Set<string>();

  /** @internal @throws MessagingConfigError for two channels of one name, or one status with two ranks */
  constructor(definitions: readonly ChannelDefinition[]) {
    for (const [name, { rank }] of this.#statuses) this.#names.set(rank, name);
    for (const definition of definitions) this.#add(definition);
  }

  get all(): readonly ChannelDefinition[] {
    return [...this.#channels.values()];
  }

  get names(): readonly Channel[] {
    return [...this.#channels.keys()];
  }

  /** @internal Of all channels. */
  get statuses(): readonly string[] {
    return [...this.#statuses.keys()];
  }

  get(name: string): ChannelDefinition {
    const definition = this.#channels.get(name);
    if (definition) return definition;
    throw new MessagingConfigError(
      `channels: '${name}' is not registered; known are ${this.names.join(', ')}`,
    );
  }

  /** The channel; `undefined` where it is not registered, such as the channel of an old message. */
  find(name: string): ChannelDefinition | undefined {
    return this.#channels.get(name);
  }

  /** @internal */
  namesWhere(test: (definition: ChannelDefinition) => unknown): readonly Channel[] {
    return this.all.filter(test).map(({ name }) => name);
  }

  /** @internal Consent categories of the channel; an unregistered channel has those of every channel. */
  consentCategories(channel: string): readonly ConsentCategory[] {
    return [...CONSENT_CATEGORIES, ...(this.#channels.get(channel)?.consent?.categories ?? [])];
  }

  /** @internal The consent category of a message: from its content, else `transactional`. */
  consentCategoryOf(channel: string, content: MessageContent): ConsentCategory {
    const { category } = content as { readonly category?: unknown };
    const { presumedCategory } = this.#channels.get(channel)?.pricing ?? {};
    const presumed = content.kind === 'template' ? presumedCategory : undefined;
    const wanted = category ?? presumed;
    if (wanted === undefined) return 'transactional';
    return this.consentCategories(channel).find((one) => one === wanted) ?? 'transactional';
  }

  /** @internal The price category of a message; `null`: its channel has none. */
  priceCategoryOf(channel: string, content: MessageContent): string | null {
    const named = 'category' in content ? content.category : undefined;
    const known = named ?? this.#channels.get(channel)?.pricing?.categoryOf?.[content.kind];
    return typeof known === 'string' ? known : null;
  }

  /** @internal Category for frequency caps: the price category, or the channel's name. */
  capCategoryOf(channel: string, content: MessageContent): string {
    const { categories, categoryOf, presumedCategory } = this.#channels.get(channel)?.pricing ?? {};
    if (!categories) return channel;
    const { category } = content as { readonly category?: unknown };
    return (
      categories.find((one) => one === category) ??
      categoryOf?.[content.kind] ??
      presumedCategory ??
      channel
    );
  }

  /** Every status of the channel's messages with its definition, by rank. */
  statusesOf(channel: string): readonly (readonly [ChannelStatus, StatusDefinition])[] {
    const own = Object.keys(this.#channels.get(channel)?.statuses ?? {});
    return [...this.#statuses]
      .filter(([name]) => name in COMMON || own.includes(name))
      .toSorted(([, one], [, other]) => one.rank - other.rank);
  }

  rankOf(status: string): number | undefined {
    return this.#statuses.get(status)?.rank;
  }

  /**
   * @internal
   * @typeParam S the statuses of the caller's channel
   * @param rank negative: of a message that waits for a further try
   * @throws RangeError for a rank that no status has
   */
  statusOf<S extends ChannelStatus = ChannelStatus>(rank: number): S {
    const name = this.#names.get(Math.abs(rank));
    if (name === undefined) throw new RangeError(`No message status has rank ${rank}`);
    return name as S;
  }

  /** @internal As {@link statusOf}; `unknown` for a rank of a channel that is not registered any more. */
  nameOf(rank: number): ChannelStatus {
    return this.#names.get(Math.abs(rank)) ?? 'unknown';
  }

  /** @internal */
  hasRank(rank: number): boolean {
    return this.#names.has(rank);
  }

  /** @internal */
  isTerminal(status: string): boolean {
    return this.#statuses.get(status)?.terminal ?? false;
  }

  /** @internal Whether provider reports may have the status; others are stored raw and change nothing. */
  isReported(status: unknown): status is ChannelStatus {
    return typeof status === 'string' && (this.#statuses.get(status)?.reported ?? false);
  }

  /** @internal Rank of an accepted message of the channel; `sent` for an unregistered channel. */
  acceptedRankOf(channel: string): number {
    const definition = this.#channels.get(channel);
    return definition?.statuses[definition.accepted]?.rank ?? STATUS_RANK.sent;
  }

  /** @internal Ranks of messages that may be at the provider and have no final report. */
  get pendingRanks(): readonly number[] {
    return this.#ranksWhere(({ rank, terminal }) => rank >= STATUS_RANK.sending && !terminal);
  }

  /** @internal Ranks of messages that may have reached their recipient; frequency caps count them. */
  get countedRanks(): readonly number[] {
    return this.#ranksWhere(({ rank, failed }) => rank >= STATUS_RANK.sending && !failed);
  }

  /** @internal Stored statuses of the channel's messages that wait to be sent again: negative ranks. */
  waitingRanksOf(channel: string): readonly number[] {
    if (!this.find(channel)?.redial) return [];
    const underWay = this.statusesOf(channel).filter(
      ([, { rank, terminal }]) => rank >= FIRST_REPORTED_RANK && !terminal,
    );
    return underWay.map(([, { rank }]) => -rank);
  }

  /** @internal Ranks of messages that reached their recipient for good, such as `delivered` and `completed`. */
  get reachedRanks(): readonly number[] {
    return this.#ranksWhere(({ terminal, failed }) => terminal === true && !failed);
  }

  /** @internal Ranks of messages that did not reach their recipient. */
  get failedRanks(): readonly number[] {
    return this.#ranksWhere(({ failed }) => failed === true);
  }

  /** Whether the name is an event of a channel, such as `delayed`, and no status. */
  isEvent(name: unknown): name is string {
    return typeof name === 'string' && this.#events.has(name);
  }

  /** @internal Whether a message with this status, or one before it, may be sent again. */
  mayRedial(status: string | null): boolean {
    return status !== null && this.#redialled.has(status);
  }

  /** @internal Whether a channel suppresses recipients by this status or event, where given with this code. */
  maySuppress(status: string | null, code?: string | null): boolean {
    if (status === null || !this.#suppressing.has(status)) return false;
    const codes = this.#suppressing.get(status);
    return code === undefined || codes === undefined || (code !== null && codes.has(code));
  }

  /** @internal Whether a refusal with this code closes the window of its recipient on a channel. */
  mayCloseWindow(code: string | null): boolean {
    return code !== null && this.#windowClosing.has(code);
  }

  /** @internal The rule that suppresses the recipient after this status or event; `undefined`: none. */
  suppressionOf(
    channel: string,
    status: string,
    errorCode: string | null,
    details: ReportDetails = {},
  ): SuppressionRule | undefined {
    const rule = this.#channels.get(channel)?.suppression?.[status];
    if (!rule?.errorCodes) return rule;
    const { category } = details;
    const isMeant =
      rule.detailsCategory !== undefined && typeof category === 'string'
        ? category === rule.detailsCategory
        : [errorCode, details['enhanced_code']].some((code) =>
            rule.errorCodes?.includes(String(code)),
          );
    return isMeant ? rule : undefined;
  }

  /** @internal The channel of a webhook's `type`. */
  ofEvent(type: string): ChannelDefinition | undefined {
    return this.#ofEvent.get(type);
  }

  #ranksWhere(test: (status: StatusDefinition) => boolean): number[] {
    return [...this.#statuses.values()].filter(test).map(({ rank }) => rank);
  }

  #add(definition: ChannelDefinition): void {
    const { name, statuses, accepted } = definition;
    if (!/^[a-z][a-z0-9-]{0,15}$/.test(name))
      refuse(`: '${name}' must be a small letter and up to 15 small letters, digits and dashes`);
    if (this.#channels.has(name)) refuse(`: '${name}' is registered twice; give one another name`);
    if (!Object.hasOwn(statuses, accepted))
      refuse(`.${name}.accepted: '${accepted}' is none of its statuses`);
    for (const [status, own] of Object.entries(statuses)) this.#addStatus(name, status, own);
    for (const event of definition.events ?? []) {
      if (this.#statuses.has(event))
        refuse(`.${name}.events: '${event}' is a status; name it otherwise`);
      this.#events.add(event);
    }
    for (const [status, { errorCodes }] of Object.entries(definition.suppression ?? {})) {
      const known = this.#suppressing.has(status) ? this.#suppressing.get(status) : [];
      this.#suppressing.set(status, known && errorCodes && new Set([...known, ...errorCodes]));
    }
    for (const code of definition.consent?.windowClosedBy ?? []) this.#windowClosing.add(code);
    if (definition.redial)
      for (const status of Object.keys(statuses))
        if (!(status in COMMON)) this.#redialled.add(status);
    this.#channels.set(name, definition);
    for (const type of eventTypesOf(definition))
      if (!this.#ofEvent.has(type)) this.#ofEvent.set(type, definition);
  }

  #addStatus(channel: string, status: string, own: StatusDefinition): void {
    const { rank } = own;
    const option = `.${channel}.statuses.${status}: rank ${rank}`;
    const known = this.#statuses.get(status);
    const holder = this.#names.get(rank) ?? status;
    const [lowest, highest] = [STATUS_RANK.sent, STATUS_RANK.cancelled - 1];
    if (!known && !(Number.isInteger(rank) && rank >= lowest && rank <= highest))
      refuse(`${option} must be a whole number from ${lowest} to ${highest}`);
    if ((known && known.rank !== rank) || holder !== status)
      refuse(
        `${option} is ${holder}'s, or another channel gives ${status} another rank; choose a free rank`,
      );
    this.#statuses.set(status, { ...known, ...own });
    this.#names.set(rank, status);
  }
}

function eventTypesOf({ wire, statuses, events = [] }: ChannelDefinition): string[] {
  if (!wire) return [];
  const names = [...Object.keys(COMMON), ...Object.keys(statuses), ...events];
  const received = wire.receivedEvent === undefined ? [] : [wire.receivedEvent];
  return [...received, ...names.map((name) => wire.statusEvent.replace('*', name))];
}

function refuse(problem: string): never {
  throw new MessagingConfigError(`channels${problem}`);
}
