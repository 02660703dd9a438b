import { request } from './harness/extent.js';
import { ResultBook } from './harness/result.book.js';
import { measureCodec } from './smpp/codec.figure.js';

/** Measures the codec of SMPP (C1, C2). */
const asked = request({ ms: 300, rounds: 5 }, { ms: 1_000, rounds: 21 });
const book = new ResultBook('smpp-codec', asked.form);
await measureCodec(book, asked);
await book.close();
