import 'reflect-metadata';
import { http } from '@dundun/messaging';
import { ChannelRegistry, type MessageTransport, type Submission } from '@dundun/messaging/ports';
import { HttpService } from '@nestjs/axios';
import axios from 'axios';
import { v7 } from 'uuid';
import { HttpLoad } from '../harness/http.load.js';
import { inFlight } from '../harness/in.flight.js';
import type { Count } from '../harness/rounds.js';
import { serve } from '../harness/worker.serve.js';

const clock = { now: () => Date.now(), monotonic: () => performance.now(), id: () => v7() };
const channels = new ChannelRegistry([]);
let straight: MessageTransport;
let intercepted: MessageTransport;
let bare: HttpLoad;
let width: number;

/** The same requests with no store: through the library's client, and through undici alone. */
serve({
  start: async (options: { sink: string; width: number }) => {
    const factory = http({ baseUrl: options.sink, apiToken: 'tok_bench' });
    straight = factory({ channels, clock });
    intercepted = factory({ channels, http: new HttpService(axios.create()), clock });
    width = options.width;
    bare = new HttpLoad(options.sink, width, {
      path: '/ng/v1/sendsms',
      headers: {
        authorization: 'Bearer tok_bench',
        'content-type': 'application/json',
        accept: 'application/json',
        'idempotency-key': `${v7()}-s0`,
      },
    });
  },
  straight: (n: number) => timed(n, (i) => submit(straight, i)),
  intercepted: (n: number) => timed(n, (i) => submit(intercepted, i)),
  undici: (n: number) =>
    timed(n, (i) =>
      bare.post(
        `{"from":"ACME","to":["23480${10_000_000 + i}"],"body":"Your code is 123456","delivery_report":"none"}`,
      ),
    ),
  stop: () => bare.close(),
});

async function timed(n: number, work: (index: number) => Promise<unknown>): Promise<Count> {
  const begun = performance.now();
  await inFlight(n, width, work);
  return { count: n, ms: performance.now() - begun };
}

/** Each request has its own time limit, like in the drain. */
async function submit(transport: MessageTransport, index: number): Promise<void> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), 30_000);
  await transport.submit(submission(index), controller.signal);
  clearTimeout(timer);
}

function submission(index: number): Submission {
  const batchId = v7();
  return {
    id: `${batchId}-s0`,
    batchId,
    tenant: '',
    channel: 'sms',
    sender: 'ACME',
    content: { kind: 'text', text: 'Your code is 123456' },
    recipients: [`23480${10_000_000 + index}`],
    deliveryReport: false,
    attempt: 1,
    dueAt: new Date(),
    firstSentAt: new Date(),
  };
}
