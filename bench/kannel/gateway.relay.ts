import { randomBytes } from 'node:crypto';
import { GatewayProcess } from '../accept/gateway.process.js';
import { type DatabaseKind, type DatabasePlace, makeDatabase } from '../harness/database.place.js';
import { HttpLoad } from '../harness/http.load.js';
import { Worker } from '../harness/worker.client.js';
import { CONNECTIONS, type Relay } from './relay.js';

export interface GatewayRelay extends Relay {
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
  /** Further variables of the gateway's environment. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The gateway, a carrier process that calls back, and a customer process with a webhook. */
export async function startGatewayRelay(
  kind: DatabaseKind,
  { tellsCustomer = true, settings = {} }: RelayOptions = {},
): Promise<GatewayRelay> {
  const customer = await Worker.start(new URL('./customer.worker.js', import.meta.url));
  const carrier = await Worker.start(new URL('./carrier.worker.js', import.meta.url));
  const place = await makeDatabase(kind);
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const gateway = await GatewayProcess.start(place.url, {
    CARRIER: 'http',
    CARRIER_URL: await carrier.call<string>('address'),
    CARRIER_TOKEN: 'tok_bench',
    CARRIER_CALLBACK_SECRET: secret,
    RATE_LIMIT: '100000/s',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    ...settings,
  });
  await carrier.call('reportTo', { url: `${gateway.url}/messaging/delivery-reports`, secret });
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${gateway.token}`,
  };
  const webhook = tellsCustomer
    ? await addWebhook(gateway.url, headers, await customer.call<string>('address'))
    : undefined;
  const load = new HttpLoad(gateway.url, CONNECTIONS, { path: '/ng/v1/sendsms', headers });
  return {
    name: 'gateway',
    gateway,
    carrier,
    place,
    webhook,
    headers,
    pids: [gateway.pid],
    load,
    bodyOf: (n) =>
      `{"from":"ACME","to":["23480${10_000_000 + n}"],"body":"Your code is ${100_000 + (n % 900_000)}","delivery_report":"yes"}`,
    customer,
    stop: async () => {
      await load.close();
      await gateway.stop();
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
