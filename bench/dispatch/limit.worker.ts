import { connectSmpp, encodeText, splitMessage } from '@dundun/smpp';
import type { Count } from '../harness/rounds.js';
import { v7 } from 'uuid';
import { migrated } from '../harness/data.source.js';
import { HttpLoad } from '../harness/http.load.js';
import { inFlight } from '../harness/in.flight.js';
import { NaturalBatch } from '../harness/natural.batch.js';
import { openRawDatabase, type RawDatabase, type RawStatement } from '../harness/raw.database.js';
import { serve } from '../harness/worker.serve.js';

interface Message {
  readonly batch: string;
  readonly to: string;
}

const BEFORE: RawStatement<Message> = {
  name: 'before',
  types: ['uuid', 'text'],
  of: ({ batch, to }) => [batch, to],
  sql: `INSERT INTO messaging_message (batch, position, submission, status, attempt, recipient)
    SELECT a, 0, 0, 20, 1, b FROM v`,
};

const AFTER: RawStatement<Message> = {
  name: 'after',
  types: ['uuid'],
  of: ({ batch }) => [batch],
  sql: `UPDATE messaging_message SET status = 40, sequence = 1, reference = 'sink' FROM v
    WHERE batch = a AND position = 0 AND status < 40`,
};

interface Carrier {
  submit(to: string): Promise<unknown>;
  close(): Promise<unknown>;
}

export interface LimitWorkerOptions {
  readonly url: string;
  /** The provider over HTTP. */
  readonly sink?: string;
  /** Port of the SMSC on this machine, instead of `sink`. */
  readonly smscPort?: number;
  /** Messages in flight. */
  readonly width: number;
}

const TEXT = 'Your code is 123456';

let database: RawDatabase;
let carrier: Carrier;
let width: number;

/** The durable limit: a row before each request, which an update follows, both in group commits. */
serve({
  start: async (options: LimitWorkerOptions) => {
    await (await migrated(options.url)).destroy();
    database = await openRawDatabase(options.url);
    width = options.width;
    const { sink = '', smscPort } = options;
    carrier = smscPort === undefined ? overHttp(sink) : await overSmpp(smscPort);
  },
  run: async (n: number): Promise<Count> => {
    const write = (statement: RawStatement<Message>) =>
      new NaturalBatch<Message>((rows) =>
        database.commit(async (run) => void (await run(statement, rows))),
      );
    const [before, after] = [write(BEFORE), write(AFTER)];
    const settled: Promise<void>[] = [];
    const begun = performance.now();
    await inFlight(n, width, async (i) => {
      const message = { batch: v7(), to: `23480${10_000_000 + i}` };
      await before.add(message);
      await carrier.submit(message.to);
      settled.push(after.add(message));
    });
    await Promise.all(settled);
    return { count: n, ms: performance.now() - begun };
  },
  stop: async () => {
    await carrier.close();
    await database.close();
  },
});

function overHttp(sink: string): Carrier {
  const load = new HttpLoad(sink, width, {
    path: '/ng/v1/sendsms',
    headers: {
      authorization: 'Bearer tok_bench',
      'content-type': 'application/json',
      accept: 'application/json',
      'idempotency-key': `${v7()}-s0`,
    },
  });
  return {
    submit: (to) =>
      load.post(`{"from":"ACME","to":["${to}"],"body":"${TEXT}","delivery_report":"none"}`),
    close: () => load.close(),
  };
}

/** One bind with the window of `smpp()`. */
async function overSmpp(port: number): Promise<Carrier> {
  const session = await connectSmpp({
    host: '127.0.0.1',
    port,
    systemId: 'limit',
    password: 'secret',
    window: 10,
  });
  return {
    submit: async (address) => {
      for (const part of splitMessage(encodeText(TEXT), { reference: 0 })) {
        const { status } = await session.request('submit_sm', {
          source: { ton: 5, npi: 0, address: 'ACME' },
          destination: { ton: 1, npi: 1, address },
          ...part,
        });
        if (status !== 0) throw new Error(`the SMSC answered ${status}`);
      }
    },
    close: () => session.unbind(),
  };
}
