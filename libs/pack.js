import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

/**
 * Packs the libraries as they are published, each from a copy beside its build. `dist/packages` gets the
 * tarballs, such as `messaging.tgz`.
 *
 * A package has its README, the files that it links to, and the decisions, guides and images of these
 * pages. A link of a packed page to another file becomes its text.
 */

const LIBRARIES = ['smpp', 'messaging', 'dashboard'];
const root = resolve(import.meta.dirname, '..');
const to = join(root, 'dist/packages');

await rm(to, { recursive: true, force: true });
for (const library of LIBRARIES) await pack(library);

/** @param {string} library */
async function pack(library) {
  const home = `libs/${library}`;
  const copy = join(to, library);
  const pages = await pagesOf(`${home}/README.md`);
  for (const file of [...pages, `${home}/LICENSE`]) {
    const place = join(copy, placeOf(file, home));
    await mkdir(dirname(place), { recursive: true });
    if (isPage(file)) await writeFile(place, await packedPage(file, pages, home));
    else await cp(join(root, file), place);
  }
  const manifest = JSON.parse(await readFile(join(root, home, 'package.json'), 'utf8'));
  for (const file of manifest.files.filter((/** @type {string} */ name) => name.startsWith('dist')))
    await cp(join(root, home, file), join(copy, file), { recursive: true });
  // It protects the sources, whose links lead out of the package, from being published.
  delete manifest.private;
  await writeFile(join(copy, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const { stdout } = await promisify(execFile)('npm', ['pack', '--silent'], { cwd: copy });
  await rename(join(copy, stdout.trim()), join(to, `${library}.tgz`));
}

/**
 * The files of a package that its README leads to, by their paths in the repository.
 * @param {string} readme
 */
async function pagesOf(readme) {
  const direct = [readme, ...(await linkedFrom(readme))];
  const further = await Promise.all(direct.filter(isPage).map(linkedFrom));
  return new Set([
    ...direct,
    ...further.flat().filter((file) => /^docs\/(?:decisions|guides|images)\//.test(file)),
  ]);
}

/**
 * The files that a page links to; of a folder all files. A library is a package of its own.
 * @param {string} page
 */
async function linkedFrom(page) {
  const files = [];
  for (const { path } of linksOf(await readFile(join(root, page), 'utf8'))) {
    const target = posix.join(posix.dirname(page), path);
    if (target.startsWith('libs/')) continue;
    if ((await stat(join(root, target))).isFile()) files.push(target);
    else
      for (const one of await readdir(join(root, target), { recursive: true, withFileTypes: true }))
        if (one.isFile()) files.push(relative(root, join(one.parentPath, one.name)));
  }
  return files;
}

/**
 * The text of a page in the package.
 * @param {string} page
 * @param {ReadonlySet<string>} pages
 * @param {string} home folder of the library
 */
async function packedPage(page, pages, home) {
  let text = await readFile(join(root, page), 'utf8');
  for (const { whole, words, path, anchor } of linksOf(text)) {
    const target = posix.join(posix.dirname(page), path);
    const found = [target, posix.join(target, 'README.md')].find((file) => pages.has(file));
    const place = found && posix.relative(dirname(placeOf(page, home)), placeOf(found, home));
    text = text.replaceAll(whole, () => (place ? `[${words}](${place}${anchor})` : words));
  }
  return text;
}

/**
 * @param {string} file
 * @param {string} home
 */
function placeOf(file, home) {
  return file.startsWith(`${home}/`) ? file.slice(home.length + 1) : file;
}

/** @param {string} file */
function isPage(file) {
  return file.endsWith('.md');
}

/**
 * The links of a page to other files.
 * @param {string} text
 */
function linksOf(text) {
  const prose = text.replaceAll(/^```[^]*?^```$/gm, '');
  const link = /\[((?:[^[\]]|\[[^[\]]*\])*)\]\((?![a-z]+:|#)([^()\s#]+)(#[^()\s]*)?\)/g;
  return [...prose.matchAll(link)].map(([whole, words = '', path = '', anchor = '']) => ({
    whole,
    words,
    path,
    anchor,
  }));
}
