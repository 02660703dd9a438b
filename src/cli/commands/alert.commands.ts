import { Option } from 'commander';
import { AlertChannels } from '../../alerts/alert-channels.js';
import { kindOf } from '../../alerts/alert-kinds.js';
import { type AlertRule, type AlertRuleChange, AlertRules } from '../../alerts/alert-rules.js';
import { Alerts, type AlertState } from '../../alerts/alerts.js';
import { CHANNEL_KINDS } from '../../alerts/alerts.tables.js';
import { invalidFields } from '../../http/api-error.js';
import type { OperatorCommand } from '../operator-command.js';
import { auditOf } from '../operator-gateway.js';

const MOST_ALERTS = 1_000;

interface ListOptions {
  readonly account?: string;
  readonly state: AlertState | 'all';
  readonly cursor?: string;
  readonly limit: string;
}

interface ChangeOptions {
  readonly set?: readonly string[];
  readonly pause?: string;
  readonly channel?: readonly string[];
}

interface NewRuleOptions extends ChangeOptions {
  readonly kind: string;
  readonly account?: string;
}

interface RuleOptions extends ChangeOptions {
  readonly rule: string;
  readonly on?: boolean;
  readonly off?: boolean;
}

export function addAlertCommands(alerts: OperatorCommand): void {
  alerts
    .subcommand('list', 'newest first')
    .option('--account <id>', 'of one account')
    .addOption(
      new Option('--state <state>', 'raised ones, or those of 90 days')
        .choices(['raised', 'resolved', 'all'])
        .default('raised'),
    )
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .addOption(new Option('--limit <count>', `at most ${MOST_ALERTS}`).default('100'))
    .runs(async (app, { account, state, cursor, limit: written }: ListOptions) => {
      const limit = Number(written);
      if (!Number.isInteger(limit) || limit < 1 || limit > MOST_ALERTS)
        throw invalidFields([
          { path: 'limit', message: `must be a whole number from 1 to ${MOST_ALERTS}` },
        ]);
      const page = await app.get(Alerts, { strict: false }).list({
        account: account ?? null,
        state: state === 'all' ? undefined : state,
        cursor,
        limit,
      });
      return {
        alerts: page.data.map(({ id, kind, state: now, accountId, subject, ...alert }) => ({
          id,
          kind,
          state: now,
          account: accountId,
          subject,
          detail: alert.detail,
          raisedAt: alert.raisedAt.toISOString(),
          resolvedAt: alert.resolvedAt?.toISOString() ?? null,
          url: alert.url,
        })),
        nextCursor: page.nextCursor,
      };
    });
  addRuleCommands(alerts.subcommand('rule', 'when alerts are raised'));
  addChannelCommands(alerts.subcommand('channel', 'where operators are notified'));
}

function addRuleCommands(rule: OperatorCommand): void {
  const withChange = (command: OperatorCommand): OperatorCommand =>
    command
      .option('--set <setting...>', 'such as window=30m; `name=` restores its default')
      .option('--pause <time>', 'no second notice of the same alert for so long, such as 6h')
      .option(
        '--channel <id...>',
        'the channels that it notifies, by id, instead of those of its kind; `usual` restores them',
      );
  const commandForOne = (name: string, description: string): OperatorCommand =>
    rule.subcommand(name, description).requiredOption('--rule <id>', 'the id of the rule');
  rule.subcommand('list', 'each kind has one by default').runs(async (app) => ({
    rules: (await app.get(AlertRules, { strict: false }).list()).map(rowOf),
  }));
  withChange(
    rule
      .subcommand('add', 'a further rule, such as one of an account')
      .requiredOption('--kind <kind>', 'as `rule list` has them')
      .option('--account <id>', 'of one account: the rule of all leaves it out'),
  ).runs(async (app, { kind, account, ...change }: NewRuleOptions) => {
    const also = auditOf(app, account ?? null, 'alert_rule.added');
    const rules = app.get(AlertRules, { strict: false });
    return rowOf(await rules.add({ kind, accountId: account, ...changeOf(change) }, also));
  });
  withChange(commandForOne('change', 'its settings, its pause, its channels'))
    .option('--on', 'switch it on')
    .option('--off', 'switch it off: its alerts are resolved')
    .runs(async (app, { rule: id, on, off, ...change }: RuleOptions) => {
      const enabled = on ? true : off ? false : undefined;
      const also = auditOf(app, null, 'alert_rule.changed', id);
      const rules = app.get(AlertRules, { strict: false });
      return rowOf(await rules.change(id, { ...changeOf(change), enabled }, also));
    });
  commandForOne('remove', 'remove it, or restore the one of its kind').runs(
    async (app, { rule: id }: RuleOptions) => {
      const also = auditOf(app, null, 'alert_rule.removed', id);
      await app.get(AlertRules, { strict: false }).remove(id, also);
      return { rule: id, status: 'removed' };
    },
  );
}

