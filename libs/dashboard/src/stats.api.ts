import type { MessageOutcomes } from '@dundun/messaging/operations';
import { Inject, Injectable } from '@nestjs/common';
import type { ChangesAnswer, StatsAnswer } from './api.js';
import type { ApiCall } from './api-call.js';
import { MessagingParts } from './messaging-parts.js';
import { failuresOf, outcomesOf } from './outcomes.js';
import { Fields, type Given, iso } from './query.js';
import { SharedAnswers } from './shared-answers.js';

const DAY = 86_400_000;
const MOST = { hour: 744, day: 366 } as const;
const LENGTH = { hour: 3_600_000, day: DAY } as const;

/** Messages that are counted, or a batch more. */
const MOST_COUNTED = 200_000;

/** An answer is kept for this many times as long as it took to read, in milliseconds at least. */
const KEPT = 40;
const LEAST_KEPT = 1_000;

/** Milliseconds. */
const CHANGES_KEPT = 500;

/** Rows of failures. */
const MOST_FAILURES = 20;

interface Period {
  readonly tenants: readonly string[] | 'all';
  readonly channel: string | undefined;
  readonly interval: 'hour' | 'day';
  readonly since: Date;
  readonly until: Date;
}

/** Counts for charts, and the look for changes. */
@Injectable()
export class StatsApi {
  readonly #shared = new SharedAnswers(() => this.parts.clock);

  constructor(@Inject(MessagingParts) private readonly parts: MessagingParts) {}

  async stats(call: ApiCall, query: Given): Promise<StatsAnswer> {
    const now = this.parts.clock.now();
    const fields = new Fields(query);
    const tenants = call.tenantsOf(fields.text('tenant', 255));
    const channel = fields.text('channel', 16);
    const interval = fields.oneOf('interval', ['hour', 'day']) ?? 'hour';
    const given = { since: fields.time('since'), until: fields.time('until') };
    const until = given.until ?? new Date(Math.ceil((now + 1) / 60_000) * 60_000);
    const since = given.since ?? new Date(until.getTime() - DAY);
    if ((until.getTime() - since.getTime()) / LENGTH[interval] > MOST[interval])
      fields.refuse('since', `must be at most ${MOST[interval]} intervals before until`);
    fields.done();
    const period = { tenants, channel, interval, since, until };
    const read = () => this.#read(period);
    const key = JSON.stringify(period);
    const left = this.#shared.left(key);
    const answer = await this.#shared.get(key, read, (took) => Math.max(LEAST_KEPT, KEPT * took));
    // A read that runs may have begun before the last change, too.
    return { ...answer, readAgainIn: left === Infinity ? LEAST_KEPT : Math.ceil(left) || null };
  }

  async changes(call: ApiCall, query: Given): Promise<ChangesAnswer> {
    const fields = new Fields(query);
    const tenants = call.tenantsOf(fields.text('tenant', 255));
    const since = fields.text('since', 600);
    fields.done();
    // Pages that ask at about the same time get the same cursor, and so share their next answers.
    const read = () => this.parts.history.changes({ tenants, since });
    return this.#shared.get(JSON.stringify(['changes', tenants, since]), read, CHANGES_KEPT);
  }

  async #read(period: Period): Promise<Omit<StatsAnswer, 'readAgainIn'>> {
    const { history, channels } = this.parts;
    const { slots, countedSince } = await history.presentStatuses({
      ...period,
      atMost: MOST_COUNTED,
    });
    const latency = await history.latency(period);
    const names = channels.names.filter((name) => slots.some(({ channel }) => channel === name));
    return {
      since: iso(period.since),
      until: iso(period.until),
      interval: period.interval,
      series: startsOf(period).map((start) => {
        const own = slots.filter((slot) => slot.start.getTime() === start);
        return {
          start: iso(new Date(start)),
          counts: countsOf(own),
          ...outcomesOf(channels, own),
        };
      }),
      funnel: outcomesOf(channels, slots),
      channels: names.map((name) => ({
        channel: name,
        ...outcomesOf(
          channels,
          slots.filter(({ channel }) => channel === name),
        ),
      })),
      failures: failuresOf(channels, slots).slice(0, MOST_FAILURES),
      countedSince: iso(countedSince),
      latency: latency.messages === 0 ? null : latency,
    };
  }
}

/** The hours or days of a period, also those without messages. */
function startsOf({ since, until, interval }: Period): number[] {
  const step = LENGTH[interval];
  const first = Math.floor(since.getTime() / step);
  const count = Math.ceil(until.getTime() / step) - first;
  return Array.from({ length: count }, (_, n) => (first + n) * step);
}

function countsOf(slots: readonly MessageOutcomes[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, messages } of slots.flatMap(({ outcomes }) => outcomes))
    counts[status] = (counts[status] ?? 0) + messages;
  return counts;
}
