import { Logger } from '@nestjs/common';
import { addressOfKey } from '../message/address.js';
import { GuardRefusedError } from '../message/errors.js';
import { countryOfNumber } from '../message/phone-country.js';
import { addressIdentity } from '../message/phone-identity.js';
import type {
  AcceptanceGuard,
  Pause,
  WatchedBatch,
  WatchedBatches,
} from '../ports/acceptance-guard.js';
import type { Clock } from '../ports/clock.js';
import {
  type GuardAction,
  type GuardFinding,
  type GuardRule,
  type GuardRules,
  type GuardSettings,
  readGuardRules,
} from '../ports/guard-options.js';
import type { StoreDatabase, Transaction } from '../store/database/store-database.js';
import { busiestHour } from '../store/reads/outcomes.js';
import { type RowWriter, updater } from '../store/database/dialect.js';
import { GUARD_HOLD } from '../store/rows/hold.js';
import type { KeyedDigests } from '../store/rows/keyed-digests.js';
import type { Holds } from '../store/verbs/holds.js';
import { type KeyedWindow, WindowCounts, type WindowKey } from '../store/verbs/window-counts.js';

const HOUR = 3_600_000;

const logger = new Logger('Guard');

/** Time in ms that every process needs to see a hold; batches of its lane are due after it. */
const HELD_FOR = 2_500;

/** Milliseconds for which the past of a tenant is not read again. */
const PAST_LASTS = 600_000;
const MOST_PASTS = 10_000;

/** Digits that vary in a prefix, and in a range of consecutive numbers. */
const PREFIX_DIGITS = 4;
const RANGE_DIGITS = 2;

/** Recipients and windows between two turns of the event loop. */
const SLICE = 1_000;

interface Limit {
  readonly rule: GuardRule;
  readonly action: GuardAction;
  readonly max: number;
  readonly per: number;
}

/** What a batch adds to one window. */
interface Addition {
  /** Of the window. */
  readonly key: string;
  readonly scope: string;
  readonly subject: string;
  readonly limit: Limit;
  count: number;
  /** Of a range: a bit for each number of it. */
  members: bigint;
}

interface Asked {
  readonly batch: WatchedBatch;
  readonly additions: readonly Addition[];
}

interface Hit extends Limit {
  /** The batch is the first one over the limit in its window. */
  readonly isFirst: boolean;
}

export interface GuardParts {
  readonly database: StoreDatabase;
  readonly digests: KeyedDigests;
  readonly holds: Pick<Holds, 'place'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Called after a hold is placed, within the transaction. */
  readonly placed: (tx: Transaction) => void;
}

/**
 * Bounds what a tenant sends, in the transaction that accepts it:
 *
 * ```
 * batch ─▶ what it adds to each window ─▶ lock ─▶ over a limit? deny │ hold │ alert ─▶ count
 * ```
 *
 * A refused batch counts nowhere. The windows are locked until the commit, so that a limit is exact with
 * any number of processes.
 */
export class AbuseGuard implements AcceptanceGuard<Transaction> {
  readonly #counts: WindowCounts;
  readonly #delay: RowWriter<string>;
  readonly #settings = new WeakMap<GuardRules, GuardSettings>();
  readonly #pasts = new Map<string, { readonly readAt: number; readonly busiest: number }>();

