import { MessagingExceptionFilter } from '@dundun/messaging';
import { DECLINED } from './orders.module.js';
import { start } from './start.js';

/** Does by HTTP what the users of the app do, and prints the answers. */
async function main(): Promise<void> {
  const app = await start();
  app.useGlobalFilters(new MessagingExceptionFilter());
  app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const get = async (path: string, key = 'open') => {
    const { status, headers } = await fetch(`${url}/${path}`, { headers: { 'x-key': key } });
    return [status, headers.get('content-type')];
  };
  const post = (path: string, body: object) =>
    fetch(`${url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const read = async <T>(path: string) => (await (await fetch(`${url}/${path}`)).json()) as T;

  const { id } = (await (await post('orders', { to: '2348012345678' })).json()) as { id: string };
  let delivered: string[] = [];
  for (let tries = 0; delivered.length === 0 && tries < 600; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    delivered = await read<string[]>('orders/delivered');
  }
  const statuses = [];
  for (const phone of ['+234 801 234 5679', DECLINED])
    statuses.push((await post('orders/placed', { phone })).status);
  const wrong = await post('orders', { to: 'no number' });
  const { fields } = (await wrong.json()) as { fields: { path: string }[] };

  const page = await fetch(`${url}/admin/messaging`, { headers: { 'x-key': 'open' } });
  const [, script] = /src="\.\/(assets\/[^"]+\.js)"/.exec(await page.text()) ?? [];
  const dashboard = {
    page: page.status,
    script: await get(`admin/messaging/${script}`),
    api: await get('admin/messaging/api/context'),
    closed: await get('admin/messaging', 'shut'),
  };
  const stored = await read('orders');
  await app.close();
  console.log(
    JSON.stringify({
      isDelivered: delivered[0] === id,
      statuses,
      stored,
      wrong: [wrong.status, fields.map(({ path }) => path)],
      dashboard,
    }),
  );
}

void main();
