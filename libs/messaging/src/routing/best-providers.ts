import { hash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { keepNewest } from '../message/keep-newest.js';
import type { RecentOutcomes } from '../message/outcomes.js';
import type { ReceiptFinding } from '../message/receipt-doubts.js';
import type { BestSettings } from '../ports/best-options.js';
import type { Clock } from '../ports/clock.js';
import { figuresOf, isBetter, type RouteFigures, scoreOf, wordsOf } from './route-figures.js';

/** Times `refresh`: older figures are not used without an attempt to read new ones. */
const OLDEST = 5;

/** Groups whose leader is remembered. */
const MOST_GROUPS = 50_000;

/** What providers are compared for. */
export interface ComparedGroup {
  /** In the order of the rule. */
  readonly names: readonly string[];
  readonly channel: string;
  /** ISO 3166 code; `''`: none, or not known. */
  readonly country: string;
}

/** What became of messages, and what second witnesses say of the reports. */
export interface ReadOutcomes {
  readonly found: readonly RecentOutcomes[];
  readonly doubts: readonly ReceiptFinding[];
}

interface Ranking {
  /** Number of the read that it follows from. */
  readonly read: number;
  /** The leader first. */
  readonly order: readonly string[];
  /** Of those that are compared; `null`: too little is known to compare. */
  readonly words: string | null;
}

/**
 * The order of providers by what became of the messages that they got last. The leader of a group stays
 * until another provider is clearly better; at first it is the first of the rule. A share of submissions
 * leaves by the others, so that each stays known and may lead again:
 *
 * ```
 * counts ─read, once a minute─▶ figures of each provider and country ─▶ leader ─▶ order of a submission
 * ```
 */
export class BestProviders {
  readonly #logger = new Logger('BestProviders');
  readonly #rankings = new Map<string, Ranking>();
  #figures: ReadonlyMap<string, RouteFigures> = new Map();
  #read = 0;
  /** Times of the last attempt to read, and of the last success, by the monotonic clock. */
  #triedAt = -Infinity;
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;

  /** @param outcomes reads the messages that were accepted since, in epoch milliseconds */
  constructor(
    private readonly settings: BestSettings,
    private readonly clock: Pick<Clock, 'now' | 'monotonic'>,
    private readonly outcomes: (since: number) => Promise<ReadOutcomes>,
  ) {}

  /** Reads the counts where the last read is too old; a plan only waits for it where they are of no use. */
  async refreshed(): Promise<void> {
    const { refresh } = this.settings;
    const now = this.clock.monotonic();
    if (now - this.#triedAt >= refresh) {
      this.#triedAt = now;
      this.#reading ??= this.#refresh(now).finally(() => {
        this.#reading = undefined;
      });
    }
    if (now - this.#readAt >= OLDEST * refresh) await this.#reading;
  }

  /** @param id of the submission, which decides whether it leaves by another provider than the leader */
  orderOf(group: ComparedGroup, id: string): readonly string[] {
    const { order } = this.#rankingOf(group);
    const explored = this.#exploredBy(order, id);
    return explored === undefined
      ? order
      : [explored, ...order.filter((name) => name !== explored)];
  }

  /** Why a submission has its first provider; `null`: by the order of the rule. */
  reasonOf(group: ComparedGroup, id: string): string | null {
    const { order, words } = this.#rankingOf(group);
    const explored = this.#exploredBy(order, id);
    if (explored !== undefined) return [`${explored} to compare`, words ?? []].flat().join('; ');
    return words;
  }

  #exploredBy([, ...others]: readonly string[], id: string): string | undefined {
    const share = hash('sha256', `${id} explore`, 'buffer').readUIntBE(0, 6) / 2 ** 48;
    const { explore } = this.settings;
    return share < explore ? others[Math.floor((share / explore) * others.length)] : undefined;
  }

  #rankingOf({ names, channel, country }: ComparedGroup): Ranking {
    const key = [channel, country, ...names].join(' ');
    const former = this.#rankings.get(key);
    if (former?.read === this.#read) return former;
    const ranking = this.#rank({ names, channel, country }, former?.order[0]);
    this.#rankings.set(key, ranking);
    keepNewest(this.#rankings, MOST_GROUPS);
    return ranking;
  }

  #rank({ names, channel, country }: ComparedGroup, former: string | undefined): Ranking {
    const { settings } = this;
    const known = new Map(
      names.flatMap((name) => {
        const figures = this.#figures.get(keyOf(name, channel, country));
        return figures && figures.samples >= settings.minSamples ? [[name, figures] as const] : [];
      }),
    );
    const score = (name: string) => {
      const figures = known.get(name);
      return figures ? scoreOf(figures, settings) : -Infinity;
    };
    const ranked = names.toSorted((a, b) => (score(a) === score(b) ? 0 : score(b) - score(a)));
    const leader = former ?? (names[0] as string);
    const own = known.get(leader);
    // The best of those that are clearly better, not of all: a provider with few messages varies more.
    const next = own && ranked.find((name) => isClearly(known.get(name), own, settings));
    const first = next ?? leader;
    const order = [first, ...ranked.filter((name) => name !== first)];
    const words = order.flatMap((name) => {
      const figures = known.get(name);
      return figures ? [wordsOf(name, figures)] : [];
    });
    return { read: this.#read, order, words: words.length > 1 ? words.join(', ') : null };
  }

  async #refresh(startedAt: number): Promise<void> {
    const { window, minSamples } = this.settings;
    const now = this.clock.now();
    try {
      const { found, doubts } = await this.outcomes(now - window);
      const doubtOf = new Map<string, number>();
      for (const { provider, channel, country, doubt, others } of doubts) {
        // A provider that is not compared is not worse than another one.
        if (others === null) continue;
        const key = keyOf(provider, channel, country);
        doubtOf.set(key, Math.max(doubt, doubtOf.get(key) ?? 0));
      }
      this.#figures = new Map(
        found.map((one) => {
          const key = keyOf(one.provider, one.channel, one.country);
          return [key, figuresOf(one, minSamples, now, doubtOf.get(key) ?? 0)];
        }),
      );
      this.#readAt = startedAt;
      this.#read++;
    } catch (error) {
      this.#logger.warn(
        `outcomes of providers not read, best() keeps its order: ${(error as Error).name}`,
      );
    }
  }
}

function isClearly(
  other: RouteFigures | undefined,
  leader: RouteFigures,
  settings: BestSettings,
): boolean {
  return other !== undefined && isBetter(other, leader, settings);
}

function keyOf(provider: string, channel: string, country: string): string {
  return `${provider} ${channel} ${country}`;
}
