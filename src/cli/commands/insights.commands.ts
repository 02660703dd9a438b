import { MessageHistory, MessagingOperations } from '@dundun/messaging/operations';
import { timeOrAge } from './message.commands.js';
import type { OperatorCommand } from '../operator-command.js';

interface RebuildOptions {
  readonly since?: string;
  readonly until?: string;
}

export function addInsightsCommands(insights: OperatorCommand): void {
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
