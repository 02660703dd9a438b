import { start } from './start.js';

/** Ships an order by HTTP, waits for its delivery, and prints both ids. */
async function main(): Promise<void> {
  const app = await start();
  app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const answer = await fetch(`${url}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to: '2348012345678' }),
  });
  const { id } = (await answer.json()) as { id: string };
  let delivered: string[] = [];
  for (let tries = 0; delivered.length === 0 && tries < 600; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    delivered = (await (await fetch(`${url}/orders/delivered`)).json()) as string[];
  }
  await app.close();
  console.log(JSON.stringify({ id, delivered }));
}

void main();
