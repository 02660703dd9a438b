import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Bytes of the page, its scripts and styles, as the browser first loads them: compressed. */
export async function firstLoadOf(directory: string): Promise<number> {
  const page = await readFile(join(directory, 'index.html'), 'utf8');
  const names = [...page.matchAll(/assets\/([\w.-]+\.(?:js|css))/g)].map(([, name = '']) => name);
  if (names.length === 0) throw new Error(`${directory}/index.html loads no script`);
  let size = compressed(Buffer.from(page));
  for (const name of names) {
    const file = await readFile(join(directory, 'assets', name));
    size += compressed(file);
    // A part that the first script imports is loaded with it.
    for (const [, part = ''] of file.toString().matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g))
      if (!names.includes(part)) names.push(part);
  }
  return size;
}

const compressed = (file: Buffer): number => gzipSync(file, { level: 9 }).length;
