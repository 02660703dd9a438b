import type { CreatedAccount } from './accounts/accounts.service.js';

export const DEMO_NAME = 'demo';
export const DEMO_SENDER = 'ACME';

/** Text that the first start prints. The secrets are not shown again. */
export function demoBanner({ accountId, apiToken, apiKey }: CreatedAccount, url: string): string {
  const body = JSON.stringify({
    from: DEMO_SENDER,
    to: ['2348012345678', '2348012345679'],
    body: 'Hello from Dundun',
    delivery_report: 'yes',
  });
  return `
First start: the account "${DEMO_NAME}" (${accountId}) was made. This is shown once; keep it.

  API token  ${apiToken}
  API key    ${apiKey}

Send two messages from its sender ${DEMO_SENDER}:

curl -X POST ${url}/ng/v1/sendsms -H 'Authorization: Bearer ${apiToken}' -H 'Content-Type: application/json' -d '${body}'

`;
}
