import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import {
  type DueWork,
  type LaneTask,
  type LeasedLane,
  type WorkQueue,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type FindOptionsWhere, IsNull, LessThanOrEqual, MoreThan, Not } from 'typeorm';
import { causeOf } from '../http/log-redaction.js';
import { WebhookClient } from '../webhooks/webhook-client.js';
import { AlertChannels, type OpenChannel } from './alert-channels.js';
import { AlertMail } from './alert-mail.js';
import { Alerts, type AlertView } from './alerts.js';
import { AlertEntity, AlertNoticeEntity } from './alerts.tables.js';
import { mailOf, slackOf, webhookOf } from './notice-texts.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits after each failed attempt, in milliseconds; after the last one the notice is given up. */
const SCHEDULE = [5 * SECOND, MINUTE, 10 * MINUTE, HOUR, 4 * HOUR];

/** A notice that is due later than its wait and this time was written before the clock was set back. */
const TOLERANCE = 5 * SECOND;

/** Notices of a channel that are read at once. */
const PAGE = 50;

/** Sends notices to the channels of operators: each channel is a lane, so one process sends to it. */
@Injectable()
export class AlertNotices implements WorkQueue, OnModuleInit {
  readonly name = 'alert-channel';
  /** Short: a takeover may only repeat a notice, which receivers recognise by its id. */
  readonly lease = 10 * SECOND;
  readonly #logger = new Logger('Alerts');

  constructor(
    private readonly queues: WorkQueues,
    private readonly messaging: MessagingService,
    private readonly channels: AlertChannels,
    private readonly alerts: Alerts,
    private readonly client: WebhookClient,
    private readonly mail: AlertMail,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  onModuleInit(): void {
    this.alerts.onNotice = this.queues.add(this);
  }

  async due(horizon: number): Promise<readonly DueWork[]> {
    const now = this.clock.now();
    const rows = await this.dataSource.manager
      .createQueryBuilder(AlertNoticeEntity, 'notice')
      .select('notice.channelId', 'key')
      .addSelect('MIN(notice.dueAt)', 'due')
      .where(this.#dueUntil(now, now + horizon))
      .groupBy('notice.channelId')
      .getRawMany<{ key: string; due: string | number }>();
    return rows.map(({ key, due }) => {
      const dueIn = Number(due) - now;
      return { key, dueIn: dueIn > horizon ? 0 : dueIn };
    });
  }

  start(leased: LeasedLane, channel: string): LaneTask {
    const stop = new AbortController();
    return {
      underWay: 'a notice of an alert',
      nudge: () => undefined,
      pump: async () => {
        while (!leased.stopping.aborted && leased.valid)
          if (!(await this.#sendDue(channel, leased, stop.signal))) return;
      },
      abort: () => stop.abort(),
      nextDueIn: async () => {
        const where = { channelId: channel, dueAt: Not(IsNull()) };
        const next = await this.dataSource.manager.findOne(AlertNoticeEntity, {
          where,
          order: { dueAt: 'ASC' },
        });
        // The clock may be set back meanwhile.
        return next?.dueAt ? Math.min(MINUTE, next.dueAt.getTime() - this.clock.now()) : Infinity;
      },
    };
  }

  /** @returns whether there may be more */
  async #sendDue(id: string, leased: LeasedLane, stop: AbortSignal): Promise<boolean> {
    const now = this.clock.now();
    const notices = await this.dataSource.manager.find(AlertNoticeEntity, {
      where: this.#dueUntil(now, now).map((due) => ({ ...due, channelId: id })),
      order: { id: 'ASC' },
      take: PAGE,
    });
    const channel = notices.length > 0 ? await this.channels.open(id) : undefined;
    if (!channel) return false;
    for (const notice of notices) {
      if (leased.stopping.aborted || !leased.valid) return false;
      await this.#send(channel, notice, stop);
    }
    return true;
  }

  /** Notices that are due until then, and those whose time is of a clock that was set back. */
  #dueUntil(now: number, until: number): FindOptionsWhere<AlertNoticeEntity>[] {
    const waits = [0, ...SCHEDULE].map((wait, attempts) => ({
      attempts,
      dueAt: MoreThan(new Date(now + wait + TOLERANCE)),
    }));
    return [{ dueAt: LessThanOrEqual(new Date(until)) }, ...waits];
  }

  async #send(channel: OpenChannel, notice: AlertNoticeEntity, stop: AbortSignal): Promise<void> {
    const error = await this.#attempt(channel, notice, stop);
    if (stop.aborted) return;
    const attempts = notice.attempts + 1;
    const now = this.clock.now();
    const wait = SCHEDULE[notice.attempts];
    await this.messaging.transaction((manager) =>
      manager.update(
        AlertNoticeEntity,
        { id: notice.id },
        {
          attempts,
          error,
          dueAt: error === null || wait === undefined ? null : new Date(now + wait),
          deliveredAt: error === null ? new Date(now) : null,
        },
      ),
    );
    // A notice of this alert is due to the same channel, too: once in the pause of its rule.
    if (error !== null && wait === undefined) await this.#raise(channel, error);
    if (error !== null)
      this.#logger.warn({
        message: 'notice of an alert not delivered',
        channel: channel.id,
        error,
      });
  }

  /** @returns why it was not delivered; `null`: it was */
  async #attempt(
    { id, kind, target, secret }: OpenChannel,
    notice: AlertNoticeEntity,
    stop: AbortSignal,
  ): Promise<string | null> {
    const alert = await this.#alertOf(notice);
    if (kind === 'email') {
      try {
        await this.mail.send(target, notice.id, mailOf(alert));
        return null;
      } catch (error) {
        return causeOf(error).slice(0, 64);
      }
    }
    const body = kind === 'slack' ? slackOf(alert) : webhookOf(alert, notice.createdAt);
    const endpoint = { id, url: target, secret, previousSecrets: null, previousUntil: null };
    const delivery = {
      position: 0,
      id: notice.id,
      messageId: notice.alertId ?? notice.id,
      sequence: 1,
      type: `alert.${notice.state}`,
      payload: JSON.stringify(body),
      attempts: notice.attempts,
      revision: 0,
    };
    const outcome = await this.client.post({ ...endpoint, failingSince: null }, delivery, stop);
    if (outcome.error === null) return null;
    return outcome.status === null ? outcome.error : `${outcome.error} ${outcome.status}`;
  }

  /** As it was when the notice was written: a later end has a notice of its own. */
  async #alertOf({ alertId, state }: AlertNoticeEntity): Promise<AlertView | undefined> {
    if (alertId === null) return undefined;
    const alert = await this.dataSource.manager.findOneByOrFail(AlertEntity, { id: alertId });
    return this.alerts.viewOf(
      state === 'raised' ? Object.assign({}, alert, { resolvedAt: null }) : alert,
    );
  }

  async #raise({ id, kind }: OpenChannel, error: string): Promise<void> {
    await this.alerts.raise({
      kind: 'notice_undelivered',
      subject: id,
      detail: `A notice to the channel ${id} (${kind}) was given up after ${SCHEDULE.length + 1} attempts: ${error}.`,
      figures: { channel: id, kind, error },
      page: 'alerts',
    });
  }
}