interface ChannelOptions {
  readonly channel: string;
}

type Targets = Readonly<Partial<Record<(typeof CHANNEL_KINDS)[number], string>>>;

function addChannelCommands(channel: OperatorCommand): void {
  const commandForOne = (name: string, description: string): OperatorCommand =>
    channel.subcommand(name, description).requiredOption('--channel <id>', 'the id of the channel');
  channel
    .subcommand('list', 'without the paths of URLs, which may be secret')
    .runs(async (app) => ({
      channels: (await app.get(AlertChannels, { strict: false }).list()).map(
        ({ createdAt, ...one }) => ({ ...one, createdAt: createdAt.toISOString() }),
      ),
    }));
  channel
    .subcommand('add', 'one of the three; the secret of a webhook is shown once')
    .option('--email <address>', 'by the relay of ALERTS_SMTP')
    .option('--webhook <url>', 'signed POST of JSON')
    .option('--slack <url>', 'URL of an incoming webhook of Slack, or of a service with its form')
    .runs(async (app, targets: Targets) => {
      const chosen = CHANNEL_KINDS.filter((kind) => targets[kind] !== undefined);
      const [kind] = chosen;
      if (!kind || chosen.length > 1)
        throw invalidFields([
          { path: 'kind', message: `must be one of --${CHANNEL_KINDS.join(', --')}` },
        ]);
      const also = auditOf(app, null, 'alert_channel.added');
      const channels = app.get(AlertChannels, { strict: false });
      const { createdAt, ...added } = await channels.add(kind, targets[kind] ?? '', also);
      return { ...added, createdAt: createdAt.toISOString() };
    });
  commandForOne('test', 'send a notice that says that it is a test').runs(
    async (app, { channel: id }: ChannelOptions) => {
      const also = auditOf(app, null, 'alert_channel.tested', id);
      await app.get(AlertChannels, { strict: false }).test(id, also);
      return { channel: id, status: 'test is due' };
    },
  );
  commandForOne('remove', 'notify it no more').runs(
    async (app, { channel: id }: ChannelOptions) => {
      const also = auditOf(app, null, 'alert_channel.removed', id);
      await app.get(AlertChannels, { strict: false }).remove(id, also);
      return { channel: id, status: 'removed' };
    },
  );
}

/** @throws ApiError 422 */
function changeOf({ set = [], pause, channel }: ChangeOptions): AlertRuleChange {
  const settings = set.map((written) => {
    const at = written.indexOf('=');
    if (at > 0) return [written.slice(0, at), written.slice(at + 1)] as const;
    throw invalidFields([{ path: 'set', message: 'must have the form name=value, as window=30m' }]);
  });
  const isUsual = channel?.length === 1 && channel[0] === 'usual';
  return { settings: Object.fromEntries(settings), pause, channels: isUsual ? null : channel };
}

function rowOf({ id, kind, accountId, settings, pause, channels, enabled }: AlertRule) {
  return {
    id,
    kind,
    account: accountId,
    enabled: enabled ? 'yes' : 'no',
    settings: Object.entries(settings)
      .filter(([, written]) => written !== '')
      .map(([name, written]) => `${name}=${written}`),
    pause: `${pause / 60_000}m`,
    channels: channels ?? (kindOf(kind).tells === 'operator' ? ['all'] : ['account']),
  };
}
