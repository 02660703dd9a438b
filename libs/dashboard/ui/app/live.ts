import type { ChangesAnswer, ContextAnswer } from '../../src/api.js';
import { call, queryOf } from './api-client.js';
import { mount } from './router.js';

/** Least milliseconds between two refreshes of a page under steady traffic. */
const SETTLE = 700;

const listeners = new Set<() => void>();
let context: ContextAnswer | undefined;
let stream: EventSource | undefined;
let poll: ReturnType<typeof setTimeout> | undefined;
let cursor: string | undefined;
let settling: ReturnType<typeof setTimeout> | undefined;
let lastTold = 0;
let told = '';

/** Cursor of the last change that the page was told of; pages with the same one share answers. */
export const lastChange = (): string => told;

/** Calls the listener after changes of messages and batches, while the page is visible. */
export function onChange(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) start();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) stop();
  };
}

/** The pages poll or listen as the server says. */
export function configureLive(answer: ContextAnswer | undefined): void {
  context = answer;
  cursor = undefined;
  stop();
  if (answer && listeners.size > 0) start();
}

function start(): void {
  if (!context || document.visibilityState === 'hidden') return;
  if (context.live && !stream) listen();
  else if (!context.live && !poll) void look();
}

function stop(): void {
  stream?.close();
  stream = undefined;
  clearTimeout(poll);
  poll = undefined;
}

function tell(): void {
  if (settling) return;
  const wait = Math.max(0, lastTold + SETTLE - Date.now());
  settling = setTimeout(() => {
    settling = undefined;
    lastTold = Date.now();
    for (const listener of listeners) listener();
  }, wait);
}

function listen(): void {
  stream = new EventSource(new URL('api/live', mount));
  stream.addEventListener('change', ({ data }) => {
    told = (JSON.parse(data as string) as Pick<ChangesAnswer, 'cursor'>).cursor;
    tell();
  });
  // After an interruption the stream does not name the missed changes.
  let opened = false;
  stream.addEventListener('open', () => {
    if (opened) tell();
    opened = true;
  });
  stream.addEventListener('end', pollInstead);
  stream.addEventListener('error', () => {
    // Closed for good, such as by a proxy that does not stream.
    if (stream?.readyState === EventSource.CLOSED) pollInstead();
  });
}

function pollInstead(): void {
  stop();
  // After an interval, as the stream also ends at a sign-out, whose page is about to leave.
  if (listeners.size > 0) poll = setTimeout(() => void look(), interval());
}

const interval = (): number => context?.pollInterval ?? 2000;

async function look(): Promise<void> {
  poll = setTimeout(() => void look(), interval());
  try {
    const answer = await call<ChangesAnswer>(
      'GET',
      `api/changes${queryOf({ since: cursor })}`,
      undefined,
      { background: true },
    );
    if (cursor !== undefined && answer.changed) {
      told = answer.cursor;
      tell();
    }
    cursor = answer.cursor;
  } catch {
    // The next poll looks again; the pages show their own errors.
  }
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') stop();
  else if (listeners.size > 0) {
    start();
    tell();
  }
});

// A page that the browser keeps for Back holds no connection meanwhile.
window.addEventListener('pagehide', stop);
window.addEventListener('pageshow', (event) => {
  if (!event.persisted || listeners.size === 0) return;
  start();
  tell();
});
