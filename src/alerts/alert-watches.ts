import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { partsOfLane } from '@dundun/messaging/values';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, In, IsNull, LessThanOrEqual, MoreThan } from 'typeorm';
import { Account } from '../accounts/accounts.tables.js';
import { BillingAccount } from '../billing/ledger/ledger.tables.js';
import { amountText } from '../billing/money.js';
import { BALANCE_LOW } from '../billing/thresholds/balance-events.js';
import { BillingThreshold } from '../billing/thresholds/thresholds.tables.js';
import { MISMATCH_FOR } from '../channels/email/domains/domain-check.js';
import { EmailDomain } from '../channels/email/domains/domains.tables.js';
import { ENVIRONMENT, type Environment } from '../config/environment.js';
import { originOf } from '../webhooks/webhook-address.js';
import { WebhookEndpointEntity } from '../webhooks/webhooks.tables.js';
import type { AlertKind } from './alert-kinds.js';
import { type AlertRule, settingsOf } from './alert-rules.js';
import type { Finding } from './alerts.js';
import type { AlertEntity } from './alerts.tables.js';
import { certificateEnds } from './certificates.js';
import { FailureCounts } from './failure-counts.js';
import { usualRange } from './usual-range.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Most findings of one rule. */
export const MOST_FINDINGS = 10_000;

/** Rows that one statement reads. */
const PAGE = 1_000;

export interface Observed {
  readonly findings: readonly Finding[];
  /** Whether an alert that is not among the findings stays, because nothing is known of it now. @default none does */
  readonly stays?: (alert: Pick<AlertEntity, 'subject' | 'seenAt'>) => boolean;
  /** There may be more findings than those, of which nothing is known. @default false */
  readonly isCut?: boolean;
}

type Watch<Kind extends AlertKind> = (rule: AlertRule<Kind>, now: number) => Promise<Observed>;

/** Finds what is wrong now, by the rule of each kind. It only reads. */
@Injectable()
export class AlertWatches {
  readonly #watches: { readonly [Kind in AlertKind]: Watch<Kind> | null };

  constructor(
    private readonly history: MessageHistory,
    private readonly messaging: MessagingService,
    private readonly counts: FailureCounts,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {
    this.#watches = {
      delivered_share: (rule, now) => this.#deliveredShare(rule, now),
      failures: (rule, now) => this.#failures(rule, now),
      lane_waiting: (rule) => this.#lanes(rule),
      webhook_failing: (rule, now) => this.#webhooks(rule, now),
      balance_low: (rule) => this.#balances(rule),
      doubtful_receipts: (rule, now) => this.#receipts(rule, now),
      domain_expiring: (rule, now) => this.#domains(rule, now),
      certificate_expiring: (rule, now) => this.#certificates(rule, now),
      abuse: null,
      notice_undelivered: null,
    };
  }

  /** `undefined`: alerts of the kind are raised by `Alerts.raise()` alone. */
  async observe(rule: AlertRule): Promise<Observed | undefined> {
    const watch = this.#watches[rule.kind] as Watch<AlertKind> | null;
    return watch ? watch(rule, this.clock.now()) : undefined;
  }

