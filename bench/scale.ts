import { request } from './harness/extent.js';
import { describeDatabase } from './harness/database.place.js';
import { ResultBook } from './harness/result.book.js';
import { measureGrowth } from './scale/growth.figure.js';
import { measureIdle } from './scale/idle.figure.js';
import { measureTravel } from './scale/travel.figure.js';

/** Measures the cost of size (S1), the cost of idle workers, and the latency between processes (S2). */
const asked = request({ ms: 0, rounds: 3 }, { ms: 0, rounds: 5 });
const full = asked.form === 'full';
const book = new ResultBook('scale', asked.form);
const name = await describeDatabase('postgres');

if (asked.wants('S1'))
  await measureGrowth(book, name, {
    rows: full ? 10_000_000 : 300_000,
    messages: full ? 5_000 : 2_000,
    rounds: asked.rounds,
  });
if (asked.wants('S2')) await measureTravel(book, name, { messages: full ? 1_000 : 200 });
if (asked.wants('idle')) await measureIdle(book, name, { lanes: 10_000, seconds: full ? 60 : 20 });
await book.close();
