import { Module } from '@nestjs/common';
import { AccountsModule } from '../../accounts/accounts.module.js';
import { BillingModule } from '../../billing/billing.module.js';
import type { GatewayChannel } from '../../channel.js';
import { firstSenderOf } from '../../senders/first-sender.js';
import { SendersService } from '../../senders/senders.service.js';
import { VOICE_CALLBACK } from './callback.js';
import { VOICE_NOTIFICATION } from './notification.js';
import { CALLER_IDS } from './senders.js';
import { VoiceController } from './voice.controller.js';

/** In a range that no operator uses. */
const DEMO_CALLER = '2348000000001';

@Module({ imports: [AccountsModule, BillingModule], controllers: [VoiceController] })
class VoiceModule {}

export const voice = {
  name: 'voice',
  definition: null,
  module: VoiceModule,
  tag: 'Voice',
  tagDescription: 'Calls that play a text or an audio file and collect digits.',
  scopes: [],
  tokenScopes: ['voice:send', 'voice:read'],
  options: ({ VOICE_PRICE: { billing } }) => ({ voice: { deliveryReport: false, billing } }),
  prices: ({ VOICE_PRICE: { prices, billing } }) => ({
    currency: prices.currency,
    rates: [{ prefix: '*', category: null, price: prices.voice, billing }],
  }),
  isTimed: true,
  demoPrice: '15',
  callback: VOICE_CALLBACK,
  senders: CALLER_IDS,
  codes: firstSenderOf('voice'),
  notification: VOICE_NOTIFICATION,
  curl: {
    token: 'API_TOKEN',
    send: { path: 'ng/v1/voice/calls', reports: true },
    list: 'ng/v1/voice/calls',
    message: 'ng/v1/voice/calls/{message}',
    batch: 'ng/v1/voice/calls/{batch}',
    cancels: true,
  },
  carriers: {},
  demo: {
    add: (manager, accountId, app) =>
      app
        .get(SendersService, { strict: false })
        .addTo(manager, { accountId, channel: 'voice', sender: DEMO_CALLER }),
    example: {
      title: `Call a number from its caller id ${DEMO_CALLER}`,
      path: 'ng/v1/voice/calls',
      secret: 'apiToken',
      body: { from: DEMO_CALLER, to: ['2348012345678'], text: 'Hello from Dundun' },
    },
  },
  seed: null,
} satisfies GatewayChannel;
