import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { Pool } from 'undici';
import { v7 } from 'uuid';
import { NaturalBatch } from '../harness/natural.batch.js';
import { openRawDatabase, type RawDatabase, type RawStatement } from '../harness/raw.database.js';
import { serve } from '../harness/worker.serve.js';
import {
  ACCEPTED,
  type BareAttempt,
  type BareDelivery,
  type BareMessage,
  type BareReport,
  DELIVERED,
  INTENDED,
  OUTBOX,
  REDELIVERED,
  REPORTED,
  SETTLED,
  TOLD,
} from './bare.statements.js';

interface BareOptions {
  readonly url: string;
  readonly carrier: string;
  readonly carrierSecret: string;
  readonly customer: string;
  readonly customerSecret: string;
}

/** Requests in flight: to the carrier, and to the customer as the gateway has them. */
const SUBMITS = 64;
const CALLBACKS = 16;

let database: RawDatabase;
let server: FastifyInstance;
let carrier: Pool;
let customer: Pool;
let keys: { readonly carrier: Buffer; readonly customer: Buffer };

/**
 * The limit of the whole way: bare Fastify, undici and the raw driver make the requests of the
 * gateway, write its rows in group commits, and check and sign the same signatures.
 */
serve({
  start: async (options: BareOptions) => {
    database = await openRawDatabase(options.url);
    carrier = new Pool(options.carrier, { connections: SUBMITS });
    customer = new Pool(options.customer, { connections: CALLBACKS });
    keys = { carrier: keyOf(options.carrierSecret), customer: keyOf(options.customerSecret) };
    server = Fastify({ logger: false, bodyLimit: 4 << 20 });
    server.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) =>
      done(null, body),
    );
    server.post<{ Body: string }>('/ng/v1/sendsms', async ({ body }) => {
      const {
        from,
        to,
        body: text,
      } = JSON.parse(body) as Record<'from' | 'body', string> & {
        to: readonly [string];
      };
      const content = JSON.stringify({ kind: 'text', text });
      const message = { batch: v7(), sender: from, to: to[0], content };
      await accepting.add(message);
      void submits.run(message);
      return {
        status_code: 200,
        message: 'Your request is being processed',
        reference_id: message.batch,
        recipients_processed: 1,
        created_at: new Date().toISOString(),
      };
    });
    server.post<{ Body: string }>('/reports', async ({ headers, body }, reply) => {
      if (!isSigned(headers, body)) return reply.code(401).send();
      const reports = JSON.parse(body) as readonly Record<string, string>[];
      await Promise.all(reports.map((one) => reporting.add(reportOf(one))));
      return reply.code(204).send();
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
  },
  address: async () => `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
  /** Sends the newest callbacks again. */
  redeliver: async (count: number) => {
    let due: readonly BareDelivery[] = [];
    await database.commit(async (run) => {
      due = await run(REDELIVERED, [[count, Date.now()]]);
    });
    tell(due);
  },
  stop: async () => {
    await server.close();
    await carrier.destroy();
    await customer.destroy();
    await database.close();
  },
});

/** Runs work in order, so many at a time. */
class Line<T> {
  readonly #waiting: T[] = [];
  #busy = 0;

  constructor(
    private readonly width: number,
    private readonly work: (item: T) => Promise<void>,
  ) {}

  async run(item: T): Promise<void> {
    this.#waiting.push(item);
    if (this.#busy >= this.width) return;
    this.#busy++;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      await this.work(next);
    this.#busy--;
  }
}

/** Reports that came before the carrier's answer was written, and the ids whose answer is. */
const early = new Map<string, BareReport>();
const settled = new Set<string>();

const accepting = grouped(ACCEPTED);
const intending = grouped(INTENDED);
const settling = new NaturalBatch<BareMessage>(async (messages) => {
  const deliveries = messages.map(({ batch, to, sender }) => deliveryOf(batch, to, sender, 'sent'));
  await database.commit(async (run) => {
    for (const statement of SETTLED) await run(statement, messages);
    await run(OUTBOX, deliveries);
  });
  tell(deliveries);
  for (const { reference } of messages) {
    const id = `${reference}-0`;
    settled.add(id);
    const report = early.get(id);
    if (report && early.delete(id)) void reporting.add(report);
  }
});
const reporting = new NaturalBatch<BareReport>(async (reports) => {
  let deliveries: readonly BareDelivery[] = [];
  await database.commit(async (run) => {
    const raised = await run<BareReport, Record<'batch' | 'reference' | 'recipient', string>>(
      DELIVERED,
      reports,
    );
    const places = new Map(raised.map((one) => [one.reference, one]));
    const matched = reports.flatMap((report) => {
      const place = places.get(report.messageId);
      if (place) return [{ ...report, batch: place.batch, recipient: place.recipient }];
      if (settled.has(report.messageId)) void reporting.add(report);
      else early.set(report.messageId, report);
      return [];
    });
    deliveries = matched.map(({ batch, recipient }) =>
      deliveryOf(batch, recipient, 'ACME', 'delivered'),
    );
    await run(REPORTED, matched);
    await run(OUTBOX, deliveries);
  });
  tell(deliveries);
});
const recording = grouped<BareAttempt>(TOLD);

const submits = new Line<BareMessage>(SUBMITS, async (message) => {
  await intending.add(message);
  const { batch, sender, to, content } = message;
  const { text } = JSON.parse(content) as { text: string };
  const { statusCode, body } = await carrier.request({
    path: '/ng/v1/sendsms',
    method: 'POST',
    headers: {
      authorization: 'Bearer tok_bench',
      'content-type': 'application/json',
      accept: 'application/json',
      'idempotency-key': `${batch}-s0`,
    },
    body: JSON.stringify({ from: sender, to: [to], body: text, delivery_report: 'yes' }),
  });
  if (statusCode !== 200) throw new Error(`the carrier answered ${statusCode}`);
  const { reference_id: reference } = (await body.json()) as { reference_id: string };
  await settling.add({ ...message, reference });
});

const callbacks = new Line<BareDelivery>(CALLBACKS, async (delivery) => {
  const startedAt = Date.now();
  const { id, payload } = delivery;
  const at = String(Math.floor(startedAt / 1_000));
  const { statusCode, body } = await customer.request({
    path: '/',
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': at,
      'webhook-signature': `v1,${signatureOf(keys.customer, id, at, payload)}`,
    },
    body: payload,
  });
  await body.dump();
  if (statusCode >= 300) throw new Error(`the customer answered ${statusCode}`);
  void recording.add({ delivery, startedAt, duration: Date.now() - startedAt });
});

function grouped<T>(statements: readonly RawStatement<T>[]): NaturalBatch<T> {
  return new NaturalBatch<T>((rows) =>
    database.commit(async (run) => {
      for (const statement of statements) await run(statement, rows);
    }),
  );
}

function tell(deliveries: readonly BareDelivery[]): void {
  for (const delivery of deliveries) void callbacks.run(delivery);
}

function deliveryOf(batch: string, to: string, from: string, status: string): BareDelivery {
  const sequence = status === 'sent' ? 1 : 2;
  const messageId = `${batch}-0`;
  const at = new Date().toISOString();
  const data = {
    reference_id: batch,
    message_id: messageId,
    to,
    from,
    status,
    error_code: null,
    smsc_timestamp: at,
    sequence,
  };
  const payload = JSON.stringify({ type: 'sms.delivery', timestamp: at, data });
  return { id: v7(), messageId, sequence, payload };
}

function reportOf({ message_id: messageId = '', reference_id: reference = '', status = '' }) {
  const hash = createHash('sha256').update(`${messageId} ${status}`).digest('hex').slice(0, 32);
  const id = hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { hash: id, messageId, reference };
}

function isSigned(headers: Readonly<Record<string, unknown>>, body: string): boolean {
  const [id, at, given] = ['id', 'timestamp', 'signature'].map((name) =>
    String(headers[`webhook-${name}`]),
  ) as [string, string, string];
  const expected = Buffer.from(`v1,${signatureOf(keys.carrier, id, at, body)}`);
  const written = Buffer.from(given);
  return written.length === expected.length && timingSafeEqual(written, expected);
}

function signatureOf(key: Buffer, id: string, at: string, body: string): string {
  return createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice('whsec_'.length), 'base64');
}
