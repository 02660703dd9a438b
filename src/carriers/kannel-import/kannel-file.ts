import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';

/** Most bytes of all files together. */
const MOST = 4_194_304;

/** A group of lines of a Kannel configuration. */
export interface KannelGroup {
  /** Its `group`, such as `smsc`. */
  readonly name: string;
  /** Where it begins: file and line. */
  readonly at: string;
  /** The other lines; of a name that is written twice the last. */
  readonly values: ReadonlyMap<string, string>;
}

/** The file cannot be read as a Kannel configuration; `message` names the file, the line and the remedy. */
export class KannelFileError extends Error {
  override readonly name = 'KannelFileError';
}

/**
 * Reads a Kannel configuration, as Kannel does: groups of `name = value` that an empty line ends, `#` at
 * the start of a comment, and `include` with a file or the files of a folder.
 * @param path of the main file
 * @returns the groups in their order, included ones in the place of their `include`
 * @throws KannelFileError
 */
export async function readKannelFile(path: string): Promise<KannelGroup[]> {
  const reader = new Reader();
  await reader.read(path, path);
  return reader.groups;
}

class Reader {
  readonly groups: KannelGroup[] = [];
  readonly #open = new Set<string>();
  #bytes = 0;

  /** @param from the place that names the file, for errors */
  async read(path: string, from: string): Promise<void> {
    const file = await realpath(path).catch(refuse(path, from));
    if (this.#open.has(file))
      throw new KannelFileError(`${from}: includes itself; remove the line`);
    this.#open.add(file);
    if ((await stat(file)).isDirectory()) {
      for (const name of (await readdir(file)).toSorted()) await this.read(join(file, name), from);
    } else await this.#readLines(file, path, from);
    this.#open.delete(file);
  }

  async #readLines(file: string, path: string, from: string): Promise<void> {
    const text = await readFile(file, 'utf8').catch(refuse(path, from));
    this.#bytes += text.length;
    if (this.#bytes > MOST)
      throw new KannelFileError(`${from}: the files have more than ${MOST} bytes`);
    let group: { at: string; values: Map<string, string> } | undefined;
    for (const [n, written] of [...text.split('\n'), ''].entries()) {
      const line = written.trim();
      const at = `${path}:${n + 1}`;
      if (line === '') {
        if (group) this.#add(group);
        group = undefined;
      } else if (!line.startsWith('#')) {
        const [name, value] = pairIn(line, at);
        if (name === 'include') await this.#include(value, path, at);
        else (group ??= { at, values: new Map() }).values.set(name, value);
      }
    }
  }

  #add({ at, values }: { readonly at: string; readonly values: Map<string, string> }): void {
    const name = values.get('group');
    if (name === undefined)
      throw new KannelFileError(
        `${at}: these lines have no \`group = …\`; an empty line ends a group, remove it where one is divided`,
      );
    values.delete('group');
    this.groups.push({ name, at, values });
  }

  /** Relative to the file that includes it, else to the working directory, as for Kannel. */
  async #include(value: string, path: string, at: string): Promise<void> {
    const beside = isAbsolute(value) ? value : join(dirname(path), value);
    const isBeside = await stat(beside).catch(() => undefined);
    await this.read(isBeside ? beside : value, at);
  }
}

function refuse(path: string, from: string): (error: unknown) => never {
  return (error) => {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    const place = path === from ? '' : `${from}: `;
    throw new KannelFileError(`${place}${path} cannot be read (${code})`);
  };
}

/** A quoted value ends at its last quote, and has `\"` and `\\` for quotes and backslashes. */
function pairIn(line: string, at: string): [name: string, value: string] {
  const equals = line.indexOf('=');
  // The line may be part of a secret.
  if (equals < 1) throw new KannelFileError(`${at}: is no line of the form \`name = value\``);
  const value = line.slice(equals + 1).trim();
  const [, quoted] = /^"(.*)"$/.exec(value) ?? [];
  return [line.slice(0, equals).trim(), quoted?.replaceAll(/\\(["\\])/g, '$1') ?? value];
}