  /**
   * @param rulesOf answers from memory; `undefined`: the tenant has no limits
   * @param found hears of everything over a limit; also where the transaction is rolled back later
   */
  constructor(
    private readonly rulesOf: (tenant: string) => GuardRules | undefined,
    private readonly parts: GuardParts,
    private readonly found: (finding: GuardFinding) => void,
  ) {
    this.#counts = new WindowCounts(parts.database);
    const { dialect } = parts.database;
    // A hold of the future is one from before the clock was set back, which every process has seen.
    const seenAt = `(SELECT h.since + ${HELD_FOR * 1_000} FROM messaging_hold h
      WHERE h.lanes = messaging_batch.lane AND h.reason = '${GUARD_HOLD}' AND h.since <= ${dialect.now})`;
    this.#delay = updater<string>(
      dialect,
      { v_id: ['uuid', (id) => id] },
      {
        table: 'messaging_batch',
        set: `available_at = ${seenAt}`,
        where: `messaging_batch.id = v_id AND messaging_batch.available_at < coalesce(${seenAt}, 0)`,
      },
    );
  }

  guards(tenant: string): boolean {
    return this.rulesOf(tenant) !== undefined;
  }

  async watch(
    tx: Transaction,
    batches: readonly WatchedBatch[],
    pause: Pause,
  ): Promise<WatchedBatches<Transaction>> {
    const refused = new Map<string, GuardRefusedError>();
    const stored = await this.#storedAmong(tx, batches);
    const asked: Asked[] = [];
    for (const batch of batches) {
      if (stored.has(batch.id)) continue;
      const settings = this.#settingsOf(batch.tenant);
      const { additions, forbidden } = await this.#additionsOf(tx, batch, settings, pause);
      if (forbidden.length > 0) {
        const action = settings?.countries?.action ?? 'deny';
        this.#tell(batch, { rule: 'countries', action, max: 0, per: HOUR }, forbidden);
        refused.set(batch.id, new GuardRefusedError('countries', wordsOfCountries(forbidden)));
      } else asked.push({ batch, additions });
    }
    return { refused, count: (within) => this.#count(within, asked, pause) };
  }

  async #count(
    tx: Transaction,
    asked: readonly Asked[],
    pause: Pause,
  ): Promise<ReadonlyMap<string, GuardRefusedError>> {
    const refused = new Map<string, GuardRefusedError>();
    const windows = await this.#lock(tx, asked, pause);
    const changed = new Map<string, KeyedWindow>();
    const held = new Map<string, Hit>();
    for (const { batch, additions } of asked) {
      const next = new Map<string, KeyedWindow>();
      const hits: Hit[] = [];
      await forEach(additions, pause, (addition) => {
        const { window, hit } = this.#after(addition, windows.get(addition.key)!);
        next.set(addition.key, window);
        if (hit) hits.push(hit);
      });
      const denial = hits.find(({ action }) => action === 'deny');
      for (const hit of hits) if (hit.action === 'deny' || hit.isFirst) this.#tell(batch, hit);
      if (denial) {
        refused.set(batch.id, new GuardRefusedError(denial.rule, wordsOf(denial)));
        continue;
      }
      await forEach(next, pause, ([key, window]) => {
        windows.set(key, window);
        changed.set(key, window);
      });
      const hold = hits.find(({ action, isFirst }) => action === 'hold' && isFirst);
      if (hold) held.set(batch.lane, hold);
    }
    await this.#counts.set(tx, [...changed.values()], pause);
    await this.#hold(tx, held);
    const holdable = asked.filter(({ batch: { id, tenant } }) => {
      const rules = Object.values(this.#settingsOf(tenant) ?? {});
      return !refused.has(id) && rules.some((rule) => rule?.action === 'hold');
    });
    await this.#delay(
      tx,
      holdable.map(({ batch: { id } }) => id),
    );
    return refused;
  }

  /** Batches of a transaction whose commit had succeeded although its answer was lost. */
  async #storedAmong(
    tx: Transaction,
    batches: readonly WatchedBatch[],
  ): Promise<ReadonlySet<string>> {
    const { dialect } = this.parts.database;
    const ids = dialect.rows<string>({ v_id: ['uuid', (id) => id] });
    const rows = await tx.all<{ batch: string }>(
      `SELECT c.batch FROM ${ids.keyed} ${dialect.join} messaging_batch_chunk c
         ${dialect.forceIndex('PRIMARY')} ON c.batch = v_id AND c.n = 0`,
      ids.bind(batches.map(({ id }) => id)),
    );
    return new Set(rows.map(({ batch }) => batch));
  }

  #settingsOf(tenant: string): GuardSettings | undefined {
    const rules = this.rulesOf(tenant);
    if (!rules) return undefined;
    let settings = this.#settings.get(rules);
    if (!settings) this.#settings.set(rules, (settings = readGuardRules('policy.guard', rules)));
    return settings;
  }

  async #additionsOf(
    tx: Transaction,
    batch: WatchedBatch,
    settings: GuardSettings | undefined,
    pause: Pause,
  ): Promise<{ readonly additions: readonly Addition[]; readonly forbidden: readonly string[] }> {
    const { tenant, recipients } = batch;
    const all = new Map<string, Addition>();
    const forbidden = new Set<string>();
    const add = (scope: string, subject: string, limit: Limit, member = 0n, count = 1) => {
      const key = keyOf(tenant, { scope, subject });
      const known = all.get(key);
      if (known) {
        known.count += count;
        known.members |= member;
      } else all.set(key, { key, scope, subject, limit, count, members: member });
    };
    const { countries, recipient, prefix, range, growth } = settings ?? {};
    const digest = (value: string) => this.parts.digests.ofAddress(tenant, value)[0] ?? value;
    await forEach(recipients, pause, (key) => {
      const { kind, value } = addressOfKey(key);
      const identity = addressIdentity(value);
      if (recipient) add('g_recipient', digest(identity), limitOf('recipient', recipient));
      if (kind !== 'phone') return;
      if (countries) {
        const country = countryOfNumber(value);
        const { only, except, action } = countries;
        if (only ? !only.includes(country) : except?.includes(country)) {
          if (action === 'deny') forbidden.add(country);
          else add('g_country', country || '-', { rule: 'countries', action, max: 0, per: HOUR });
        }
      }
      if (prefix)
        add('g_prefix', digest(identity.slice(0, -PREFIX_DIGITS)), limitOf('prefix', prefix));
      if (range)
        add(
          'g_range',
          digest(`${identity.slice(0, -RANGE_DIGITS)}-`),
          limitOf('range', range),
          1n << BigInt(identity.slice(-RANGE_DIGITS)),
        );
    });
    if (growth) {
      const { factor, from, action } = growth;
      const max = Math.max(from, Math.floor(factor * (await this.#busiestOf(tx, tenant))));
      add('g_account', '-', { rule: 'growth', action, max, per: HOUR }, 0n, recipients.length);
    }
    return { additions: [...all.values()], forbidden: [...forbidden] };
  }

  async #busiestOf(tx: Transaction, tenant: string): Promise<number> {
    const { clock } = this.parts;
    const readAt = clock.monotonic();
    const known = this.#pasts.get(tenant);
    if (known && readAt - known.readAt < PAST_LASTS) return known.busiest;
    const busiest = await busiestHour(tx, tenant, clock.now());
    if (this.#pasts.size >= MOST_PASTS) this.#pasts.clear();
    this.#pasts.set(tenant, { readAt, busiest });
    return busiest;
  }

  /** In one order for all transactions: windows that few sends share come first. */
  async #lock(
    tx: Transaction,
    asked: readonly Asked[],
    pause: Pause,
  ): Promise<Map<string, KeyedWindow>> {
    const subjects = new Map<string, Set<string>>();
    for (const { batch, additions } of asked)
      await forEach(additions, pause, ({ scope, subject }) => {
        const group = keyOf(batch.tenant, { scope, subject: '' });
        const known = subjects.get(group);
        if (known) known.add(subject);
        else subjects.set(group, new Set([subject]));
      });
    const windows = new Map<string, KeyedWindow>();
    const keys: WindowKey[] = [];
    for (const [group, some] of [...subjects].toSorted(([one], [other]) =>
      one < other ? 1 : -1,
    )) {
      const [tenant = '', scope = ''] = group.split('\n');
      for (const subject of [...some].toSorted()) keys.push({ tenant, scope, subject });
      await pause();
    }
    const found = await this.#counts.lock(tx, keys, pause);
    await forEach(found, pause, (window) => windows.set(keyOf(window.tenant, window), window));
    return windows;
  }

  #after({ limit, count, members }: Addition, known: KeyedWindow) {
    const now = this.parts.clock.now();
    const isOver = now >= known.windowAt + limit.per;
    const seen = (isOver ? 0n : BigInt(`0x${known.seen || '0'}`)) | members;
    const before = isOver ? 0 : known.started;
    const started = members === 0n ? before + count : bitsOf(seen);
    const window: KeyedWindow = {
      ...known,
      windowAt: isOver ? now : known.windowAt,
      started,
      seen: members === 0n ? null : seen.toString(16),
    };
    const hit: Hit | undefined =
      started > limit.max && (started > before || limit.rule !== 'range')
        ? { ...limit, isFirst: before <= limit.max }
        : undefined;
    return { window, hit };
  }

  /** In one order for all transactions. */
  async #hold(tx: Transaction, held: ReadonlyMap<string, Hit>): Promise<void> {
    for (const [lane, hit] of [...held].toSorted(([one], [other]) => (one < other ? -1 : 1)))
      await this.parts.holds.place(tx, {
        lanes: lane,
        reason: GUARD_HOLD,
        note: `guard: ${wordsOf(hit)}`,
      });
    if (held.size > 0) this.parts.placed(tx);
  }

  #tell({ tenant, channel }: WatchedBatch, limit: Limit, forbidden: readonly string[] = []): void {
    const { rule, action } = limit;
    const reason = forbidden.length > 0 ? wordsOfCountries(forbidden) : wordsOf(limit);
    this.found({ tenant, channel, rule, action, reason, at: new Date(this.parts.clock.now()) });
  }
}

