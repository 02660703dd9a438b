import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '../harness/worker.serve.js';

let awaited = 0;
let heard = 0;
let resolve: (() => void) | undefined;

/** Receives deliveries, by Kannel's `status=1` or the gateway's webhook, on node:http. */
const server: Server = createServer((request, response) => {
  let body = '';
  request.setEncoding('latin1');
  request.on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    response.writeHead(200, { 'content-length': 0 }).end();
    if (request.url === '/?status=1' || body.includes('"status":"delivered"')) heard++;
    if (heard < awaited) return;
    resolve?.();
    resolve = undefined;
  });
});
server.keepAliveTimeout = 60_000;

serve({
  start: () => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)),
  address: async () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  /** Resolves after `n` deliveries. */
  hear: (messages: number) => {
    heard = 0;
    awaited = messages;
    return new Promise<void>((done) => (resolve = done));
  },
  stop: async () => {
    server.closeAllConnections();
    server.close();
  },
});
