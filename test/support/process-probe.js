import { existsSync, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { getHeapSnapshot } from 'node:v8';

/**
 * Loaded into a process with `--import`, beside `--expose-gc` and an IPC channel, it answers what
 * is invisible from outside: memory after a full garbage collection, and how long work keeps the
 * event loop from other work.
 */
const ANSWERS = { rest, search, longestTurn };

process.on('message', ({ id, ask, about }) => {
  ANSWERS[ask](about).then((answer) => process.send({ id, answer }));
});
process.channel.unref();

/** Bytes and handles after a collection. */
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

let longest = 0;
let ticking = false;

let last = 0;

/**
 * The most CPU time of the main thread, in milliseconds, between two turns of the event loop since
 * the last question; the first one begins to measure. On the clock a turn takes longer where other
 * processes run, and CPU time is longer where they share its caches and its memory: it is divided by
 * what a reference takes longer than usual.
 */
async function longestTurn() {
  const answer = longest;
  const slowdown = Math.max(1, referenceTime() / REFERENCE);
  longest = 0;
  last = cpuTime();
  // A timer is due in each turn that takes a millisecond.
  if (!ticking)
    setInterval(() => {
      const now = cpuTime();
      longest = Math.max(longest, now - last);
      last = now;
    }, 1).unref();
  ticking = true;
  return answer / slowdown;
}

/** About a megabyte of objects, which a turn of the gateway also makes and leaves behind. */
const DOCUMENT = JSON.stringify(
  Array.from({ length: 10_000 }, (_, n) => ({ to: `2348${10_000_000 + n}`, name: `Name ${n}` })),
);

/** CPU time in milliseconds of {@link referenceTime} on a machine without other work. */
const REFERENCE = 3;

/** CPU time in milliseconds of work that is always the same. */
function referenceTime() {
  const began = cpuTime();
  for (let n = 0; n < 4; n++) JSON.stringify(JSON.parse(DOCUMENT));
  return (cpuTime() - began) / 4;
}

const SCHEDULED = '/proc/thread-self/schedstat';
const scheduled = existsSync(SCHEDULED) ? openSync(SCHEDULED, 'r') : undefined;
const read = Buffer.alloc(64);

/** Milliseconds of the main thread; without Linux of all threads, which is more. */
function cpuTime() {
  if (scheduled === undefined) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
  const length = readSync(scheduled, read, 0, read.length, 0);
  return Number(read.toString('latin1', 0, length).split(' ', 1)) / 1_000_000;
}

/** Twice, because finalisers release more. */
async function collect() {
  for (let round = 0; round < 3; round++) {
    await setImmediate();
    globalThis.gc();
  }
}
