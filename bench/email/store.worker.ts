import { BATCH_COMPLETED, EmailService, type DispatchOptions } from '@dundun/messaging';
import { MESSAGE_TRANSPORTS } from '@dundun/messaging/ports';
import { smtp, type SmtpOptions } from '@dundun/messaging/smtp';
import type { INestApplicationContext } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { startApp } from '../harness/messaging.app.js';
import type { Count } from '../harness/rounds.js';
import { serve } from '../harness/worker.serve.js';
import { DOMAIN, FROM, HTML, type Keys, recipientsOf, SUBJECT, TEXT } from './campaign.js';

export interface StoreStart {
  readonly url: string;
  readonly sink: string;
  readonly keys?: Keys;
  readonly connections: number;
  readonly dispatch?: Pick<DispatchOptions, 'enabled'>;
  readonly listener?: Pick<NonNullable<SmtpOptions['listener']>, 'rateLimit'>;
}

interface Send {
  readonly count: number;
  /** Recipients before the others. */
  readonly first?: readonly string[];
}

let app: INestApplicationContext;
let completed: (() => void) | undefined;

/** An app that sends e-mail through the store to the sink, and receives its reports. */
serve({
  start: async ({ url, sink, keys, connections, dispatch, listener }: StoreStart) => {
    const transport = smtp({
      url: sink,
      tls: 'off',
      connections,
      timeouts: { answer: '2s' },
      ...(keys && {
        dkim: {
          domain: DOMAIN,
          keys: [
            { selector: 'r1', privateKey: keys.rsa },
            { selector: 'e1', privateKey: keys.ed25519 },
          ],
        },
      }),
      ...(listener && {
        verpKeys: [Buffer.alloc(32, 1).toString('base64')],
        listener: { port: 0, host: '127.0.0.1', ...listener },
      }),
    });
    app = await startApp({
      url,
      messaging: { transport, dispatch: { ...dispatch } },
    });
    app.get(EventEmitter2).on(BATCH_COMPLETED, () => completed?.());
  },
  listenerPort: async () =>
    [...app.get(MESSAGE_TRANSPORTS).values()].map(
      (transport) => (transport as unknown as { readonly listenerPort: number }).listenerPort,
    )[0],
  /** One campaign, from `send()` to its last outcome. */
  drain: async (count: number): Promise<Count> => {
    const done = new Promise<void>((resolve) => (completed = resolve));
    const begun = performance.now();
    await send({ count });
    await done;
    return { count, ms: performance.now() - begun };
  },
  send,
  /** Parses the recipients of a campaign and accepts it. */
  accept: async (bytes: Uint8Array): Promise<Count> => {
    const begun = performance.now();
    await app.get(EmailService).send(JSON.parse(Buffer.from(bytes).toString('utf8')));
    return { count: 1, ms: performance.now() - begun };
  },
  stop: () => app.close(),
});

async function send({ count, first }: Send): Promise<void> {
  await app.get(EmailService).send({
    from: FROM,
    recipients: recipientsOf(count, first),
    subject: SUBJECT,
    text: TEXT,
    html: HTML,
  });
}
