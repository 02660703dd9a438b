import { jest } from '@jest/globals';
import { transformFile } from '@swc/core';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache/dundun-chaos');
const folders = ['libs/messaging/src', 'src/config', 'test/chaos/processes'];

// A fault lasts for several leases.
if (process.env['CHAOS'] === 'full') jest.setTimeout(900_000);

/** Milliseconds after which compiled output of older sources is deleted. */
const OLD = 86_400_000;

/** Library and test processes, compiled once per state of the sources, so that plain Node can run them. */
export class CompiledSources {
  private constructor(private readonly directory: string) {}

  static async make(): Promise<CompiledSources> {
    await mkdir(cache, { recursive: true });
    const sources = await findSources();
    const target = join(cache, sources.state);
    if (!(await stat(target).catch(() => undefined))) {
      await forgetOld();
      const made = await mkdtemp(join(cache, 'making-'));
      await Promise.all(sources.files.map((file) => compile(file, made)));
      await writeFile(join(made, 'package.json'), '{"type":"module"}');
      // Another suite may have compiled the same output first.
      await rename(made, target).catch(() => rm(made, { recursive: true }));
    }
    return new CompiledSources(target);
  }

  path(source: string): string {
    return join(this.directory, source);
  }
}

/** Their paths, and a name for the state they are in. */
async function findSources(): Promise<{ files: string[]; state: string }> {
  const files: string[] = [];
  for (const folder of folders)
    for (const file of await readdir(join(root, folder), { recursive: true }))
      if (file.endsWith('.ts') && !file.endsWith('.spec.ts')) files.push(join(folder, file));
  const hash = createHash('sha256');
  for (const file of ['.swcrc', ...files.toSorted()]) {
    const { mtimeMs, size } = await stat(join(root, file));
    hash.update(`${file} ${mtimeMs} ${size}\n`);
  }
  return { files, state: hash.digest('hex').slice(0, 16) };
}

async function forgetOld(): Promise<void> {
  for (const name of await readdir(cache)) {
    // Another suite may just have given it its own name.
    const known = await stat(join(cache, name)).catch(() => undefined);
    if (known && Date.now() - known.mtimeMs > OLD)
      await rm(join(cache, name), { recursive: true, force: true });
  }
}

async function compile(file: string, directory: string): Promise<void> {
  const { code } = await transformFile(join(root, file), {
    cwd: root,
    configFile: join(root, '.swcrc'),
  });
  const target = join(directory, file.replace(/\.ts$/, '.js'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code);
}