  async #deliveredShare(rule: AlertRule<'delivered_share'>, now: number): Promise<Observed> {
    const { window, within, minimum, drop, provider, country } = settingsOf(rule);
    // Later messages may still arrive within the time.
    const until = Math.floor((now - within) / (5 * MINUTE)) * 5 * MINUTE;
    const since = until - Math.max(window, 5 * MINUTE);
    const period = { since: new Date(since), until: new Date(until) };
    const shares = await this.history.deliveredShares({
      ...period,
      within,
      ...(rule.accountId !== null && { tenants: [rule.accountId] }),
      where: { provider, country },
    });
    const known = new Set<string>();
    const findings = shares.flatMap((share): Finding[] => {
      const { messages, delivered } = share;
      const range = usualRange(share.days, { minimum, drop: drop / 100 });
      if (messages < minimum || !range) return [];
      const subject = `${share.provider} ${share.country}`.trim();
      known.add(subject);
      if (delivered / messages >= range.lowest) return [];
      const [percent, usual] = [percentOf(delivered / messages), percentOf(range.usual)];
      const to = share.country === '' ? '' : ` to ${share.country}`;
      const query = { by: 'country', provider: share.provider, country: share.country };
      return [
        {
          subject,
          account: rule.accountId,
          detail: `${percent} % of ${messages} messages${to} by ${share.provider} were delivered within ${lengthOf(within)}; usually ${usual} % are.`,
          figures: {
            messages,
            delivered,
            percent,
            usual_percent: usual,
            lowest_percent: percentOf(Math.max(0, range.lowest)),
            provider: share.provider,
            country: share.country || null,
          },
          window: period,
          page: pageOf('insights', query),
        },
      ];
    });
    const stays: Observed['stays'] = ({ subject, seenAt }) =>
      !known.has(subject) && now - seenAt.getTime() < DAY;
    return { findings, stays };
  }

  async #failures(rule: AlertRule<'failures'>, now: number): Promise<Observed> {
    const { window, minimum, share, code, channel } = settingsOf(rule);
    const since = new Date(now - window);
    const counts = await this.counts.since(since, rule.accountId);
    const found = counts.filter(
      (count) =>
        (code === undefined || count.code === code) &&
        (channel === undefined || count.channel === channel) &&
        count.failures >= minimum &&
        shareOf(count) * 100 >= share,
    );
    const findings = found.map((count): Finding => {
      const { failures, submits } = count;
      const percent = percentOf(shareOf(count));
      const query = { channel: count.channel };
      return {
        subject: `${count.channel} ${count.code}`,
        account: rule.accountId,
        detail: `${failures} messages on ${count.channel} failed with ${count.code} within ${lengthOf(window)}, ${percent} % of those sent.`,
        figures: { failures, submits, percent, channel: count.channel, code: count.code },
        window: { since, until: new Date(now) },
        page:
          rule.accountId === null
            ? pageOf('insights', query)
            : pageOf('messages', { status: 'failed', ...query, since: since.toISOString() }),
      };
    });
    return { findings };
  }

  async #lanes(rule: AlertRule<'lane_waiting'>): Promise<Observed> {
    const { after } = settingsOf(rule);
    const waiting = (await this.messaging.lanes()).filter(
      // An operator knows of the suspension.
      ({ waiting: ms, hold }) => ms >= after && hold?.reason !== 'account_suspended',
    );
    const longest = waiting.toSorted((a, b) => b.waiting - a.waiting);
    const tenants = longest.flatMap(({ lane }) => partsOfLane(lane)?.tenant ?? []);
    const accounts = await this.#accountsAmong(tenants);
    const findings = longest.map(
      ({ lane, waiting: ms, hold, pauseReason, pauseProvider }): Finding => {
        const { tenant = '', channel = lane } = partsOfLane(lane) ?? {};
        const account = accounts.has(tenant) ? tenant : null;
        const reason = hold?.reason ?? pauseReason;
        const why = reason === null ? '' : ` (${hold ? 'held' : 'paused'}: ${reason})`;
        return {
          subject: account === null ? lane : channel,
          account,
          detail: `The oldest due message on ${channel} has waited for ${lengthOf(ms)}${why}.`,
          figures: {
            waited_seconds: Math.round(ms / 1_000),
            channel,
            state: hold ? 'held' : pauseReason === null ? 'waiting' : 'paused',
            reason,
            carrier: pauseProvider,
          },
          page: account === null ? 'lanes' : pageOf('messages', { status: 'queued', channel }),
        };
      },
    );
    return { findings };
  }

  async #webhooks(rule: AlertRule<'webhook_failing'>, now: number): Promise<Observed> {
    const { after } = settingsOf(rule);
    const ofAccount = rule.accountId !== null && { accountId: rule.accountId };
    const { rows: failed, isCut } = await allPages((last?: WebhookEndpointEntity) => {
      const those = { ...ofAccount, ...(last && { id: MoreThan(last.id) }) };
      return this.dataSource.manager.find(WebhookEndpointEntity, {
        where: [
          { ...those, disabledAt: IsNull(), failingSince: LessThanOrEqual(now - after) },
          { ...those, disabledReason: In(['gone', 'failing']) },
        ],
        order: { id: 'ASC' },
        take: PAGE,
      });
    });
    const findings = failed.map(
      ({ id, accountId, url, failingSince, disabledAt, disabledReason }): Finding => {
        const since = new Date(failingSince ?? disabledAt ?? now);
        const state =
          disabledReason === null ? 'has failed' : `was disabled (${disabledReason}), failing`;
        return {
          subject: id,
          account: accountId,
          detail: `The webhook at ${originOf(url)} ${state} since ${since.toISOString()}.`,
          figures: {
            webhook_id: id,
            origin: originOf(url),
            failing_since: since.toISOString(),
            disabled_reason: disabledReason,
          },
          page: `settings/webhook/${id}`,
        };
      },
    );
    return { findings, isCut };
  }

  async #balances(rule: AlertRule<'balance_low'>): Promise<Observed> {
    const { below } = settingsOf(rule);
    const { rows: low, isCut } = await allPages((last?: BillingAccount) =>
      this.dataSource.manager
        .createQueryBuilder(BillingAccount, 'money')
        .where(`money.mode <> 'off'`)
        // A number in the statement: SQLite compares a parameter as a text.
        .andWhere(`money.balance - money.reserved + money.creditLimit < ${below}`)
        .andWhere(rule.accountId === null ? '1 = 1' : 'money.accountId = :account', {
          account: rule.accountId,
        })
        .andWhere('money.accountId > :after', { after: last?.accountId ?? '' })
        .orderBy('money.accountId')
        .take(PAGE)
        .getMany(),
    );
    const told = await this.#accountsWithThresholds(low.map(({ accountId }) => accountId));
    const findings = low.map(({ accountId, balance, reserved, creditLimit, currency }): Finding => {
      const available = BigInt(balance) - BigInt(reserved) + BigInt(creditLimit);
      return {
        subject: currency,
        account: accountId,
        detail: `${amountText(available)} ${currency} are available, less than ${amountText(below)} ${currency}.`,
        figures: { available: amountText(available), below: amountText(below), currency },
        page: 'overview',
        ...(told.has(accountId) && { toldBy: BALANCE_LOW }),
      };
    });
    return { findings, isCut };
  }

  /** Those that are told of low balances by an event of their own. */
  async #accountsWithThresholds(accounts: readonly string[]): Promise<ReadonlySet<string>> {
    if (accounts.length === 0) return new Set();
    const found = await this.dataSource.manager
      .createQueryBuilder(BillingThreshold, 'threshold')
      .select('DISTINCT threshold.accountId', 'id')
      .where({ accountId: In([...accounts]) })
      .getRawMany<{ id: string }>();
    return new Set(found.map(({ id }) => id));
  }

  async #receipts(rule: AlertRule<'doubtful_receipts'>, now: number): Promise<Observed> {
    const { window, doubt, provider, country } = settingsOf(rule);
    const since = new Date(now - window);
    const doubts = await this.history.doubtfulReceipts({ since });
    const found = doubts.filter(
      (one) =>
        one.doubt * 100 >= doubt &&
        (provider === undefined || one.provider === provider) &&
        (country === undefined || one.country === country),
    );
    const findings = found.map((one): Finding => {
      const to = one.country === '' ? '' : ` to ${one.country}`;
      const query = { by: 'country', channel: one.channel, provider: one.provider };
      return {
        subject: `${one.provider} ${one.channel} ${one.country} ${one.witness}`.replace('  ', ' '),
        detail: `Of ${one.provider} on ${one.channel}${to}: ${one.reason}.`,
        figures: {
          messages: one.messages,
          doubted_percent: percentOf(one.doubt),
          percent: percentOf(one.share),
          others_percent: one.others === null ? null : percentOf(one.others),
          witness: one.witness,
          provider: one.provider,
          channel: one.channel,
          country: one.country || null,
        },
        window: { since, until: new Date(now) },
        page: pageOf('insights', { ...query, country: one.country }),
      };
    });
    return { findings };
  }

  async #domains(rule: AlertRule<'domain_expiring'>, now: number): Promise<Observed> {
    const { before } = settingsOf(rule);
    const { rows: failing, isCut } = await allPages((last?: EmailDomain) =>
      this.dataSource.manager.find(EmailDomain, {
        where: {
          ...(rule.accountId !== null && { accountId: rule.accountId }),
          ...(last && { id: MoreThan(last.id) }),
          status: 'verified',
          mismatchSince: LessThanOrEqual(new Date(now + before - MISMATCH_FOR)),
        },
        order: { id: 'ASC' },
        take: PAGE,
      }),
    );
    const findings = failing.map(({ id, accountId, name, mismatchSince }): Finding => {
      const at = new Date((mismatchSince?.getTime() ?? now) + MISMATCH_FOR).toISOString();
      return {
        subject: name,
        account: accountId,
        detail: `A required record of ${name} is missing or another one; without it mail from the domain is refused from ${at} on.`,
        figures: {
          domain: name,
          mismatch_since: mismatchSince?.toISOString() ?? null,
          ends_at: at,
        },
        page: `email/domains/${id}`,
      };
    });
    return { findings, isCut };
  }

  async #certificates(rule: AlertRule<'certificate_expiring'>, now: number): Promise<Observed> {
    const { before } = settingsOf(rule);
    const ends = await certificateEnds(this.environment);
    const findings = ends.flatMap(({ name, until }): Finding[] => {
      if (!until || until.getTime() - now > before) return [];
      const isOver = until.getTime() <= now;
      return [
        {
          subject: name,
          detail: `The TLS certificate of ${name} ${isOver ? 'expired' : 'expires'} at ${until.toISOString()}.`,
          figures: { setting: name, ends_at: until.toISOString() },
          page: 'health',
        },
      ];
    });
    // Another process may have the setting that this one lacks, or reach the address.
    const known = new Set<string>(ends.flatMap(({ name, until }) => (until ? [name] : [])));
    return { findings, stays: ({ subject }) => !known.has(subject) };
  }

  async #accountsAmong(tenants: readonly string[]): Promise<ReadonlySet<string>> {
    const ids = [...new Set(tenants)];
    const known = new Set<string>();
    for (let from = 0; from < ids.length; from += PAGE) {
      const where = { id: In(ids.slice(from, from + PAGE)) };
      const found = await this.dataSource.manager.find(Account, { select: { id: true }, where });
      for (const { id } of found) known.add(id);
    }
    return known;
  }
}

