import { type Clock, MESSAGING_CLOCK, MessagingService, type Page } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { hash } from 'node:crypto';
import { DataSource, type EntityManager, In, IsNull, LessThan, MoreThan, Not } from 'typeorm';
import { AccountEvents } from '../accounts/account-events.js';
import { ENVIRONMENT, type Environment } from '../config/environment.js';
import { invalidField } from '../http/api-error.js';
import type { PageQuery } from '../http/page.dto.js';
import { type AlertKind, isAlertKind, kindOf } from './alert-kinds.js';
import { type AlertRule, AlertRules } from './alert-rules.js';
import {
  AlertChannelEntity,
  AlertEntity,
  type AlertFigures,
  AlertNoticeEntity,
  LONGEST_DETAIL,
  LONGEST_PAGE,
  LONGEST_SUBJECT,
  type SeenByAlert,
} from './alerts.tables.js';

/** What is wrong now. One alert of a rule, account and subject is raised at a time. */
export interface Finding {
  /** Such as the name of a carrier; never an address of a person or a secret. */
  readonly subject: string;
  /** @default the alert is of the whole gateway */
  readonly account?: string | null | undefined;
  /** What was seen, in one sentence. */
  readonly detail: string;
  /** @default none */
  readonly figures?: AlertFigures | undefined;
  /** The time that the figures are of. @default a state, not a time */
  readonly window?: { readonly since: Date; readonly until: Date } | undefined;
  /** The page of the portal that shows it, with its filter, such as `insights?country=NG`. */
  readonly page: string;
  /**
   * Type of the event that tells the account of the same by itself: a webhook that gets it gets no event of this alert.
   * @default none
   */
  readonly toldBy?: string | undefined;
}

export interface RaisedAlert extends Finding {
  readonly kind: AlertKind;
}

export type AlertState = 'raised' | 'resolved';

export interface AlertView extends Omit<AlertEntity, 'key' | 'raisedKey' | 'page'> {
  readonly title: string;
  /** The title once it is resolved. */
  readonly over: string;
  readonly state: AlertState;
  /** Of the page that shows it. */
  readonly url: string;
}

export interface AlertFilter extends PageQuery {
  /** `null`: of all accounts and of the gateway. */
  readonly account: string | null;
  readonly state?: AlertState | undefined;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Alerts: raised once, notified at most once in a pause, resolved once. */
@Injectable()
export class Alerts {
  #wake: (channel: string) => void = () => undefined;

  constructor(
    private readonly messaging: MessagingService,
    private readonly rules: AlertRules,
    private readonly events: AccountEvents,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'PUBLIC_URL'>,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  /** Called after the commit of a notice, with the id of its channel. */
  set onNotice(wake: (channel: string) => void) {
    this.#wake = wake;
  }

  /**
   * Raises an alert of a kind that no watch finds by itself, or says again that it holds. Repeat it while it holds:
   * it is resolved once it was not raised for as long as its kind `lapses`, or by {@link resolve}. Nothing happens
   * while an operator has switched the rule of the kind off.
   * @param manager a transaction to join @default one of its own
   */
  async raise({ kind, ...finding }: RaisedAlert, manager?: EntityManager): Promise<void> {
    await this.#in(async (own) => {
      const rule = await this.rules.find(kind, own);
      return rule.enabled ? this.put(own, rule, finding) : [];
    }, manager);
  }

