import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '../harness/worker.serve.js';

let awaited = 0;
let heard = 0;
/** Counts callbacks of every status, not of deliveries alone. */
let hearsAll = false;
let resolve: (() => void) | undefined;

/** Receives deliveries, by Kannel's `status=1` or the gateway's webhook, on node:http. */
const server: Server = createServer((request, response) => {
  let body = '';
  request.setEncoding('latin1');
  request.on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    response.writeHead(200, { 'content-length': 0 }).end();
    if (hearsAll || request.url === '/?status=1' || body.includes('"status":"delivered"')) heard++;
    if (heard < awaited) return;
    resolve?.();
    resolve = undefined;
  });
});
server.keepAliveTimeout = 60_000;

function hear(callbacks: number, all: boolean): Promise<void> {
  heard = 0;
  awaited = callbacks;
  hearsAll = all;
  return new Promise<void>((done) => (resolve = done));
}

serve({
  start: () => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)),
  address: async () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  /** Resolves after so many deliveries. */
  hear: (messages: number) => hear(messages, false),
  /** Resolves after so many callbacks. */
  hearAll: (callbacks: number) => hear(callbacks, true),
  stop: async () => {
    server.closeAllConnections();
    server.close();
  },
});
