import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buildProcesses } from '../support/builds.js';

const PROCESSES = join(import.meta.dirname, 'processes');

/** The programs in `processes/`, each bundled with the library, so that they start fast. */
export class CompiledSources {
  private constructor(private readonly directory: string) {}

  static async make(): Promise<CompiledSources> {
    const files = await readdir(PROCESSES);
    const entries = files.filter((file) => file.endsWith('.process.ts')).toSorted();
    const paths = entries.map((file) => join(PROCESSES, file));
    return new CompiledSources(await buildProcesses('dundun-chaos', paths));
  }

  /** @param program such as `app.process.js` */
  path(program: string): string {
    return join(this.directory, program);
  }
}
