import { randomBytes } from 'node:crypto';
import { GatewayProcess } from '../accept/gateway.process.js';
import { Operator } from '../billing/paying.account.js';
import { type DatabaseKind, type DatabasePlace, makeDatabase } from '../harness/database.place.js';
import { HttpLoad } from '../harness/http.load.js';
import { Worker } from '../harness/worker.client.js';
import { CONNECTIONS, type Relay } from './relay.js';

export interface GatewayRelay extends Relay {
  /** The first process. */
  readonly gateway: GatewayProcess;
  readonly carrier: Worker;
  readonly place: DatabasePlace;
  /** The customer's endpoint; without one the customer is not told. */
  readonly webhook: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export interface RelayOptions {
  /** @default true */
  readonly tellsCustomer?: boolean;
  /** Processes on the database, which take requests and reports in turns. @default 1 */
  readonly processes?: number;
  /** Accounts that send in turns, each with a webhook; a lane of each is in one process. @default 1 */
  readonly accounts?: number;
  /** Further variables of the gateway's environment. */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * The gateway with an account that does not pay, a carrier process that calls back, and a customer
 * process with a webhook.
 */
export async function startGatewayRelay(
  kind: DatabaseKind,
  { tellsCustomer = true, processes = 1, accounts = 1, settings = {} }: RelayOptions = {},
): Promise<GatewayRelay> {
  const customer = await Worker.start(new URL('./customer.worker.js', import.meta.url));
  const carrier = await Worker.start(new URL('./carrier.worker.js', import.meta.url));
  const place = await makeDatabase(kind);
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const environment = {
    CARRIER: 'http',
    CARRIER_URL: await carrier.call<string>('address'),
    CARRIER_TOKEN: 'tok_bench',
    CARRIER_CALLBACK_SECRET: secret,
    RATE_LIMIT: '100000/s',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    ...settings,
  };
  const gateway = await GatewayProcess.start(place.url, environment);
  const operator = new Operator(place.url);
  await operator.frees();
  const tokens = [gateway.token];
  while (tokens.length < accounts) tokens.push((await operator.account()).token);
  const gateways = [gateway];
  while (gateways.length < processes)
    gateways.push(await GatewayProcess.restart(place.url, environment));
  const urls = gateways.map(({ url }) => `${url}/messaging/delivery-reports`);
  await carrier.call('reportTo', { urls, secret });
  const address = await customer.call<string>('address');
  const senders = tokens.map((token) => ({
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
  }));
  const webhooks: string[] = [];
  if (tellsCustomer)
    for (const headers of senders) webhooks.push(await addWebhook(gateway.url, headers, address));
  const loads = senders.flatMap((headers, account) =>
    gateways.map((_, n) => {
      // An account that follows another begins with another process.
      const { url } = gateways[(account + n) % processes] as GatewayProcess;
      return new HttpLoad(url, Math.ceil(CONNECTIONS / processes / accounts), {
        path: '/ng/v1/sendsms',
        headers,
      });
    }),
  );
  let turn = 0;
  return {
    name: 'gateway',
    gateway,
    carrier,
    place,
    webhook: webhooks[0],
    headers: senders[0] as (typeof senders)[0],
    pids: gateways.map(({ pid }) => pid),
    load: { post: (body) => (loads[turn++ % loads.length] as HttpLoad).post(body) },
    bodyOf: (n) =>
      `{"from":"ACME","to":["23480${10_000_000 + n}"],"body":"Your code is ${100_000 + (n % 900_000)}","delivery_report":"yes"}`,
    customer,
    stop: async () => {
      for (const load of loads) await load.close();
      for (const one of gateways) await one.stop();
      await carrier.stop();
      await customer.stop();
      await place.remove();
    },
  };
}

async function addWebhook(
  origin: string,
  headers: Readonly<Record<string, string>>,
  url: string,
): Promise<string> {
  const answer = await fetch(`${origin}/ng/v1/webhooks`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ url }),
  });
  const { webhook_id: id } = (await answer.json()) as { webhook_id?: string };
  if (id === undefined) throw new Error(`a webhook was answered ${answer.status}`);
  return id;
}
