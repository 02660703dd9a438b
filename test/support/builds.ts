import { execFile } from 'node:child_process';
import { mkdir, readdir, rmdir, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { limitTests } from './time-limit.js';

// Suites that import this start processes or a browser, often several times in a test.
limitTests(300);

const ROOT = join(import.meta.dirname, '../..');
const BUNDLE = join(ROOT, 'src/bundle.js');
const PAGES = join(ROOT, 'src/pages.js');
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const CACHE = join(ROOT, 'node_modules/.cache');

const node = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, args, { cwd: ROOT }).catch((error: unknown) => {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${stdout}${stderr}`, { cause: error });
  });

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

/** Builds the pages of the portal and of the dashboard where their sources changed. */
export async function buildPages(): Promise<void> {
  await alone(() => node(PAGES, '--if-changed'));
}

/** Folders of the sources of packages, and of the pages that packages have. */
const PACKED = ['libs', 'docs', 'examples'];

/**
 * Builds and packs the libraries where their sources or pages changed.
 * @returns the folder of `smpp.tgz`, `messaging.tgz` and `dashboard.tgz`
 */
export async function buildPackages(): Promise<string> {
  const packages = join(ROOT, 'dist/packages');
  await alone(async () => {
    // The last one that is made.
    const packed = await stat(join(packages, 'dashboard.tgz')).catch(() => undefined);
    if (packed && packed.mtimeMs > (await latestChange(PACKED))) return;
    await node(TSC, '-b', '--noCheck', 'libs/smpp', 'libs/messaging', 'libs/dashboard');
    await node(join(ROOT, 'libs/bundle.js'), 'messaging', 'dashboard');
    await node(VITE, 'build', '-c', join(ROOT, 'libs/dashboard/ui/vite.config.ts'));
    await node(join(ROOT, 'libs/pack.js'));
  });
  return packages;
}

/** Folders of the sources and pages of the site. */
const OF_SITE = ['docs', 'examples', 'libs', 'src'];

/** Builds the documentation site where a page or a source changed. @returns its folder */
export async function buildSite(): Promise<string> {
  await buildGateway();
  const site = join(ROOT, 'dist/docs');
  await alone(async () => {
    const built = await stat(join(site, 'index.html')).catch(() => undefined);
    const readme = await stat(join(ROOT, 'README.md'));
    if (built && built.mtimeMs > Math.max(await latestChange(OF_SITE), readme.mtimeMs)) return;
    await promisify(execFile)('npm', ['run', 'docs'], { cwd: ROOT, maxBuffer: 2 ** 26 }).catch(
      (error: unknown) => {
        const { stdout, stderr } = error as { stdout: string; stderr: string };
        throw new Error(`${stdout}${stderr}`, { cause: error });
      },
    );
  });
  return site;
}

/** The time of the last change of a file in the folders, except in builds and installed packages. */
async function latestChange(folders: readonly string[]): Promise<number> {
  const times = folders.map(async (folder) => {
    const files = await readdir(join(ROOT, folder), { recursive: true });
    const own = files.filter(
      (file) => !/(?:^|\/)(?:dist|node_modules|reference|gateway-api|source)(?:\/|$)/.test(file),
    );
    const found = await Promise.all(own.map((file) => stat(join(ROOT, folder, file))));
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
