import { Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { AlertChannels, type ChannelView } from '../alerts/alert-channels.js';
import { ALERT_KIND_NAMES, kindOf } from '../alerts/alert-kinds.js';
import { type AlertRule, AlertRules } from '../alerts/alert-rules.js';
import { Alerts, type AlertView } from '../alerts/alerts.js';
import { Choice, Field, Flag, isText, Text } from '../http/fields.js';
import { JsonBody, ValidQuery } from '../http/request.decorators.js';
import { isObject, Rule } from '../http/validation.js';
import { type Actor, Audit } from './audit.js';
import { listedOf, PortalQuery } from './portal.dto.js';
import {
  ALERT_CHANNELS,
  type AlertChannelName,
  type AlertChannelRow,
  type AlertRow,
  type AlertRuleList,
  type AlertRuleRow,
  type AlertRuleUpdate,
  type CreatedAlertChannel,
  type Listed,
  type NewAlertChannel,
  type NewAlertRuleBody,
} from './portal-api.js';
import { PortalController } from './portal-controller.js';
import { PortalAccess } from './portal.guard.js';
import { By, Current } from './portal-request.js';
import type { SignedIn } from './sign-in/sessions.service.js';

/** Longest text of a setting. */
const LONGEST = 100;

class AlertsQuery extends PortalQuery {
  @Choice(['raised', 'resolved'], { optional: true }) readonly state?: 'raised' | 'resolved';
}

class RuleChangeBody implements AlertRuleUpdate {
  @Field(
    { type: 'object', optional: true },
    Rule((value) =>
      isObject(value) && Object.values(value).every((one) => isText(one, LONGEST))
        ? undefined
        : `must be an object of texts of at most ${LONGEST} characters`,
    ),
  )
  readonly settings?: Readonly<Record<string, string>>;

  @Text({ optional: true, minLength: 1, maxLength: LONGEST }) readonly pause?: string;

  @Field(
    { type: 'array', optional: true },
    Rule((value) =>
      value === null || (Array.isArray(value) && value.every((one) => isText(one, LONGEST)))
        ? undefined
        : 'must be null or a list of ids',
    ),
  )
  readonly channels?: readonly string[] | null;

  @Flag({ optional: true }) readonly enabled?: boolean;
}

class NewRuleBody extends RuleChangeBody implements NewAlertRuleBody {
  @Text({ minLength: 1, maxLength: 32 }) readonly kind!: string;
  @Text({ optional: true, minLength: 1, maxLength: 32 }) readonly accountId?: string;
}

class NewChannelBody implements NewAlertChannel {
  @Choice(ALERT_CHANNELS) readonly kind!: AlertChannelName;
  @Text({ minLength: 1, maxLength: 2_048 }) readonly target!: string;
}

/** Alerts of the chosen account; of all accounts and of the gateway for an operator who has chosen none. */
@PortalController('alerts')
@PortalAccess('viewer of any')
export class PortalAlertsController {
  constructor(private readonly alerts: Alerts) {}

  @Get()
  async list(
    @Current() { account }: SignedIn,
    @ValidQuery(AlertsQuery) { state, ...page }: AlertsQuery,
  ): Promise<Listed<AlertRow>> {
    return listedOf(
      await this.alerts.list({ ...page, account: account?.id ?? null, state }),
      alertOf,
    );
  }
}

@PortalController('alert-rules')
@PortalAccess('operator')
export class AlertRulesController {
  constructor(
    private readonly rules: AlertRules,
    private readonly channels: AlertChannels,
    private readonly audit: Audit,
  ) {}

  @Get()
  async list(): Promise<AlertRuleList> {
    return {
      data: (await this.rules.list()).map(ruleOf),
      kinds: ALERT_KIND_NAMES.filter((kind) => kindOf(kind).lapses === undefined).map((kind) => {
        return { kind, title: kindOf(kind).title };
      }),
      channels: (await this.channels.list()).map(channelOf),
    };
  }

  @Post()
  async add(@By() actor: Actor, @JsonBody(NewRuleBody) body: NewRuleBody): Promise<AlertRuleRow> {
    const of = { ...actor, accountId: body.accountId ?? null };
    return ruleOf(await this.rules.add(body, this.audit.also(of, 'alert_rule.added')));
  }

  @Patch(':id')
  async change(
    @By() actor: Actor,
    @Param('id') id: string,
    @JsonBody(RuleChangeBody) change: RuleChangeBody,
  ): Promise<AlertRuleRow> {
    const also = this.audit.also(actor, 'alert_rule.changed', id);
    return ruleOf(await this.rules.change(id, change, also));
  }

  @Delete(':id')
  @HttpCode(204)
  async remove(@By() actor: Actor, @Param('id') id: string): Promise<void> {
    await this.rules.remove(id, this.audit.also(actor, 'alert_rule.removed', id));
  }
}

@PortalController('alert-channels')
@PortalAccess('operator')
export class AlertChannelsController {
  constructor(
    private readonly channels: AlertChannels,
    private readonly audit: Audit,
  ) {}

  @Post()
  async add(
    @By() actor: Actor,
    @JsonBody(NewChannelBody) { kind, target }: NewChannelBody,
  ): Promise<CreatedAlertChannel> {
    const also = this.audit.also(actor, 'alert_channel.added');
    const { secret, ...added } = await this.channels.add(kind, target, also);
    return { ...channelOf(added), secret };
  }

  @Post(':id/test')
  @HttpCode(204)
  async test(@By() actor: Actor, @Param('id') id: string): Promise<void> {
    await this.channels.test(id, this.audit.also(actor, 'alert_channel.tested', id));
  }

  @Delete(':id')
  @HttpCode(204)
  async remove(@By() actor: Actor, @Param('id') id: string): Promise<void> {
    await this.channels.remove(id, this.audit.also(actor, 'alert_channel.removed', id));
  }
}

function alertOf(alert: AlertView): AlertRow {
  const { id, kind, title, state, accountId, subject, detail, url } = alert;
  return {
    id,
    kind,
    title,
    state,
    accountId,
    subject,
    detail,
    raisedAt: alert.raisedAt.toISOString(),
    resolvedAt: alert.resolvedAt?.toISOString() ?? null,
    notifiedAt: alert.notifiedAt?.toISOString() ?? null,
    url,
  };
}

function ruleOf({
  id,
  kind,
  accountId,
  settings,
  pause,
  channels,
  enabled,
}: AlertRule): AlertRuleRow {
  const { title, tells, settings: known } = kindOf(kind);
  return {
    id,
    kind,
    title,
    accountId,
    settings: Object.entries(known).map(([name, { description }]) => {
      return { name, description, value: settings[name] ?? '' };
    }),
    pause: `${pause / 60_000}m`,
    channels,
    tellsAccount: tells === 'account',
    enabled,
  };
}

function channelOf({ id, kind, target, createdAt, error }: ChannelView): AlertChannelRow {
  return { id, kind, target, createdAt: createdAt.toISOString(), error };
}
