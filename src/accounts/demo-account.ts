import type { ChannelDemo } from '../channel.js';
import type { CreatedAccount } from './accounts.service.js';

export const DEMO_NAME = 'demo';

/** The account of the first start. */
export interface DemoAccount extends CreatedAccount {
  /** One-time link for the first user of the portal. */
  readonly setup: string;
  readonly examples: readonly ChannelDemo['example'][];
}

/** Text that the first start prints. The secrets are not shown again. */
export function demoBanner(account: DemoAccount, url: string): string {
  const { accountId, apiToken, apiKey, setup, examples } = account;
  const commands = examples.map(
    ({ title, path, secret, body }) => `${title}:

curl -X POST ${url}/${path} -H 'Authorization: Bearer ${account[secret]}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'

`,
  );
  return `
First start: the account "${DEMO_NAME}" (${accountId}) was made. This is shown once; keep it.

  API token  ${apiToken}
  API key    ${apiKey}

Set up your user of the portal within an hour (later: npx dundun user invite --role operator):

  ${setup}

${commands.join('')}`;
}
