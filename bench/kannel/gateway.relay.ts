import { randomBytes } from 'node:crypto';
import { GatewayProcess } from '../accept/gateway.process.js';
import { type DatabaseKind, makeDatabase } from '../harness/database.place.js';
import { HttpLoad } from '../harness/http.load.js';
import { Worker } from '../harness/worker.client.js';
import { CONNECTIONS, type Relay } from './relay.js';

/** The gateway, a carrier process that calls back, and a customer process with a webhook. */
export async function startGatewayRelay(kind: DatabaseKind): Promise<Relay> {
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
  });
  await carrier.call('reportTo', { url: `${gateway.url}/messaging/delivery-reports`, secret });
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${gateway.token}`,
  };
  const webhooks = new HttpLoad(gateway.url, 1, { path: '/ng/v1/webhooks', headers });
  await webhooks.post(JSON.stringify({ url: await customer.call<string>('address') }));
  await webhooks.close();
  const load = new HttpLoad(gateway.url, CONNECTIONS, { path: '/ng/v1/sendsms', headers });
  return {
    name: 'gateway',
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
