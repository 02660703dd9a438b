import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

/**
 * Whether a built file is newer than the installed packages, and than every source in the folders.
 * @param {string} built
 * @param {readonly string[]} folders
 * @param {RegExp} sources paths of sources
 * @param {RegExp} others paths of files that are none
 */
export async function isNewerThan(built, folders, sources, others) {
  const made = await stat(built).catch(() => undefined);
  if (!made) return false;
  if ((await stat(join(root, 'package-lock.json'))).mtimeMs > made.mtimeMs) return false;
  for (const folder of folders)
    for (const file of await readdir(join(root, folder), { recursive: true })) {
      if (!sources.test(file) || others.test(file)) continue;
      if ((await stat(join(root, folder, file))).mtimeMs > made.mtimeMs) return false;
    }
  return true;
}
