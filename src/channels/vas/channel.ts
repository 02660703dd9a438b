import { VasService } from '@dundun/messaging';
import type { GatewayChannel } from '../../channel.js';
import { VAS_CALLBACK } from './callback.js';
import { VasModule } from './vas.module.js';

const DEMO_CAPS = { currency: 'NGN', daily: '50000', perNumber: '5000' };

export const vas = {
  name: 'vas',
  definition: null,
  module: VasModule,
  tag: 'VAS',
  tagDescription: 'Orders of airtime and data, and verifications by one-time codes.',
  scopes: [],
  tokenScopes: ['orders:write', 'orders:read', 'verifications:write', 'verifications:read'],
  options: () => ({}),
  prices: () => undefined,
  callback: VAS_CALLBACK,
  senders: null,
  codes: null,
  // An order is placed once; a notification repeats its message on another channel.
  notification: null,
  curl: {
    token: 'API_TOKEN',
    send: null,
    list: 'ng/v1/vas/orders',
    message: 'ng/v1/vas/orders/{batch}',
    batch: 'ng/v1/vas/orders/{batch}',
  },
  carriers: {},
  demo: {
    add: (manager, tenant, app) =>
      app.get(VasService, { strict: false }).allow(DEMO_CAPS, { tenant, manager }),
    example: {
      title: 'Order airtime, once for its client_reference',
      path: 'ng/v1/vas/orders',
      secret: 'apiToken',
      body: {
        to: '2348012345678',
        product: 'airtime-ng',
        amount: '100',
        client_reference: 'first-order',
      },
    },
  },
  seed: null,
} satisfies GatewayChannel;
