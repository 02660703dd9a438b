import type { Command } from 'commander';
import { invalidFields } from '../http/api-error.js';
import { parseTimestamp, TIMESTAMP_RULE } from '../http/rfc3339.js';
import { webhookOf, webhookWithSecretOf } from '../webhooks/webhooks.dto.js';
import { WebhookEndpointsService } from '../webhooks/webhook-endpoints.service.js';
import { WebhookRedeliveryService } from '../webhooks/webhook-redelivery.service.js';
import type { Run } from './run.js';

/** Commands for the customers' webhook endpoints. */
export function addWebhookCommands(program: Command, run: Run): void {
  const webhook = program
    .command('webhook')
    .alias('webhooks')
    .description('endpoints for callbacks: set, list, enable, redeliver');
  webhook
    .command('set')
    .description("set the account's webhook URL; the signing secret is shown")
    .requiredOption('--account <id>', 'the account')
    .requiredOption('--url <url>', 'where to POST')
    .option('--json', 'answer one line of JSON')
    .action((options: { account: string; url: string; json?: boolean }) =>
      run(options, async (app) => {
        const { webhook_id, url, secret } = await app
          .get(WebhookEndpointsService)
          .set(options.account, options.url);
        return { webhook_id, url, secret };
      }),
    );
  webhook
    .command('list')
    .description('the webhooks of an account')
    .requiredOption('--account <id>', 'the account')
    .option('--json', 'answer one line of JSON')
    .action((options: { account: string; json?: boolean }) =>
      run(options, async (app) => ({
        webhooks: (await app.get(WebhookEndpointsService).list(options.account)).map(
          (endpoint) => ({
            ...webhookOf(endpoint),
          }),
        ),
      })),
    );
  withWebhook(webhook.command('enable'))
    .description('enable it again; what was due in the meantime is sent')
    .action((options: WebhookOptions) =>
      run(options, async (app) => {
        const endpoints = app.get(WebhookEndpointsService);
        const changed = await endpoints.update(options.account, options.webhook, { enabled: true });
        return { ...webhookOf(changed) };
      }),
    );
  withWebhook(webhook.command('rotate-secret'))
    .description('make a new signing secret; for a day callbacks are signed with both')
    .action((options: WebhookOptions) =>
      run(options, async (app) => {
        const endpoints = app.get(WebhookEndpointsService);
        const changed = await endpoints.rotateSecret(options.account, options.webhook);
        return { ...webhookWithSecretOf(changed) };
      }),
    );
  withWebhook(webhook.command('redeliver'))
    .description('send again what was never delivered, or everything since a time')
    .option('--since <time>', 'such as 2026-11-20T00:00:00Z')
    .action((options: WebhookOptions & { since?: string }) =>
      run(options, async (app) => {
        const since = options.since === undefined ? undefined : timeOf(options.since);
        const redelivered = await app
          .get(WebhookRedeliveryService)
          .redeliver(options.account, options.webhook, { since });
        return { webhook_id: options.webhook, redelivered };
      }),
    );
}

interface WebhookOptions {
  readonly account: string;
  readonly webhook: string;
  readonly json?: boolean;
}

function withWebhook(command: Command): Command {
  return command
    .requiredOption('--account <id>', 'the account')
    .requiredOption('--webhook <id>', 'the webhook_id')
    .option('--json', 'answer one line of JSON');
}

function timeOf(written: string): Date {
  const time = parseTimestamp(written);
  if (time) return time;
  throw invalidFields([{ path: 'since', message: TIMESTAMP_RULE }]);
}
