import { setTimeout as pause } from 'node:timers/promises';
import { serve } from '../harness/worker.serve.js';

interface Watched {
  readonly address: string;
  readonly pages: number;
}

let watched: Watched;
let stop: AbortController | undefined;
let pages: Promise<unknown> = Promise.resolve();

/** Open pages: each polls once a second, and reads its lists again after a change. */
serve({
  start: async (options: Watched) => {
    watched = options;
  },
  open: async () => {
    stop = new AbortController();
    const { signal } = stop;
    pages = Promise.all(Array.from({ length: watched.pages }, (_, n) => page(n, signal)));
  },
  close: async () => {
    stop?.abort();
    await pages;
  },
  stop: async () => stop?.abort(),
});

async function page(n: number, signal: AbortSignal): Promise<void> {
  const read = async (path: string, after = '') => {
    const headers = after === '' ? undefined : { 'x-after': after };
    const answer = await fetch(new URL(`api/${path}`, watched.address), { headers });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return (await answer.json()) as { readonly cursor: string; readonly changed: boolean };
  };
  await pause(n * 97, undefined, { signal }).catch(() => undefined);
  let { cursor } = await read('changes');
  while (!signal.aborted) {
    await pause(1_000, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const changes = await read(`changes?since=${cursor}`);
    ({ cursor } = changes);
    if (changes.changed)
      await Promise.all(
        ['messages?limit=50', 'batches?limit=20', 'stats'].map((path) => read(path, cursor)),
      );
  }
}
