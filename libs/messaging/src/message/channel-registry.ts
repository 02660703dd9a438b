import type { ChannelDefinition } from './channel-definition.js';
import { MessagingConfigError } from './errors.js';
import type { Channel, MessageContent } from './message.js';
import { type ChannelStatus, STATUS_RANK, type StatusDefinition, STATUSES } from './status.js';

/** Statuses of every channel: the library itself sets them. */
const { queued, sending, unknown, expired, failed, rejected, cancelled } = STATUSES;
const COMMON = { queued, sending, unknown, expired, failed, rejected, cancelled };

const CONSENT_CATEGORIES = ['transactional', 'marketing'];

/** The channels of an app. Injectable in every module that imports the messaging module. */
export class ChannelRegistry {
  readonly #channels = new Map<string, ChannelDefinition>();
  readonly #statuses = new Map<string, StatusDefinition>(Object.entries(COMMON));
  readonly #names = new Map<number, string>();
  readonly #events = new Set<string>();
  readonly #suppressing = new Set<string>();

  /** @throws MessagingConfigError for two channels of one name, or one status with two ranks */
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

  namesWhere(test: (definition: ChannelDefinition) => unknown): readonly Channel[] {
    return this.all.filter(test).map(({ name }) => name);
  }

  /** Consent categories of the channel; an unregistered channel has those of every channel. */
  consentCategories(channel: string): readonly string[] {
    return [...CONSENT_CATEGORIES, ...(this.#channels.get(channel)?.consent?.categories ?? [])];
  }

  /** The consent category of a message: from its content, else `transactional`. */
  consentCategoryOf(channel: string, content: MessageContent): string {
    const { category } = content as { readonly category?: unknown };
    const { presumedCategory } = this.#channels.get(channel)?.pricing ?? {};
    const presumed = content.kind === 'template' ? presumedCategory : undefined;
    const wanted = category ?? presumed;
    return this.consentCategories(channel).find((one) => one === wanted) ?? 'transactional';
  }

  /** Category for frequency caps: the price category, or the channel's name. */
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

  rankOf(status: string): number | undefined {
    return this.#statuses.get(status)?.rank;
  }

  /**
   * @typeParam S the statuses of the caller's channel
   * @throws RangeError for a rank that no status has
   */
  statusOf<S extends ChannelStatus = ChannelStatus>(rank: number): S {
    const name = this.#names.get(rank);
    if (name === undefined) throw new RangeError(`No message status has rank ${rank}`);
    return name as S;
  }

  hasRank(rank: number): boolean {
    return this.#names.has(rank);
  }

  isTerminal(status: string): boolean {
    return this.#statuses.get(status)?.terminal ?? false;
  }

  /** Whether provider reports may have the status; others are stored raw and change nothing. */
  isReported(status: unknown): status is ChannelStatus {
    return typeof status === 'string' && (this.#statuses.get(status)?.reported ?? false);
  }

  /** Rank of an accepted message of the channel; `sent` for an unregistered channel. */
  acceptedRankOf(channel: string): number {
    const definition = this.#channels.get(channel);
    return definition?.statuses[definition.accepted]?.rank ?? STATUS_RANK.sent;
  }

  /** Ranks of messages that may be at the provider and have no final report. */
  get openRanks(): readonly number[] {
    return this.#ranksWhere(({ rank, terminal }) => rank >= STATUS_RANK.sending && !terminal);
  }

  /** Ranks of messages that may have reached their recipient; frequency caps count them. */
  get countedRanks(): readonly number[] {
    return this.#ranksWhere(({ rank, failed }) => rank >= STATUS_RANK.sending && !failed);
  }

  /** Whether the name is an event of a channel, such as `delayed`, and no status. */
  isEvent(name: unknown): name is string {
    return typeof name === 'string' && this.#events.has(name);
  }

  /** Whether a channel suppresses recipients by this status. */
  maySuppress(status: string | null): boolean {
    return status !== null && this.#suppressing.has(status);
  }

  /** Reason to suppress the recipient of a message with this status; `undefined`: none. */
  suppressionReasonOf(
    channel: string,
    status: string,
    codes: readonly (string | number | null | undefined)[],
  ): string | undefined {
    const { reason, errorCodes } = this.#channels.get(channel)?.suppression?.[status] ?? {};
    if (!errorCodes) return reason;
    return codes.some((code) => errorCodes.includes(String(code))) ? reason : undefined;
  }

  /** `type` of the webhook of this status or event; `undefined`: the channel has none. */
  statusEventOf(channel: string, statusOrEvent: string): string | undefined {
    return this.#channels.get(channel)?.wire?.statusEvent.replace('*', statusOrEvent);
  }

  ofEvent(type: string): ChannelDefinition | undefined {
    return this.all.find(
      (definition) =>
        definition.wire?.receivedEvent === type || statusTypesOf(definition).includes(type),
    );
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
    for (const status of Object.keys(definition.suppression ?? {})) this.#suppressing.add(status);
    this.#channels.set(name, definition);
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

/** The types of the channel's status webhooks. */
function statusTypesOf({ wire, statuses, events = [] }: ChannelDefinition): string[] {
  if (!wire) return [];
  const names = [...Object.keys(COMMON), ...Object.keys(statuses), ...events];
  return names.map((name) => wire.statusEvent.replace('*', name));
}

function refuse(problem: string): never {
  throw new MessagingConfigError(`channels${problem}`);
}
