import { HttpLoad } from '../harness/http.load.js';
import { Worker } from '../harness/worker.client.js';
import { Kannel } from '../../test/support/kannel.js';
import { CONNECTIONS, type Relay } from './relay.js';

/** Requests to Kannel's sendsms; the body is the text. */
export function sendsmsLoad(
  { url, username, password }: Kannel,
  connections: number,
  headers: Readonly<Record<string, string>> = {},
): HttpLoad {
  const { origin, pathname } = new URL(url);
  return new HttpLoad(origin, connections, {
    path: pathname,
    headers: {
      'content-type': 'text/plain; charset=UTF-8',
      'x-kannel-username': username,
      'x-kannel-password': password,
      'x-kannel-from': 'ACME',
      'x-kannel-to': '2348012345678',
      'x-kannel-coding': '0',
      ...headers,
    },
  });
}

/** Kannel without access logs, with the same callbacks as the gateway: accepted and delivered. */
export async function startKannelRelay(): Promise<Relay> {
  const customer = await Worker.start(new URL('./customer.worker.js', import.meta.url));
  const kannel = await Kannel.start({ log: false });
  const load = sendsmsLoad(kannel, CONNECTIONS, {
    'x-kannel-dlr-mask': '9',
    'x-kannel-dlr-url': `${await customer.call<string>('address')}/?status=%d`,
  });
  return {
    name: 'Kannel',
    pids: [kannel.pid('bearerbox'), kannel.pid('smsbox')],
    load,
    bodyOf: (n) => `Your code is ${100_000 + (n % 900_000)}`,
    customer,
    stop: async () => {
      await load.close();
      await kannel.stop();
      await customer.stop();
    },
  };
}
