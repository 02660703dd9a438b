import type { ChannelDefinition, StatusDefinition } from './channel-definition.js';
import { MessagingConfigError } from './errors.js';

/** Statuses that every channel has. */
const COMMON: Readonly<Record<string, StatusDefinition>> = {
  queued: { rank: 10 },
  sending: { rank: 20 },
  unknown: { rank: 30 },
  cancelled: { rank: 120, terminal: true },
};

/** The channels of an app, by name. */
export class ChannelRegistry {
  readonly #channels = new Map<string, ChannelDefinition>();
  readonly #statuses = new Map<string, StatusDefinition>(Object.entries(COMMON));
  readonly #names = new Map<number, string>();

  /** @throws MessagingConfigError for two channels of one name, or one status with two ranks */
  constructor(definitions: readonly ChannelDefinition[]) {
    for (const [name, { rank }] of this.#statuses) this.#names.set(rank, name);
    for (const definition of definitions) this.#add(definition);
  }

  get all(): readonly ChannelDefinition[] {
    return [...this.#channels.values()];
  }

  has(name: string): boolean {
    return this.#channels.has(name);
  }

  /** @throws MessagingConfigError for a channel that is not registered */
  get(name: string): ChannelDefinition {
    const definition = this.#channels.get(name);
    if (!definition)
      throw new MessagingConfigError(
        `channels: '${name}' is not registered; known are ${[...this.#channels.keys()].join(', ')}`,
      );
    return definition;
  }

  /** Rank of a status, whatever its channel; `undefined` for a name no channel has. */
  rankOf(status: string): number | undefined {
    return this.#statuses.get(status)?.rank;
  }

  /** @throws RangeError for a rank no status has */
  statusOf(rank: number): string {
    const name = this.#names.get(rank);
    if (name === undefined) throw new RangeError(`No message status has rank ${rank}`);
    return name;
  }

  isTerminal(status: string): boolean {
    return this.#statuses.get(status)?.terminal ?? false;
  }

  isReported(status: unknown): boolean {
    return typeof status === 'string' && (this.#statuses.get(status)?.reported ?? false);
  }

  #add(definition: ChannelDefinition): void {
    const { name, statuses, accepted } = definition;
    if (!/^[a-z][a-z0-9-]{0,15}$/.test(name))
      throw new MessagingConfigError(
        `channels: '${name}' must be a small letter and up to 15 small letters, digits and dashes`,
      );
    if (this.#channels.has(name))
      throw new MessagingConfigError(
        `channels: '${name}' is registered twice; give one another name`,
      );
    if (!Object.hasOwn(statuses, accepted))
      throw new MessagingConfigError(
        `channels.${name}.accepted: '${accepted}' is none of its statuses`,
      );
    for (const [status, own] of Object.entries(statuses)) this.#addStatus(name, status, own);
    this.#channels.set(name, definition);
  }

  #addStatus(channel: string, status: string, own: StatusDefinition): void {
    const known = this.#statuses.get(status);
    const holder = this.#names.get(own.rank);
    if ((known && known.rank !== own.rank) || (holder !== undefined && holder !== status))
      throw new MessagingConfigError(
        `channels.${channel}.statuses.${status}: rank ${own.rank} is ${holder ?? status}'s, or another channel gives ${status} another rank; choose a free rank`,
      );
    this.#statuses.set(status, { ...known, ...own });
    this.#names.set(own.rank, status);
  }
}
