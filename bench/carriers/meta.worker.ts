import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { moment } from '../harness/moment.js';
import { serve } from '../harness/worker.serve.js';

let arrivals: number[] = [];

/** Meta's endpoint of messages: accepts each at once, and notes when it arrived. */
const server = createServer((request, response) => {
  arrivals.push(moment());
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    const { to } = JSON.parse(text) as { to: string };
    const body = JSON.stringify({
      messaging_product: 'whatsapp',
      contacts: [{ input: to, wa_id: to }],
      messages: [{ id: `wamid.${arrivals.length}.${to}`, message_status: 'accepted' }],
    });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});
server.keepAliveTimeout = 60_000;

serve({
  start: () => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)),
  address: async () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  /** Times of the messages since the last call. */
  arrivals: async () => {
    const all = arrivals;
    arrivals = [];
    return all;
  },
  stop: async () => {
    server.closeAllConnections();
    server.close();
  },
});
