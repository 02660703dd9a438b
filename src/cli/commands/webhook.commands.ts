import { invalidFields } from '../../http/api-error.js';
import { parseTimestamp, TIMESTAMP_RULE } from '../../http/rfc3339.js';
import { webhookOf, webhookWithSecretOf } from '../../webhooks/webhooks.dto.js';
import { WebhookEndpointsService } from '../../webhooks/webhook-endpoints.service.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';
import { auditOf } from '../operator-gateway.js';

interface WebhookOptions extends OfAccount {
  readonly webhook: string;
}

export function addWebhookCommands(webhook: OperatorCommand): void {
  const commandForOne = (name: string, description: string): OperatorCommand =>
    webhook.accountCommand(name, description).requiredOption('--webhook <id>', 'the webhook_id');
  webhook
    .accountCommand('set', "set the account's webhook URL; the signing secret is shown")
    .requiredOption('--url <url>', 'where to POST')
    .runs(async (app, { account, url }: OfAccount & { url: string }) => {
      const also = auditOf(app, account, 'webhook.changed');
      const set = await app.get(WebhookEndpointsService).set(account, url, also);
      return { webhook_id: set.webhook_id, url: set.url, secret: set.secret };
    });
  webhook
    .accountCommand('list', 'the webhooks of an account')
    .runs(async (app, { account }: OfAccount) => ({
      webhooks: (await app.get(WebhookEndpointsService).list(account)).map(webhookOf),
    }));
  commandForOne('enable', 'enable it again; what was due in the meantime is sent').runs(
    async (app, { account, webhook: id }: WebhookOptions) => {
      const also = auditOf(app, account, 'webhook.changed', id);
      const endpoints = app.get(WebhookEndpointsService);
      return webhookOf(await endpoints.update(account, id, { enabled: true }, also));
    },
  );
  commandForOne(
    'rotate-secret',
    'make a new signing secret; for a day callbacks are signed with both',
  ).runs(async (app, { account, webhook: id }: WebhookOptions) => {
    const also = auditOf(app, account, 'webhook.secret_rotated', id);
    return webhookWithSecretOf(
      await app.get(WebhookEndpointsService).rotateSecret(account, id, also),
    );
  });
  commandForOne('redeliver', 'send again what was never delivered, or everything since a time')
    .option('--since <time>', 'such as 2026-11-20T00:00:00Z')
    .runs(async (app, { account, webhook: id, since }: WebhookOptions & { since?: string }) => {
      const wanted = { since: since === undefined ? undefined : timeOf(since) };
      const also = auditOf(app, account, 'webhook.redelivered', id);
      const endpoints = app.get(WebhookEndpointsService);
      return { webhook_id: id, redelivered: await endpoints.redeliver(account, id, wanted, also) };
    });
}

function timeOf(written: string): Date {
  const time = parseTimestamp(written);
  if (time) return time;
  throw invalidFields([{ path: 'since', message: TIMESTAMP_RULE }]);
}
