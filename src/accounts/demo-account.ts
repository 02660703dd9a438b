import type { ChannelDemo } from '../channel.js';
import type { Environment } from '../config/environment.js';
import type { CreatedAccount } from './accounts.service.js';

export const DEMO_NAME = 'demo';

/** The account of the first start. */
export interface DemoAccount extends CreatedAccount {
  /** One-time link for the first user of the portal. */
  readonly setup: string;
  /** What it has, with the currency, such as `50000000.00 NGN`. */
  readonly balance: string;
  readonly examples: readonly ChannelDemo['example'][];
}

/** The pages of this gateway that people open first, one a line. */
export function pagesOf(
  url: string,
  { DOCS = true, carriers }: Pick<Environment, 'DOCS' | 'carriers'>,
): string {
  const hasPhone = carriers.all.some(({ traits }) => traits.isSimulated);
  return [
    `  Portal  ${url}/portal\n`,
    hasPhone
      ? `  Phone   ${url}/portal/phone (a simulated one: it gets the messages, and answers)\n`
      : '',
    DOCS ? `  Docs    ${url}/docs\n` : '',
  ].join('');
}

/** Text that the first start prints. The secrets are not shown again. */
export function demoBanner(account: DemoAccount, url: string, pages: string): string {
  const { accountId, apiToken, apiKey, setup, balance, examples } = account;
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

${pages}
${commands.join('')}Its messages are charged. It has ${balance}:

curl ${url}/ng/v1/account/balance -H 'Authorization: Bearer ${apiToken}'

`;
}
