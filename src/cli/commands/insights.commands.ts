import {
  MessageHistory,
  MessagingOperations,
  OUTCOME_GROUPS,
  type OutcomeAmount,
  type OutcomeGroup,
  type OutcomesOfGroup,
} from '@dundun/messaging/operations';
import { InvalidArgumentError, Option } from 'commander';
import { timeOrAge } from './message.commands.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';

const DAY = 86_400_000;
const MOST_DAYS = 400;

interface ShowOptions extends Partial<OfAccount> {
  readonly by: OutcomeGroup;
  readonly days: number;
  readonly channel?: string;
  readonly carrier?: string;
  readonly country?: string;
  readonly sender?: string;
}

interface RebuildOptions {
  readonly since?: string;
  readonly until?: string;
}

export function addInsightsCommands(insights: OperatorCommand): void {
  insights
    .subcommand('show', 'messages, delivered and failed, price and cost, beside the period before')
    .addOption(
      new Option('--by <group>', 'what a line is about')
        .choices(OUTCOME_GROUPS)
        .default('provider'),
    )
    .addOption(
      new Option('--days <number>', 'of messages that were accepted in so many days')
        .argParser(daysOf)
        .default(1),
    )
    .option('--account <id>', 'of one account; of all accounts without it')
    .option('--channel <name>', 'of one channel')
    .option('--carrier <name>', 'of one carrier')
    .option('--country <code>', 'of one country, such as NG')
    .option('--sender <name>', 'of one sender')
    .runs(async (app, { by, days, account, carrier: provider, ...where }: ShowOptions) => {
      const { channel, country, sender } = where;
      const { since, until, groups, total } = await app
        .get(MessageHistory, { strict: false })
        .outcomes({
          ...(account !== undefined && { tenants: [account] }),
          since: new Date(Date.now() - days * DAY),
          by,
          where: { channel, provider, country, sender },
        });
      return { since, until, groups: [...groups, { name: 'all', ...total }].map(lineOf) };
    });
  insights
    .subcommand('receipts', 'carriers that report as delivered what may not have arrived')
    .option('--since <age>', 'of messages from 7d ago on, or from a time in RFC 3339 (default: 1d)')
    .runs(async (app, { since = '1d' }: Pick<RebuildOptions, 'since'>) => {
      const history = app.get(MessageHistory, { strict: false });
      return { findings: await history.doubtfulReceipts({ since: timeOrAge(since) }) };
    });
  insights
    .subcommand(
      'rebuild',
      'count again from the messages; hours with erased messages keep their counts',
    )
    .option('--since <age>', 'from 7d ago on, or from a time in RFC 3339; all without it')
    .option('--until <age>', 'until 2h ago, or until a time in RFC 3339; until now without it')
    .runs(async (app, { since, until }: RebuildOptions) =>
      app.get(MessagingOperations, { strict: false }).rebuildOutcomes({
        since: since === undefined ? undefined : timeOrAge(since),
        until: until === undefined ? undefined : timeOrAge(until),
      }),
    );
}

function lineOf({ name, current, former }: OutcomesOfGroup) {
  const { messages, delivered, failed, parts, prices, costs } = current;
  return {
    name,
    messages,
    delivered,
    failed,
    parts,
    prices: prices.map(amountOf),
    costs: costs.map(amountOf),
    messagesBefore: former.messages,
    pricesBefore: former.prices.map(amountOf),
    costsBefore: former.costs.map(amountOf),
  };
}

function amountOf({ amount, currency }: OutcomeAmount): string {
  return `${amount} ${currency}`;
}

function daysOf(written: string): number {
  const days = /^\d{1,3}$/.test(written) ? Number(written) : 0;
  if (days >= 1 && days <= MOST_DAYS) return days;
  throw new InvalidArgumentError(`must be 1 to ${MOST_DAYS}`);
}
