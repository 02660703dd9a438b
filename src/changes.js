import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

export const root = join(import.meta.dirname, '..');

/** Folders that a build or an installation makes, which changes the time of the folder around them. */
const OUTPUT = /(?:^|\/)(?:dist|node_modules)\/$/;

/**
 * Whether a built file is newer than the installed packages, than every source in the folders, and than
 * the last source that was added, deleted or renamed there: that changes the time of its folder.
 * @param {string} built
 * @param {readonly string[]} folders
 * @param {RegExp} sources paths of sources
 * @param {RegExp} others paths of files that are none
 */
export async function isNewerThan(built, folders, sources, others) {
  const made = await stat(built).catch(() => undefined);
  if (!made) return false;
  if ((await stat(join(root, 'package-lock.json'))).mtimeMs > made.mtimeMs) return false;
  for (const folder of folders) {
    const all = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    const inside = all.map((entry) => {
      const path = relative(join(root, folder), join(entry.parentPath, entry.name));
      return entry.isDirectory() ? `${path}/` : path;
    });
    const outputs = inside.filter((path) => OUTPUT.test(path));
    const births = await Promise.all(
      outputs.map(async (path) => (await stat(join(root, folder, path))).birthtimeMs),
    );
    for (const path of ['', ...inside]) {
      const isFolder = path === '' || path.endsWith('/');
      if (others.test(path) || !(isFolder || sources.test(path))) continue;
      const { mtimeMs } = await stat(join(root, folder, path));
      const isOutput = isFolder && births.some((birth) => Math.abs(birth - mtimeMs) < 1);
      if (mtimeMs > made.mtimeMs && !isOutput) return false;
    }
  }
  return true;
}
