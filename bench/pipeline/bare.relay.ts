import { randomBytes } from 'node:crypto';
import { GatewayProcess } from '../accept/gateway.process.js';
import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import { HttpLoad } from '../harness/http.load.js';
import { Worker } from '../harness/worker.client.js';
import type { GatewayRelay } from '../kannel/gateway.relay.js';
import { CONNECTIONS } from '../kannel/relay.js';

export interface BareRelay extends Pick<GatewayRelay, 'load' | 'customer' | 'bodyOf' | 'stop'> {
  readonly worker: Worker;
}

/** The bare program with a carrier and a customer of its own, on a database with the gateway's tables. */
export async function startBareRelay(
  kind: DatabaseKind,
  bodyOf: GatewayRelay['bodyOf'],
): Promise<BareRelay> {
  const place = await makeDatabase(kind);
  await (await GatewayProcess.start(place.url)).stop();
  const customer = await Worker.start(new URL('../kannel/customer.worker.js', import.meta.url));
  const carrier = await Worker.start(new URL('../kannel/carrier.worker.js', import.meta.url));
  const [carrierSecret, customerSecret] = [newSecret(), newSecret()];
  const worker = await Worker.start(new URL('./bare.worker.js', import.meta.url), {
    url: place.url,
    carrier: await carrier.call<string>('address'),
    carrierSecret,
    customer: await customer.call<string>('address'),
    customerSecret,
  });
  const address = await worker.call<string>('address');
  await carrier.call('reportTo', { urls: [`${address}/reports`], secret: carrierSecret });
  const headers = { 'content-type': 'application/json', authorization: 'Bearer tok_bench' };
  const load = new HttpLoad(address, CONNECTIONS, { path: '/ng/v1/sendsms', headers });
  return {
    worker,
    customer,
    load,
    bodyOf,
    stop: async () => {
      await load.close();
      for (const one of [worker, carrier, customer]) await one.stop();
      await place.remove();
    },
  };
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