  /** Resolves the alert that was raised with this kind, subject and account; nothing where there is none. */
  async resolve(
    { kind, ...of }: Pick<RaisedAlert, 'kind' | 'subject' | 'account'>,
    manager?: EntityManager,
  ): Promise<void> {
    await this.#in(async (own) => {
      const rule = await this.rules.find(kind, own);
      const raised = await own.findOneBy(AlertEntity, { raisedKey: keyOf(rule.id, of) });
      return raised ? this.end(own, rule, raised) : [];
    }, manager);
  }

  /** Raises what is not raised yet, and notes what was seen now. @returns ids of channels with a notice */
  async put(manager: EntityManager, rule: AlertRule, found: Finding): Promise<string[]> {
    const now = new Date(this.clock.now());
    const key = keyOf(rule.id, found);
    const seen = { ...seenOf(found), seenAt: now };
    const known = await manager.findOneBy(AlertEntity, { raisedKey: key });
    if (known) {
      // The receivers of the alert get its end, too.
      const { toldBy } = known.seen;
      seen.seen = { ...seen.seen, toldBy };
      await manager.update(AlertEntity, { id: known.id }, seen);
      // It came back within a pause that is over by now.
      const isQuiet = known.notifiedAt === null && !(await this.#isPaused(manager, rule, key));
      return isQuiet ? this.#notify(manager, rule, Object.assign({}, known, seen)) : [];
    }
    const alert: AlertEntity = {
      id: this.clock.id(),
      rule: rule.id,
      kind: rule.kind,
      accountId: found.account ?? null,
      subject: found.subject.slice(0, LONGEST_SUBJECT),
      key,
      raisedKey: key,
      ...seen,
      raisedAt: now,
      resolvedAt: null,
      notifiedAt: null,
    };
    const insert = manager.createQueryBuilder().insert().into(AlertEntity).values(alert);
    // Another process may have raised it meanwhile.
    await insert.orIgnore().updateEntity(false).execute();
    const isOwn = await manager.existsBy(AlertEntity, { id: alert.id });
    return isOwn && !(await this.#isPaused(manager, rule, key))
      ? this.#notify(manager, rule, alert)
      : [];
  }

  /** @returns ids of channels with a notice */
  async end(manager: EntityManager, rule: AlertRule, alert: AlertEntity): Promise<string[]> {
    const resolvedAt = new Date(this.clock.now());
    const { affected } = await manager.update(
      AlertEntity,
      { id: alert.id, resolvedAt: IsNull() },
      { resolvedAt, raisedKey: null },
    );
    if (affected === 0 || alert.notifiedAt === null) return [];
    return this.#tell(manager, rule, Object.assign({}, alert, { resolvedAt }));
  }

  /** Those that a rule has raised. */
  raisedBy(rule: string): Promise<AlertEntity[]> {
    return this.dataSource.manager.findBy(AlertEntity, { resolvedAt: IsNull(), rule });
  }

  /** Ids of those that other rules have raised. */
  async raisedByOthers(rules: readonly AlertRule[]): Promise<string[]> {
    const found = await this.dataSource.manager.find(AlertEntity, {
      select: { id: true },
      where: { resolvedAt: IsNull(), rule: Not(In(rules.map(({ id }) => id))) },
    });
    return found.map(({ id }) => id);
  }

  /** Newest first. @throws ApiError 422 on `cursor` */
  async list({ account, state, cursor, limit }: AlertFilter): Promise<Page<AlertView>> {
    if (cursor !== undefined && !UUID.test(cursor))
      throw invalidField('cursor', 'must be the next_cursor of the page before');
    const found = await this.dataSource.manager.find(AlertEntity, {
      where: {
        ...(account !== null && { accountId: account }),
        ...(state && { resolvedAt: state === 'raised' ? IsNull() : Not(IsNull()) }),
        ...(cursor !== undefined && { id: LessThan(cursor) }),
      },
      order: { id: 'DESC' },
      take: limit + 1,
    });
    const data = found.slice(0, limit).map((alert) => this.viewOf(alert));
    return { data, nextCursor: found.length > limit ? (data.at(-1)?.id ?? null) : null };
  }

  viewOf({ key: _key, raisedKey: _raised, page, ...alert }: AlertEntity): AlertView {
    // A later version may have raised it.
    const { title, over } = isAlertKind(alert.kind)
      ? kindOf(alert.kind)
      : { title: alert.kind, over: alert.kind };
    const state = alert.resolvedAt === null ? 'raised' : 'resolved';
    return { ...alert, state, title, over, url: this.#urlOf(alert.accountId, page) };
  }

  #urlOf(account: string | null, page: string): string {
    const base = this.environment.PUBLIC_URL.replace(/\/+$/, '');
    return `${base}/portal/${account === null ? '' : `a/${account}/`}${page}`;
  }

  async #isPaused(manager: EntityManager, rule: AlertRule, key: string): Promise<boolean> {
    const since = new Date(this.clock.now() - rule.pause);
    return manager.existsBy(AlertEntity, { key, notifiedAt: MoreThan(since) });
  }

  async #notify(manager: EntityManager, rule: AlertRule, alert: AlertEntity): Promise<string[]> {
    const notifiedAt = new Date(this.clock.now());
    await manager.update(AlertEntity, { id: alert.id }, { notifiedAt });
    return this.#tell(manager, rule, Object.assign({}, alert, { notifiedAt }));
  }

  /** Writes the event of its account, and a notice for each channel of its rule. */
  async #tell(manager: EntityManager, rule: AlertRule, alert: AlertEntity): Promise<string[]> {
    const view = this.viewOf(alert);
    const { accountId: account, state } = view;
    const { toldBy } = alert.seen;
    if (account !== null)
      await this.events.record(
        [{ account, subject: view.id, type: `alert.${state}`, data: alertDataOf(view), toldBy }],
        manager,
      );
    const channels = await channelsOf(manager, rule);
    const now = new Date(this.clock.now());
    const notices = channels.map(({ id: channelId }) => ({
      id: this.clock.id(),
      channelId,
      alertId: view.id,
      state,
      dueAt: now,
      attempts: 0,
      createdAt: now,
    }));
    if (notices.length > 0) await manager.insert(AlertNoticeEntity, notices);
    return channels.map(({ id }) => id);
  }

  async #in(
    work: (manager: EntityManager) => Promise<readonly string[]>,
    manager?: EntityManager,
  ): Promise<void> {
    if (manager) return void (await work(manager));
    this.wake(await this.messaging.transaction(work));
  }

  /** Call it after the commit. */
  wake(channels: readonly string[]): void {
    for (const channel of new Set(channels)) this.#wake(channel);
  }
}

