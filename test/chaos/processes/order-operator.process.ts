import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Outages } from './outage.js';

/**
 * An operator that speaks the interface, in a process that no test kills. It looks for no key: each
 * post is a credit in its book, written before the answer leaves. Every third answer is lost.
 */
const credits: string[] = [];
const losing = process.argv[2] === 'losing';
let posts = 0;
/** Take the next order, say so, and never answer it. */
let hold = false;

const server = createServer((request, response) => {
  let text = '';
  request.on('data', (part: Buffer) => (text += part.toString()));
  request.on('end', () => {
    const url = new URL(request.url ?? '', 'http://operator');
    const answer = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    // A request of the suite does not meet the end of an idle connection.
    if (!url.pathname.startsWith('/ng/')) response.setHeader('connection', 'close');
    if (url.pathname === '/book') return answer(credits);
    if (url.pathname === '/faults') {
      hold = true;
      return answer({});
    }
    if (outages.isAway) return;
    if (url.pathname === '/ng/v1/vas/products') return answer({ data: [PRODUCT] });
    if (request.method === 'POST') {
      const { client_reference: key } = JSON.parse(text) as { client_reference: string };
      credits.push(key);
      if (hold) {
        hold = false;
        return process.send?.({ event: 'held', key });
      }
      if (losing && ++posts % 3 === 0) return request.socket.destroy();
      return answer({ id: `order-${credits.length}`, client_reference: key, status: 'processing' });
    }
    const key = url.searchParams.get('client_reference') ?? '';
    return answer({
      data: credits.includes(key) ? [{ client_reference: key, status: 'delivered' }] : [],
    });
  });
});

const outages = new Outages(server);

const PRODUCT = {
  id: 'airtime',
  type: 'airtime',
  network: 'Test',
  name: 'Airtime',
  min: '1',
  max: '1000',
  currency: 'NGN',
};

process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () =>
  process.send?.({ event: 'ready', port: (server.address() as AddressInfo).port }),
);
