import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { type Also, forUpdate, lockAccount } from '../accounts/accounts.service.js';
import { randomBase62 } from '../accounts/credentials.js';
import { ApiError, invalidField, invalidFields } from '../http/api-error.js';
import { milliseconds } from '../settings/durations.js';
import { duration } from '../settings/parsers.js';
import {
  ALERT_KIND_NAMES,
  type AlertKind,
  isAlertKind,
  kindOf,
  type SettingsOf,
  writtenSettings,
} from './alert-kinds.js';
import { AlertChannelEntity, AlertRuleEntity } from './alerts.tables.js';

const MOST_RULES = 100;

const pauseOf = duration(60_000, 14 * 86_400_000);

/** A rule as it is evaluated. */
export interface AlertRule<Kind extends AlertKind = AlertKind> {
  /** `rul_…`; the kind of a rule that is there by default. */
  readonly id: string;
  readonly kind: Kind;
  /** Of one account; `null`: of all. */
  readonly accountId: string | null;
  /** As written, by name, each. */
  readonly settings: Readonly<Record<string, string>>;
  /** Milliseconds without a second notice of the same alert. */
  readonly pause: number;
  /** Ids of channels; `null`: those that the kind tells. */
  readonly channels: readonly string[] | null;
  readonly enabled: boolean;
}

/** `undefined`: the rule keeps it. */
export interface AlertRuleChange {
  /** By name, as written; an empty text restores the default. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Such as `6h`. */
  readonly pause?: string | undefined;
  readonly channels?: readonly string[] | null | undefined;
  readonly enabled?: boolean | undefined;
}

export interface NewAlertRule extends AlertRuleChange {
  readonly kind: string;
  readonly accountId?: string | null | undefined;
}

/** Settings of a rule, parsed. They were checked when they were written. */
export function settingsOf<Kind extends AlertKind>({
  kind,
  settings,
}: Pick<AlertRule<Kind>, 'kind' | 'settings'>): SettingsOf<Kind> {
  const parsed = Object.entries(kindOf(kind).settings).map(([name, setting]) => [
    name,
    setting.parse(settings[name] ?? setting.default),
  ]);
  return Object.fromEntries(parsed) as SettingsOf<Kind>;
}

