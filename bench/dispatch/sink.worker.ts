import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '../harness/worker.serve.js';
import { moment } from '../harness/moment.js';

let references = 0;
let arrivals: Map<string, number> | undefined;
let received: number[] = [];

/** The provider: accepts every request at once with a reference, on node:http. */
const server = createServer((request, response) => {
  received.push(moment());
  arrivals?.set(String(request.headers['idempotency-key']), moment());
  request.resume();
  request.on('end', () => {
    const body = `{"status_code":200,"message":"Your request is being processed","reference_id":"sink-${++references}","recipients_processed":1}`;
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': body.length,
    });
    response.end(body);
  });
});
server.keepAliveTimeout = 60_000;

serve({
  start: () =>
    new Promise<string>((resolve) => {
      server.listen(0, '127.0.0.1', () =>
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      );
    }),
  address: async () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  /** Records from now on the time of each request's first byte, by idempotency key. */
  record: async () => {
    arrivals = new Map();
  },
  arrivals: async () => arrivals,
  /** Times of the requests since the last call. */
  received: async () => {
    const times = received;
    received = [];
    return times;
  },
  stop: async () => {
    server.closeAllConnections();
    server.close();
  },
});