function channelsOf(
  manager: EntityManager,
  { kind, channels }: AlertRule,
): Promise<Pick<AlertChannelEntity, 'id'>[]> {
  if (channels === null && kindOf(kind).tells === 'account') return Promise.resolve([]);
  return manager.find(AlertChannelEntity, {
    select: { id: true },
    where: channels === null ? {} : { id: In([...channels]) },
    order: { id: 'ASC' },
  });
}

function keyOf(rule: string, { account = null, subject }: Pick<Finding, 'account' | 'subject'>) {
  const named = [rule, account, subject.slice(0, LONGEST_SUBJECT)];
  return hash('sha256', JSON.stringify(named), 'hex');
}

function seenOf({ detail, figures = {}, window, page, toldBy }: Finding) {
  const seen: SeenByAlert = {
    figures,
    window: window
      ? { since: window.since.toISOString(), until: window.until.toISOString() }
      : null,
    toldBy,
  };
  return { detail: detail.slice(0, LONGEST_DETAIL), seen, page: page.slice(0, LONGEST_PAGE) };
}

/** `data` of the callbacks `alert.*`, and of the notices of webhooks. */
export function alertDataOf(alert: AlertView) {
  const { id, kind, title, state, accountId, subject, detail, seen, url } = alert;
  return {
    alert_id: id,
    kind,
    state,
    title,
    account_id: accountId,
    subject,
    detail,
    figures: seen.figures,
    window: seen.window,
    raised_at: alert.raisedAt.toISOString(),
    resolved_at: alert.resolvedAt?.toISOString() ?? null,
    url,
  };
}
