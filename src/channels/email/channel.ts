import { Module } from '@nestjs/common';
import { AccountsModule } from '../../accounts/accounts.module.js';
import { BillingModule } from '../../billing/billing.module.js';
import type { GatewayChannel } from '../../channel.js';
import { EMAIL_CALLBACK } from './callback.js';
import { DEMO_DOMAIN, DomainChecks, DomainsService } from './domains/domains.service.js';
import { DomainsController } from './domains/domains.controller.js';
import { EmailCodes } from './domains/sender-domains.js';
import { EmailDomainsModule } from './email-domains.module.js';
import { EmailContactsController } from './messages/contacts.controller.js';
import { EmailController } from './messages/email.controller.js';
import { EMAIL_NOTIFICATION } from './messages/notification.js';
import { UNSUBSCRIBE_ROUTE, UnsubscribeController } from './unsubscribe/unsubscribe.controller.js';

@Module({
  imports: [AccountsModule, BillingModule, EmailDomainsModule],
  controllers: [EmailController, EmailContactsController, DomainsController, UnsubscribeController],
  providers: [DomainChecks],
})
class EmailModule {}

const MIB = 1_048_576;

/** Attachments in base64 take a third more than the message; recipients may have variables. */
const BODIES: GatewayChannel['bodies'] = {
  '/email/ng/v1/messages': { bytes: 36 * MIB, fields: 1_000_000 },
  '/email/ng/v1/messages/batch': { bytes: 40 * MIB, fields: 200_000 },
  // Mail clients post a form to the page (RFC 8058), whose content does not matter.
  [UNSUBSCRIBE_ROUTE]: { as: 'unread' },
};

export const email = {
  name: 'email',
  definition: null,
  module: EmailModule,
  tag: 'Email',
  tagDescription: 'Messages by e-mail, contacts, suppressed addresses and the domains of senders.',
  scopes: ['email:read', 'email:send', 'email:webhooks', 'domains:write'],
  options: ({ MAX_RECIPIENTS }) => ({ email: { maxRecipients: MAX_RECIPIENTS } }),
  prices: () => undefined,
  bodies: BODIES,
  demoPrice: '0.5',
  callback: EMAIL_CALLBACK,
  // Accounts have domains instead.
  senders: null,
  codes: EmailCodes,
  notification: EMAIL_NOTIFICATION,
  curl: {
    token: 'API_KEY',
    send: { path: 'email/ng/v1/messages' },
    list: 'email/ng/v1/messages',
    message: 'email/ng/v1/messages/{message}',
    batch: 'email/ng/v1/messages/{batch}',
    cancels: true,
    reschedules: true,
  },
  carriers: {},
  demo: {
    add: (manager, accountId, app) =>
      app.get(DomainsService, { strict: false }).addDemo(manager, accountId),
    example: {
      title: `Send an email from its domain ${DEMO_DOMAIN}`,
      path: 'email/ng/v1/messages',
      secret: 'apiKey',
      body: {
        from: `hello@${DEMO_DOMAIN}`,
        to: ['ada@example.com'],
        subject: 'Hello',
        text: 'Hello from Dundun',
      },
    },
  },
  seed: null,
} satisfies GatewayChannel;
