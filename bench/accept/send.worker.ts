import { SmsService } from '@dundun/messaging';
import type { INestApplicationContext } from '@nestjs/common';
import type { Count } from '../harness/rounds.js';
import { serve } from '../harness/worker.serve.js';
import { startApp } from '../harness/messaging.app.js';

let app: INestApplicationContext;

/** `SmsService` in an app that only accepts. */
serve({
  start: async ({ url }: { url: string }) => {
    app = await startApp({ url, messaging: { dispatch: { enabled: false } } });
  },
  send: async ({ ms, inFlight }: { ms: number; inFlight: number }): Promise<Count> => {
    const sms = app.get(SmsService);
    const begun = performance.now();
    let count = 0;
    const one = async (): Promise<void> => {
      while (performance.now() - begun < ms) {
        await sms.send({
          from: 'ACME',
          to: `23480${10_000_000 + count}`,
          body: 'Your code is 123456',
        });
        count++;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, one));
    return { count, ms: performance.now() - begun };
  },
  stop: () => app.close(),
});
