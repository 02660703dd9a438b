import { WhatsAppService } from '@dundun/messaging';
import { whatsappCloud } from '@dundun/messaging/whatsapp-cloud';
import type { INestApplicationContext } from '@nestjs/common';
import { inFlight } from '../harness/in.flight.js';
import { startApp } from '../harness/messaging.app.js';
import { serve } from '../harness/worker.serve.js';

/** Tenants, each with a lane; the provider's rate holds over all of them. */
const TENANTS = ['a', 'b'];
const WIDTH = 64;

let app: INestApplicationContext;

/** An app that sends WhatsApp templates from its store, at the rate of Meta's number. */
serve({
  start: async ({ url, meta, rate }: { url: string; meta: string; rate: number }) => {
    const transport = whatsappCloud({
      baseUrl: meta,
      token: 'EAAG-token-of-a-system-user',
      phoneNumberId: '1065403522',
    });
    app = await startApp({
      url,
      messaging: {
        providers: { meta: { transport, rateLimit: { max: rate, per: '1s' } } },
        whatsapp: { from: '2348000000001', templates: 'open' },
        policy: { remove: ['opt-in-required'] },
        reports: { pollAfter: '1h' },
      },
    });
  },
  /** Accepts `n` templates, of each tenant alternately. */
  send: async (n: number) => {
    const whatsapp = app.get(WhatsAppService);
    await inFlight(n, WIDTH, (i) =>
      whatsapp.sendTemplate(
        {
          to: `23480${10_000_000 + i}`,
          template: 'order_ready',
          language: 'en',
          params: ['Ada'],
          category: 'utility',
        },
        { tenant: TENANTS[i % TENANTS.length] as string },
      ),
    );
  },
  stop: () => app.close(),
});
