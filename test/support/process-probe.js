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

/** CPU time of the main thread in milliseconds, and pages that it touched for the first time. */
const turns = [];
let ticking = false;

let last = { time: 0, pages: 0 };

/**
 * The most CPU time of the main thread, in milliseconds, between two turns of the event loop since
 * the last question; the first one begins to measure. On the clock a turn takes longer where other
 * processes run, and CPU time is longer where they share its caches and its memory: it is divided by
 * what a reference takes longer than usual. Memory that is touched for the first time costs twenty times
 * as much on a virtual machine whose host takes free memory back: what it costs more than usual is left out.
 */
async function longestTurn() {
  const slowdown = Math.max(1, referenceTime() / REFERENCE);
  const excess = Math.max(excessBefore, excessOfPage());
  const answer = Math.max(0, ...turns.map(({ time, pages }) => time - pages * excess));
  turns.length = 0;
  excessBefore = excessOfPage();
  last = { time: cpuTime(), pages: pagesTouched() };
  // A timer is due in each turn that takes a millisecond.
  if (!ticking)
    setInterval(() => {
      const now = { time: cpuTime(), pages: pagesTouched() };
      const turn = { time: now.time - last.time, pages: now.pages - last.pages };
      if (turn.time > SHORT || turns.length === 0) turns.push(turn);
      last = now;
    }, 1).unref();
  ticking = true;
  return answer / slowdown;
}

/** Turns that take fewer milliseconds are not kept, but the first. */
const SHORT = 10;

/** CPU time in milliseconds of a page that is touched for the first time, on a machine of its own. */
const PAGE = 0.001;

let excessBefore = 0;

/** What a page that is touched for the first time takes longer than usual, from 16 MiB of them. */
function excessOfPage() {
  const before = { time: cpuTime(), pages: pagesTouched() };
  Buffer.allocUnsafeSlow(16 * 1_048_576).fill(1);
  const time = cpuTime() - before.time;
  return Math.max(0, time / Math.max(1, pagesTouched() - before.pages) - PAGE);
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
const read = Buffer.alloc(1_024);

const STATE = '/proc/thread-self/stat';
const state = existsSync(STATE) ? openSync(STATE, 'r') : undefined;

/** Pages that the main thread has touched for the first time; 0 without Linux. */
function pagesTouched() {
  if (state === undefined) return 0;
  const length = readSync(state, read, 0, read.length, 0);
  const text = read.toString('latin1', 0, length);
  // `minflt`, the eighth field after the name of the thread in brackets.
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ', 8)[7]);
}

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
