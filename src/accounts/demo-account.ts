import { randomInt } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { TemplateEntity, WhatsAppNumber } from './accounts.tables.js';

export const DEMO_NAME = 'demo';
export const DEMO_SENDER = 'ACME';
/** Verified for the demo account, without DNS: the top-level domain `test` is for this. */
export const DEMO_DOMAIN = 'demo.test';

/** Registered for the demo account, in a range that no operator uses. */
export const DEMO_CALLER = '2348000000001';

/** Orders of airtime and data. */
export const DEMO_CAPS = { currency: 'NGN', daily: '50000', perNumber: '5000' };

const TEMPLATES = [
  { name: 'order_update', category: 'utility', params_count: 2 },
  { name: 'special_offer', category: 'marketing', params_count: 1 },
  { name: 'login_code', category: 'authentication', params_count: 1 },
] as const;

/** A WhatsApp number and templates, so that the account can send at once. */
export async function seedDemoAccount(manager: EntityManager, accountId: string): Promise<void> {
  // In a range that no operator uses; an insert fails where the number is taken.
  const number = `2340${String(randomInt(1_000_000_000)).padStart(9, '0')}`;
  await manager.insert(WhatsAppNumber, { number, accountId, createdAt: new Date() });
  await manager.insert(
    TemplateEntity,
    TEMPLATES.map((one) => ({ ...one, accountId, language: 'en', status: 'approved' as const })),
  );
}

/** Text that the first start prints. The secrets are not shown again. */
export function demoBanner(
  {
    accountId,
    apiToken,
    apiKey,
    setup,
  }: Readonly<Record<'accountId' | 'apiToken' | 'apiKey' | 'setup', string>>,
  url: string,
): string {
  const body = JSON.stringify({
    from: DEMO_SENDER,
    to: ['2348012345678', '2348012345679'],
    body: 'Hello from Dundun',
    delivery_report: 'yes',
  });
  const email = JSON.stringify({
    from: `hello@${DEMO_DOMAIN}`,
    to: ['ada@example.com'],
    subject: 'Hello',
    text: 'Hello from Dundun',
  });
  const call = JSON.stringify({
    from: DEMO_CALLER,
    to: ['2348012345678'],
    text: 'Hello from Dundun',
  });
  const order = JSON.stringify({
    to: '2348012345678',
    product: 'airtime-ng',
    amount: '100',
    client_reference: 'first-order',
  });
  return `
First start: the account "${DEMO_NAME}" (${accountId}) was made. This is shown once; keep it.

  API token  ${apiToken}
  API key    ${apiKey}

Set up your user of the portal within an hour (later: npx dundun user invite --role operator):

  ${setup}

Send two messages from its sender ${DEMO_SENDER}:

curl -X POST ${url}/ng/v1/sendsms -H 'Authorization: Bearer ${apiToken}' -H 'Content-Type: application/json' -d '${body}'

Send an email from its domain ${DEMO_DOMAIN}:

curl -X POST ${url}/email/ng/v1/messages -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${email}'

Call a number from its caller id ${DEMO_CALLER}:

curl -X POST ${url}/ng/v1/voice/calls -H 'Authorization: Bearer ${apiToken}' -H 'Content-Type: application/json' -d '${call}'

Order airtime, once for its client_reference:

curl -X POST ${url}/ng/v1/vas/orders -H 'Authorization: Bearer ${apiToken}' -H 'Content-Type: application/json' -d '${order}'

`;
}
