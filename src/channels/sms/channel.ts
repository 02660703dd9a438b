import { Module } from '@nestjs/common';
import { AccountsModule } from '../../accounts/accounts.module.js';
import { BillingModule } from '../../billing/billing.module.js';
import type { GatewayChannel } from '../../channel.js';
import { StatusEvent } from '../../http/callback.dto.js';
import { SmsIntakeModule } from '../../senders/sms-intake.js';
import { firstSenderOf } from '../../senders/first-sender.js';
import { SendersService } from '../../senders/senders.service.js';
import { SMS_NOTIFICATION } from './notification.js';
import { SENDER_IDS } from './senders.js';
import { SmsController } from './sms.controller.js';

const DEMO_SENDER = 'ACME';

@Module({
  imports: [AccountsModule, BillingModule, SmsIntakeModule],
  controllers: [SmsController],
})
class SmsModule {}

export const sms = {
  name: 'sms',
  definition: null,
  module: SmsModule,
  tag: 'SMS',
  tagDescription: 'Batches of text messages to phones: sends, reads, cancels, estimates.',
  scopes: [],
  tokenScopes: ['sms:send', 'sms:read'],
  options: ({ MAX_RECIPIENTS, MAX_PARTS }) => ({
    sms: { deliveryReport: false, maxRecipients: MAX_RECIPIENTS, maxParts: MAX_PARTS },
  }),
  prices: ({ SMS_PRICES: prices }) =>
    prices && {
      currency: prices.currency,
      rates: prices.prefixes.map(([prefix, price]) => {
        return { prefix, category: null, price, billing: null };
      }),
    },
  demoPrice: '4.5',
  callback: {
    statusEvent: 'sms.delivery_report',
    receivedEvent: 'sms.message_received',
    identifiedBy: 'batch',
    event: StatusEvent,
  },
  senders: SENDER_IDS,
  codes: firstSenderOf('sms'),
  notification: SMS_NOTIFICATION,
  curl: {
    token: 'API_TOKEN',
    send: { path: 'ng/v1/sendsms', fields: { text: 'body' }, reports: true },
    list: 'ng/v1/sms',
    // An SMS is read with its batch.
    message: 'ng/v1/sms/{batch}/reports',
    batch: 'ng/v1/sms/{batch}',
    cancels: true,
    reschedules: true,
  },
  carriers: {},
  demo: {
    add: (manager, accountId, app) =>
      app
        .get(SendersService, { strict: false })
        .addTo(manager, { accountId, channel: 'sms', sender: DEMO_SENDER }),
    example: {
      title: `Send two messages from its sender ${DEMO_SENDER}`,
      path: 'ng/v1/sendsms',
      secret: 'apiToken',
      body: {
        from: DEMO_SENDER,
        to: ['2348012345678', '2348012345679'],
        body: 'Hello from Dundun',
        delivery_report: 'yes',
      },
    },
  },
  seed: null,
} satisfies GatewayChannel;
