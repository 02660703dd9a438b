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

let database: RawDatabase;
let load: HttpLoad;
let width: number;

/** The durable limit: a row before each request, which an update follows, both in group commits. */
serve({
  start: async (options: { url: string; sink: string; width: number }) => {
    await (await migrated(options.url)).destroy();
    database = await openRawDatabase(options.url);
    width = options.width;
    load = new HttpLoad(options.sink, width, {
      path: '/ng/v1/sendsms',
      headers: {
        authorization: 'Bearer tok_bench',
        'content-type': 'application/json',
        accept: 'application/json',
        'idempotency-key': `${v7()}-s0`,
      },
    });
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
      await load.post(
        `{"from":"ACME","to":["${message.to}"],"body":"Your code is 123456","delivery_report":"none"}`,
      );
      settled.push(after.add(message));
    });
    await Promise.all(settled);
    return { count: n, ms: performance.now() - begun };
  },
  stop: async () => {
    await load.close();
    await database.close();
  },
});
