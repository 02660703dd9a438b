import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { parseMailbox } from '@dundun/messaging/values';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Also } from '../accounts/accounts.service.js';
import { ENVIRONMENT, type Environment } from '../config/environment.js';
import { ApiError, invalidField } from '../http/api-error.js';
import { UnreadableSecretError } from '../secrets/secret-keys.js';
import { Secrets } from '../secrets/secrets.js';
import { checkWebhookUrl, originOf } from '../webhooks/webhook-address.js';
import { WEBHOOK_OPTIONS, type WebhookOptions } from '../webhooks/webhook-options.js';
import { newWebhookSecret } from '../webhooks/webhook-signature.js';
import {
  ALERT_SECRETS,
  AlertChannelEntity,
  type AlertChannelKind,
  AlertNoticeEntity,
  AlertRuleEntity,
  CHANNEL_KINDS,
} from './alerts.tables.js';

const MOST_CHANNELS = 20;

/** A channel with what its requests need. */
export interface OpenChannel {
  readonly id: string;
  readonly kind: AlertChannelKind;
  /** Address of e-mail, or URL. */
  readonly target: string;
  readonly secret: string;
}

export interface ChannelView {
  readonly id: string;
  readonly kind: AlertChannelKind;
  /** An address of e-mail, or scheme, host and port of the URL: the rest of it may be a secret; `unreadable`: see `error`. */
  readonly target: string;
  readonly createdAt: Date;
  /** Error of the last notice; `null`: delivered, or none yet. */
  readonly error: string | null;
}

/** Where operators are notified of alerts. */
@Injectable()
export class AlertChannels {
  constructor(
    private readonly messaging: MessagingService,
    private readonly secrets: Secrets,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(WEBHOOK_OPTIONS) private readonly options: WebhookOptions,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'ALERTS_SMTP'>,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  /**
   * @returns with the secret that signs the requests of a webhook, shown once
   * @throws ApiError 422 for a wrong kind or target, or one channel too many
   */
  async add(
    written: string,
    target: string,
    also: Also,
  ): Promise<ChannelView & { readonly secret: string | null }> {
    const kind = CHANNEL_KINDS.find((one) => one === written);
    if (!kind) throw invalidField('kind', `must be one of ${CHANNEL_KINDS.join(', ')}`);
    if (kind === 'email') this.#checkEmail(target);
    else checkWebhookUrl(target, this.options);
    const id = this.clock.id();
    const secret = newWebhookSecret();
    const createdAt = new Date(this.clock.now());
    await this.messaging.transaction(async (manager) => {
      if ((await manager.count(AlertChannelEntity)) >= MOST_CHANNELS)
        throw invalidField(
          'kind',
          `is one channel too many: at most ${MOST_CHANNELS}; remove one first`,
        );
      await manager.insert(AlertChannelEntity, {
        id,
        kind,
        target: this.secrets.seal(ALERT_SECRETS.target, id, target),
        secret: this.secrets.seal(ALERT_SECRETS.secret, id, secret),
        createdAt,
      });
      await also(manager, id);
    });
    const view = { id, kind, target: shownTarget(kind, target), createdAt, error: null };
    return { ...view, secret: kind === 'webhook' ? secret : null };
  }

  /** Oldest first. */
  async list(): Promise<ChannelView[]> {
    const { manager } = this.dataSource;
    const rows = await manager.find(AlertChannelEntity, { order: { id: 'ASC' } });
    return Promise.all(
      rows.map(async (row) => {
        const { id, kind, createdAt } = row;
        const last = await manager.findOne(AlertNoticeEntity, {
          where: { channelId: id },
          order: { id: 'DESC' },
        });
        return { id, kind, createdAt, error: last?.error ?? null, ...this.#shown(row) };
      }),
    );
  }

  /** Writes a notice that says that it is a test. @throws ApiError 404 */
  test(id: string, also: Also): Promise<void> {
    return this.messaging.transaction(async (manager) => {
      if (!(await manager.existsBy(AlertChannelEntity, { id: uuidOf(id) }))) throw unknown(id);
      const now = new Date(this.clock.now());
      await manager.insert(AlertNoticeEntity, {
        id: this.clock.id(),
        channelId: id,
        alertId: null,
        state: 'test',
        dueAt: now,
        attempts: 0,
        createdAt: now,
      });
      await also(manager, id);
    });
  }

  /** With its notices. @throws ApiError 404, 422 while a rule names it */
  remove(id: string, also: Also): Promise<void> {
    return this.messaging.transaction(async (manager) => {
      const { affected } = await manager.delete(AlertChannelEntity, { id: uuidOf(id) });
      if (affected === 0) throw unknown(id);
      // After the delete, which waits for a rule that is about to name the channel.
      const rules = await manager.find(AlertRuleEntity, { select: { id: true, channels: true } });
      const naming = rules.filter(({ channels }) => channels?.includes(id));
      if (naming.length > 0)
        throw invalidField(
          'channel',
          `is named by the rules ${naming.map((rule) => rule.id).join(', ')}, which would notify one channel less or none; change their channels first`,
        );
      await manager.delete(AlertNoticeEntity, { channelId: id });
      await also(manager, id);
    });
  }

  /** `undefined`: it was removed. @throws UnreadableSecretError */
  async open(id: string): Promise<OpenChannel | undefined> {
    const row = await this.dataSource.manager.findOneBy(AlertChannelEntity, { id });
    return row ? this.#opened(row) : undefined;
  }

  /** Where no key opens it, the error says what to do. */
  #shown({ id, kind, target }: AlertChannelEntity): Pick<ChannelView, 'target'> {
    try {
      return { target: shownTarget(kind, this.secrets.open(ALERT_SECRETS.target, id, target)) };
    } catch (error) {
      if (!(error instanceof UnreadableSecretError)) throw error;
      const remedy = `${error.message}, or remove the channel and add it again`;
      return Object.assign({ target: 'unreadable' }, { error: remedy });
    }
  }

  #opened({ id, kind, target, secret }: AlertChannelEntity): OpenChannel {
    return {
      id,
      kind,
      target: this.secrets.open(ALERT_SECRETS.target, id, target),
      secret: this.secrets.open(ALERT_SECRETS.secret, id, secret),
    };
  }

  #checkEmail(target: string): void {
    if (parseMailbox(target)?.email !== target)
      throw invalidField('target', 'must be an address of e-mail such as ada@example.com');
    if (this.environment.ALERTS_SMTP === undefined)
      throw invalidField('kind', 'email needs ALERTS_SMTP, the relay that takes the e-mails');
  }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** PostgreSQL refuses to compare other texts with an id. @throws ApiError 404 */
function uuidOf(id: string): string {
  if (UUID.test(id)) return id;
  throw unknown(id);
}

function unknown(id: string): ApiError {
  return new ApiError('not_found', `There is no channel ${id.slice(0, 36)}`);
}

function shownTarget(kind: AlertChannelKind, target: string): string {
  return kind === 'email' ? target : originOf(target);
}
