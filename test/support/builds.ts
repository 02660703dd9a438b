import { execFile } from 'node:child_process';
import { mkdir, readdir, rmdir, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { limitTests } from './time-limit.js';

// Suites that import this start processes or a browser, often several times in a test.
limitTests(300);

const ROOT = join(import.meta.dirname, '../..');
const BUNDLE = join(ROOT, 'src/bundle.js');
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js');
const CACHE = join(ROOT, 'node_modules/.cache');

const node = (...args: readonly string[]) => promisify(execFile)(process.execPath, args);

/** Bundles the gateway where its sources changed; concurrent suites wait for each other. */
export async function buildGateway(): Promise<void> {
  await alone(() => node(BUNDLE, '--if-changed'));
}

/** Bundles processes of tests where their sources changed. @returns the folder of the bundles */
export async function buildProcesses(name: string, entries: readonly string[]): Promise<string> {
  const directory = join(CACHE, name);
  await alone(() => node(BUNDLE, '--if-changed', directory, ...entries));
  return directory;
}

const PAGES = {
  'src/portal/ui': 'dist/portal',
  'libs/dashboard/ui': 'libs/dashboard/dist/ui',
} as const;

/** Builds the pages of the portal, or of the dashboard, where their sources changed. */
export async function buildPages(directory: keyof typeof PAGES): Promise<void> {
  const isBuilt = async () => {
    const built = await stat(join(ROOT, PAGES[directory], 'index.html')).catch(() => undefined);
    return built && built.mtimeMs > (await latestChange(Object.keys(PAGES)));
  };
  await alone(async () => {
    if (!(await isBuilt()))
      await node(VITE, 'build', '-c', join(ROOT, directory, 'vite.config.ts'));
  });
}

async function latestChange(folders: readonly string[]): Promise<number> {
  const times = folders.map(async (folder) => {
    const files = await readdir(join(ROOT, folder), { recursive: true });
    const found = await Promise.all(files.map((file) => stat(join(ROOT, folder, file))));
    return Math.max(...found.map(({ mtimeMs }) => mtimeMs));
  });
  return Math.max(...(await Promise.all(times)));
}

/** Milliseconds between two signs of life, and without one after which a lock is a killed run's. */
const BEAT = 1_000;
const STALE = 60_000;

async function alone(work: () => Promise<unknown>): Promise<void> {
  const lock = join(CACHE, 'dundun-build.lock');
  await mkdir(dirname(lock), { recursive: true });
  for (;;)
    try {
      await mkdir(lock);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const held = await stat(lock).catch(() => undefined);
      if (held && Date.now() - held.mtimeMs > STALE) await rmdir(lock).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(lock, now, now).catch(() => undefined);
  }, BEAT);
  try {
    await work();
  } finally {
    clearInterval(beat);
    await rmdir(lock).catch(() => undefined);
  }
}