/** Where the app hears of no findings itself. */
export function warnOfFinding({ tenant, rule, action, reason }: GuardFinding): void {
  logger.warn(`${tenant}: ${rule}, ${action}: ${reason}`);
}

function limitOf(
  rule: GuardRule,
  { limit: { max, per }, action }: NonNullable<GuardSettings['recipient']>,
): Limit {
  return { rule, action, max, per };
}

/** Visits the items in slices, between which other work has a turn. */
async function forEach<T>(
  items: Iterable<T>,
  pause: Pause,
  visit: (item: T) => void,
): Promise<void> {
  let count = 0;
  for (const item of items) {
    if (++count % SLICE === 0) await pause();
    visit(item);
  }
}

function keyOf(tenant: string, { scope, subject }: Pick<Addition, 'scope' | 'subject'>): string {
  return `${tenant}\n${scope}\n${subject}`;
}

function bitsOf(members: bigint): number {
  return members.toString(2).replaceAll('0', '').length;
}

const COUNTED: Readonly<Record<GuardRule, string>> = {
  countries: 'messages to a country that the rules leave out',
  recipient: 'messages to one recipient',
  prefix: 'messages to numbers that differ in their last four digits only',
  range: 'different numbers of one hundred consecutive ones',
  growth: 'messages of the account',
};

function wordsOf({ rule, max, per }: Limit): string {
  if (rule === 'countries') return `There were ${COUNTED.countries}`;
  return `More than ${max} ${COUNTED[rule]} in ${timeOf(per)}`;
}

function wordsOfCountries(forbidden: readonly string[]): string {
  const named = forbidden.map((country) => country || 'no known country');
  return `Messages to ${named.slice(0, 10).join(', ')} are not allowed`;
}

function timeOf(per: number): string {
  const units = [
    [86_400_000, 'd'],
    [HOUR, 'h'],
    [60_000, 'min'],
  ] as const;
  const unit = units.find(([length]) => per % length === 0);
  return unit ? `${per / unit[0]} ${unit[1]}` : `${Math.ceil(per / 1_000)} s`;
}