/** The rules of alerts: one of each kind by default, and those that operators add. */
@Injectable()
export class AlertRules {
  constructor(
    private readonly messaging: MessagingService,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Those of each kind by default, as operators have changed them, then the others, oldest first. */
  async list(manager: EntityManager = this.dataSource.manager): Promise<AlertRule[]> {
    const rows = await manager.find(AlertRuleEntity, { order: { createdAt: 'ASC', id: 'ASC' } });
    const byId = new Map(rows.map((row) => [row.id, row]));
    const usual = ALERT_KIND_NAMES.map((kind) => byId.get(kind) ?? usualRow(kind));
    const added = rows.filter(({ id }) => !isAlertKind(id));
    // A version that lacks a kind leaves its rules alone.
    return [...usual, ...added].filter(({ kind }) => isAlertKind(kind)).map(ruleOf);
  }

  /** @throws ApiError 404 */
  async find(id: string, manager?: EntityManager): Promise<AlertRule> {
    const found = (await this.list(manager)).find((rule) => rule.id === id);
    if (found) return found;
    throw new ApiError('not_found', `There is no rule ${id.slice(0, 40)}`);
  }

  /** @throws ApiError 404 for an account, 422 naming each wrong field */
  async add({ kind, accountId = null, ...change }: NewAlertRule, also: Also): Promise<AlertRule> {
    if (!isAlertKind(kind))
      throw invalidField('kind', `must be one of ${ALERT_KIND_NAMES.join(', ')}`);
    if (kindOf(kind).lapses !== undefined)
      throw invalidField('kind', 'has one rule alone, which is there by default');
    return this.messaging.transaction(async (manager) => {
      if (accountId !== null) await lockAccount(manager, accountId);
      if ((await manager.count(AlertRuleEntity)) >= MOST_RULES)
        throw invalidField('kind', `is one rule too many: at most ${MOST_RULES}; remove one first`);
      const id = `rul_${randomBase62(22)}`;
      const createdAt = new Date(this.clock.now());
      const row = await changed(
        Object.assign({}, usualRow(kind), { id, accountId, createdAt }),
        change,
        manager,
      );
      await manager.insert(AlertRuleEntity, row);
      await also(manager, id);
      return ruleOf(row);
    });
  }

  /** @throws ApiError 404, 422 naming each wrong field */
  change(id: string, change: AlertRuleChange, also: Also): Promise<AlertRule> {
    return this.messaging.transaction(async (manager) => {
      const rule = await this.find(id, manager);
      const before = (await manager.findOneBy(AlertRuleEntity, { id })) ?? usualRow(rule.kind);
      const createdAt = isAlertKind(id) ? new Date(this.clock.now()) : before.createdAt;
      const row = await changed(Object.assign({}, before, { createdAt }), change, manager);
      await manager.save(AlertRuleEntity, row);
      await also(manager, id);
      return ruleOf(row);
    });
  }

  /** The rule of a kind that is there by default is as it was in the beginning. @throws ApiError 404 */
  remove(id: string, also: Also): Promise<void> {
    return this.messaging.transaction(async (manager) => {
      await this.find(id, manager);
      await manager.delete(AlertRuleEntity, { id });
      await also(manager, id);
    });
  }
}

function usualRow(kind: AlertKind): AlertRuleEntity {
  return {
    id: kind,
    kind,
    accountId: null,
    settings: {},
    pause: milliseconds(kindOf(kind).pause),
    channels: null,
    enabled: 1,
    createdAt: new Date(0),
  };
}

function ruleOf(row: AlertRuleEntity): AlertRule {
  const { id, accountId, settings, pause, channels, enabled } = row;
  const kind = row.kind as AlertKind;
  return {
    id,
    kind,
    accountId,
    settings: writtenSettings(kind, settings),
    pause,
    channels,
    enabled: enabled === 1,
  };
}

/** @throws ApiError 422 naming each wrong field */
async function changed(
  row: AlertRuleEntity,
  { settings = {}, pause, channels, enabled }: AlertRuleChange,
  manager: EntityManager,
): Promise<AlertRuleEntity> {
  const known = kindOf(row.kind as AlertKind).settings;
  const errors = Object.entries(settings).flatMap(([name, written]) => {
    const setting = known[name];
    const path = `settings.${name}`;
    if (!setting)
      return {
        path,
        message: `is no setting of ${row.kind}; it has ${listOf(Object.keys(known))}`,
      };
    const problem = problemOf(() => setting.parse(written || setting.default));
    return problem === undefined ? [] : { path, message: problem };
  });
  const wrongPause = pause === undefined ? undefined : problemOf(() => pauseOf(pause));
  if (wrongPause !== undefined) errors.push({ path: 'pause', message: wrongPause });
  errors.push(...(await wrongChannels(channels ?? [], manager)));
  if (errors.length > 0) throw invalidFields(errors);
  const own = Object.entries({ ...row.settings, ...settings }).filter(([, written]) => written);
  return Object.assign({}, row, {
    settings: Object.fromEntries(own),
    pause: pause === undefined ? row.pause : pauseOf(pause),
    channels: channels === undefined ? row.channels : channels,
    enabled: enabled === undefined ? row.enabled : Number(enabled),
  });
}

async function wrongChannels(ids: readonly string[], manager: EntityManager) {
  if (ids.length === 0) return [];
  // Locked, so that none is removed meanwhile.
  const known = await manager.find(AlertChannelEntity, {
    select: { id: true },
    order: { id: 'ASC' },
    ...forUpdate(manager),
  });
  return ids.flatMap((id, index) =>
    known.some((channel) => channel.id === id)
      ? []
      : {
          path: `channels[${index}]`,
          message: 'is no channel; `dundun alerts channel list` has them',
        },
  );
}

function problemOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
