import { get } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * Asks for a health check again and again, each time on a connection of its own, until it is told to
 * end; then it posts the slowest time in milliseconds, or the error. In a thread, so that an attacker
 * that keeps its event loop busy is not measured.
 */
const { url, pause, least } = workerData;

let isEnding = false;
parentPort.once('message', () => (isEnding = true));

let slowest = 0;
let error;
try {
  for (let count = 0; !isEnding || count < least; count++) {
    const begun = performance.now();
    const status = await check();
    if (status !== 200) throw new Error(`the health check answered ${status}`);
    slowest = Math.max(slowest, performance.now() - begun);
    await setTimeout(pause);
  }
} catch (caught) {
  error = String(caught);
}
parentPort.postMessage({ slowest, error });

function check() {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    }).once('error', reject);
  });
}
