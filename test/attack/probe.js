import { request } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/**
 * Makes requests of several kinds again and again, each on a connection of its own and each kind
 * beside the others, until it is told to end; then it tells the times of each kind in milliseconds, or
 * the error. In a process of its own, so that the work of the attacker is not measured.
 */
const { probes, pause, least } = JSON.parse(process.argv[2]);

let isEnding = false;
process.once('message', () => (isEnding = true));

const times = {};
let error;
try {
  await Promise.all(probes.map((probe) => repeat(probe)));
} catch (caught) {
  error = String(caught);
}
process.send({ times, error }, () => process.exit());

async function repeat(probe) {
  const own = (times[probe.name] = []);
  while (error === undefined && !(isEnding && own.length >= least)) {
    const begun = performance.now();
    const status = await ask(probe);
    if (status !== 200) throw new Error(`${probe.name} answered ${status}`);
    own.push(performance.now() - begun);
    await setTimeout(pause);
  }
}

function ask({ url, method = 'GET', headers, body }) {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent: false, method, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    asked.once('error', reject).end(body);
  });
}
