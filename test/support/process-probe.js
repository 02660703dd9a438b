import { setImmediate } from 'node:timers/promises';
import { getHeapSnapshot } from 'node:v8';

/**
 * Loaded into a process with `--import`, beside `--expose-gc` and an IPC channel, it answers what
 * what is invisible from outside: memory after a full garbage collection.
 */
const ANSWERS = { rest, search };

process.on('message', ({ id, ask, about }) => {
  ANSWERS[ask](about).then((answer) => process.send({ id, answer }));
});
process.channel.unref();

/** Bytes and handles that stay. */
async function rest() {
  await collect();
  const { heapUsed, external } = process.memoryUsage();
  const handles = {};
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
  return { bytes: heapUsed + external, peak: process.resourceUsage().maxRSS * 1_024, handles };
}

/**
 * Which of the texts, by index, are in the heap. They come as bytes, since a text that is asked for
 * would be found for that alone.
 */
async function search(texts) {
  await collect();
  const wanted = texts.map((bytes) => Buffer.from(bytes, 'base64'));
  const found = new Set();
  let tail = Buffer.alloc(0);
  for await (const chunk of getHeapSnapshot()) {
    const seen = Buffer.concat([tail, chunk]);
    for (const [index, text] of wanted.entries()) if (seen.includes(text)) found.add(index);
    tail = seen.subarray(-1_024);
  }
  return [...found];
}

/** Twice, because finalisers release more. */
async function collect() {
  for (let round = 0; round < 3; round++) {
    await setImmediate();
    globalThis.gc();
  }
}
