import { transformFile } from '@swc/core';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Library and test processes compiled into a directory of their own, so that plain Node can run them. */
export class CompiledSources {
  private constructor(private readonly directory: string) {}

  static async make(): Promise<CompiledSources> {
    const cache = join(root, 'node_modules/.cache');
    await mkdir(cache, { recursive: true });
    const made = new CompiledSources(await mkdtemp(join(cache, 'dundun-chaos-')));
    for (const folder of ['libs/messaging/src', 'src/config', 'test/chaos/processes'])
      await made.#compile(folder);
    await writeFile(join(made.directory, 'package.json'), '{"type":"module"}');
    return made;
  }

  path(source: string): string {
    return join(this.directory, source);
  }

  remove(): Promise<void> {
    return rm(this.directory, { recursive: true, force: true });
  }

  async #compile(folder: string): Promise<void> {
    const files = await readdir(join(root, folder), { recursive: true });
    const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'));
    await Promise.all(
      sources.map(async (file) => {
        const { code } = await transformFile(join(root, folder, file), {
          cwd: root,
          configFile: join(root, '.swcrc'),
        });
        const target = this.path(join(folder, file.replace(/\.ts$/, '.js')));
        await mkdir(dirname(target), { recursive: true });
        await writeFile(target, code);
      }),
    );
  }
}
