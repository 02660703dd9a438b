import { get } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/**
 * Asks for a health check again and again, each time on a connection of its own, until it is told to
 * end; then it tells the slowest time in milliseconds, or the error. In a process of its own, so that
 * the work of the attacker is not measured.
 */
const [url, pause, least] = process.argv.slice(2);

let isEnding = false;
process.once('message', () => (isEnding = true));

let slowest = 0;
let error;
try {
  for (let count = 0; !isEnding || count < Number(least); count++) {
    const begun = performance.now();
    const status = await check();
    if (status !== 200) throw new Error(`the health check answered ${status}`);
    slowest = Math.max(slowest, performance.now() - begun);
    await setTimeout(Number(pause));
  }
} catch (caught) {
  error = String(caught);
}
process.send({ slowest, error }, () => process.exit());

function check() {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    }).once('error', reject);
  });
}
