import { ContactsService, SmsService } from '@dundun/messaging';
import type { INestApplicationContext } from '@nestjs/common';
import { StatementCounter } from '../dispatch/statement.counter.js';
import { startApp } from '../harness/messaging.app.js';
import type { Count } from '../harness/rounds.js';
import { serve } from '../harness/worker.serve.js';

export interface SendStart {
  readonly url: string;
  /** Names of the disabled policies. */
  readonly remove: readonly string[];
}

let app: INestApplicationContext;
const statements = new StatementCounter();

const numbers = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `23480${10_000_000 + n}`);

/** An app that only accepts, with or without policies. */
serve({
  start: async ({ url, remove }: SendStart) => {
    app = await startApp({
      url,
      messaging: { dispatch: { enabled: false }, policy: { remove } },
      logger: statements,
    });
  },
  /** Each recipient is a contact that opted in. */
  seed: async (count: number): Promise<void> => {
    const contacts = app.get(ContactsService);
    const all = numbers(count);
    for (let from = 0; from < count; from += 10_000)
      await contacts.optIn(all.slice(from, from + 10_000), { channel: 'sms', source: 'bench' });
  },
  /** @returns one batch, `count` recipients */
  send: async (count: number): Promise<Count> => {
    const to = numbers(count);
    const begun = performance.now();
    await app.get(SmsService).send({ from: 'ACME', to, body: 'Your code is 123456' });
    return { count, ms: performance.now() - begun };
  },
  statements: async (): Promise<number> => statements.take(),
  stop: () => app.close(),
});
