import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chances, seedOf } from './chance.js';
import { Outages } from './outage.js';
import type { BookEntry, Faults } from './protocol.js';
import {
  bodyOf,
  refuses,
  refusesForGood,
  type WrongAnswer,
  wrongAnswers,
} from './wrong-answers.js';

/**
 * Another service that speaks the interface, in a process that no test kills. It keeps the book: each
 * acceptance is one entry, appended before the answer leaves, and nothing is ever taken out.
 */
const seed = Number(process.argv[2]);
const book: BookEntry[] = [];
const byKey = new Map<string, BookEntry>();
/** Keys of requests that were refused for good. */
const refused = new Set<string>();
const tries = new Map<string, number>();
let wrongAnswersGiven = 0;
let throttles = 0;
let faults: Faults = {
  honoursKeys: true,
  latency: 3,
  hold: false,
  wrong: 0,
  busy: 0,
  throttled: 0,
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (!outages.isAway) answer(request, Buffer.concat(chunks).toString('utf8'), response);
  });
});

const outages = new Outages(server);

function answer(request: IncomingMessage, body: string, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? '', 'http://upstream');
  const isCall = pathname === '/ng/v1/voice/calls' && request.method === 'POST';
  if (pathname === '/ng/v1/sendsms' || isCall) return take(request, body, response);
  // A request of the suite does not meet the end of an idle connection.
  if (!pathname.startsWith('/ng/')) response.setHeader('connection', 'close');
  if (pathname === '/book') return reply(response, 200, book);
  if (pathname === '/refused')
    return reply(response, 200, { keys: [...refused], wrong: wrongAnswersGiven, throttles });
  if (pathname === '/faults') {
    faults = { ...faults, ...(JSON.parse(body) as Partial<Faults>) };
    return reply(response, 200, faults);
  }
  if (pathname === '/ng/v1/voice/calls' && faults.busy > 0) return tellCall(request, response);
  // Else the upstream has no reports, and its answer is the app's only source.
  reply(response, 200, { data: [], next_cursor: null });
}

/** The first dials of a number find its line busy, a later one is answered. */
function tellCall(request: IncomingMessage, response: ServerResponse): void {
  const { searchParams } = new URL(request.url ?? '', 'http://upstream');
  const reference = searchParams.get('reference_id');
  const entry = book.find((one) => one.reference === reference);
  const data = (entry?.recipients ?? []).map((to) => {
    const dials = book.filter(({ recipients }) => recipients.includes(to));
    const status = dials.indexOf(entry as BookEntry) < faults.busy ? 'busy' : 'completed';
    return { reference_id: reference, message_id: `${reference}-0`, to, status, error_code: null };
  });
  reply(response, 200, { data, next_cursor: null });
}

function take(request: IncomingMessage, body: string, response: ServerResponse): void {
  const key = String(request.headers['idempotency-key']);
  if (isThrottled(body)) {
    const headers = ++throttles % 2 === 0 ? { 'retry-after': '1' } : {};
    const tooMany = bodyOf({ status: 429, form: 'own', after: false });
    return void response.writeHead(429, headers).end(tooMany);
  }
  const known = faults.honoursKeys ? byKey.get(key) : undefined;
  const wrong = wrongAnswerTo(body);
  // A service that honours keys does not refuse a request that it has accepted.
  if (wrong && !wrong.after && !(known && refuses(wrong))) {
    if (refusesForGood(wrong)) refused.add(key);
    return giveWrong(wrong, response);
  }
  if (known && known.body !== body) {
    known.conflicts++;
    return reply(response, 422, {
      error: { type: 'validation_error', code: 'idempotency_key_reused', message: 'Other body' },
    });
  }
  const entry = known ?? accept(key, body);
  if (known) known.repeats++;
  if (wrong?.after) return giveWrong(wrong, response);
  const say = () =>
    reply(response, 200, {
      status_code: 200,
      message: 'Request is being processed',
      reference_id: entry.reference,
      recipients_processed: entry.recipients.length,
    });
  if (faults.hold) {
    faults = { ...faults, hold: false };
    process.send?.({ event: 'held', key });
    return;
  }
  if (faults.latency > 0) setTimeout(say, latencyOf(body, entry.repeats));
  else say();
}

/** The seed decides for each try of a body separately. */
function wrongAnswerTo(body: string): WrongAnswer | undefined {
  if (faults.wrong === 0) return undefined;
  const count = (tries.get(body) ?? 0) + 1;
  tries.set(body, count);
  const chance = chances(seedOf(seed, `wrong ${body} ${count}`));
  if (chance() >= faults.wrong) return undefined;
  const all = wrongAnswers(faults.honoursKeys);
  return all[Math.floor(chance() * all.length)];
}

function isThrottled(body: string): boolean {
  if (faults.throttled === 0) return false;
  const count = (tries.get(body) ?? 0) + 1;
  tries.set(body, count);
  return chances(seedOf(seed, `throttled ${body} ${count}`))() < faults.throttled;
}

function giveWrong(wrong: WrongAnswer, response: ServerResponse): void {
  const given = ++wrongAnswersGiven;
  if (wrong.status === 0) return void response.socket?.destroy();
  const isLater = wrong.status === 429 || wrong.status === 503;
  const headers = isLater && given % 2 === 0 ? { 'retry-after': '1' } : {};
  response.writeHead(wrong.status, headers).end(bodyOf(wrong));
}

/** The seed decides for each request separately, because keys differ between runs. */
function latencyOf(body: string, repeats: number): number {
  return chances(seedOf(seed, `${body} ${repeats}`))() * faults.latency;
}

function accept(key: string, body: string): BookEntry {
  const { to } = JSON.parse(body) as { to: string[] };
  const entry = { key, body, reference: randomUUID(), recipients: to, repeats: 0, conflicts: 0 };
  book.push(entry);
  byKey.set(key, entry);
  return entry;
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

server.listen(0, '127.0.0.1', () =>
  process.send?.({ event: 'ready', port: (server.address() as AddressInfo).port }),
);
process.on('disconnect', () => process.exit());
