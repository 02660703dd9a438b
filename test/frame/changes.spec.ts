import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const HOUR = 3_600;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dundun-changes-'));
  for (const name of ['src', 'src/deep', 'src/dist']) await mkdir(join(folder, name));
  for (const name of ['src/a.ts', 'src/deep/b.ts', 'src/dist/c.js', 'src/notes.txt'])
    await writeFile(join(folder, name), '');
  await writeFile(join(folder, 'built.js'), '');
  await age();
});
afterEach(() => rm(folder, { recursive: true }));

/** All sources are older than the build, which is newer than the installed packages. */
async function age(): Promise<void> {
  const now = Date.now() / 1_000;
  for (const name of ['src/a.ts', 'src/deep/b.ts', 'src/dist', 'src/deep', 'src'])
    await utimes(join(folder, name), now - HOUR, now - HOUR);
  await utimes(join(folder, 'built.js'), now + HOUR, now + HOUR);
}
/** From now on every change is newer than the build, by the clock of the file system. */
async function build(): Promise<void> {
  await writeFile(join(folder, 'built.js'), 'built');
  await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Asked in a process of its own, as `npm start` does. */
async function isNewer(): Promise<boolean> {
  const path = relative(ROOT, join(folder, 'src'));
  const code = `const { isNewerThan } = await import(${JSON.stringify(join(ROOT, 'src/changes.js'))});
    console.log(await isNewerThan(${JSON.stringify(join(folder, 'built.js'))}, [${JSON.stringify(path)}], /\\.[jt]s$/, /(?:^|\\/)dist\\//));`;
  const args = ['--input-type=module', '-e', code];
  return (await promisify(execFile)(process.execPath, args)).stdout.trim() === 'true';
}

it('a build is newer than sources that were there before it', async () => {
  expect(await isNewer()).toBe(true);
});

it.each([
  ['a deleted source', () => rm(join(folder, 'src/deep/b.ts'))],
  ['a deleted folder', () => rm(join(folder, 'src/deep'), { recursive: true })],
  ['a new source', () => writeFile(join(folder, 'src/deep/new.ts'), '')],
  ['a changed source', () => writeFile(join(folder, 'src/a.ts'), 'x')],
])('%s makes the build old', async (_, change) => {
  await build();
  await change();
  expect(await isNewer()).toBe(false);
});

it('a file of a folder that is no source leaves it new', async () => {
  await build();
  await writeFile(join(folder, 'src/dist/c.js'), 'x');
  expect(await isNewer()).toBe(true);
});

it('the first output of another build leaves it new', async () => {
  await rm(join(folder, 'src/dist'), { recursive: true });
  await build();
  await mkdir(join(folder, 'src/dist'));
  expect(await isNewer()).toBe(true);
});