/** @param read the next page after a row, of at most {@link PAGE} */
async function allPages<Row>(
  read: (last?: Row) => Promise<Row[]>,
): Promise<{ readonly rows: readonly Row[]; readonly isCut: boolean }> {
  const rows: Row[] = [];
  for (;;) {
    const page = await read(rows.at(-1));
    rows.push(...page);
    if (page.length < PAGE) return { rows, isCut: false };
    if (rows.length > MOST_FINDINGS) return { rows, isCut: true };
  }
}

function shareOf({ failures, submits }: { readonly failures: number; readonly submits: number }) {
  return Math.min(1, failures / Math.max(1, submits));
}

/** Percent with one digit after the point. */
function percentOf(share: number): number {
  return Math.round(share * 1_000) / 10;
}

/** Such as `16 min`. */
function lengthOf(ms: number): string {
  if (ms < 2 * MINUTE) return `${Math.round(ms / 1_000)} s`;
  if (ms < 2 * HOUR) return `${Math.round(ms / MINUTE)} min`;
  return ms < 2 * DAY ? `${Math.round(ms / HOUR)} h` : `${Math.round(ms / DAY)} days`;
}

/** The address of a page with its filter; an empty value is left out. */
export function pageOf(page: string, query: Readonly<Record<string, string>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  return `${page}?${new URLSearchParams(given).toString()}`;
}
