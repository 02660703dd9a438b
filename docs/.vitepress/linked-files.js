import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, extname, join, posix, resolve } from 'node:path';

/**
 * Writes a page into `docs/source` for each file of the repository that a page links to and that is no page
 * itself, such as an example, a test or a receiver of webhooks: the site has no other address for them. Of a
 * folder without a README the page lists the files.
 *
 *   node docs/.vitepress/linked-files.js
 */

const root = resolve(import.meta.dirname, '../..');
const to = join(root, 'docs/source');

/** Folders whose README files and pages are in the site. */
const FOLDERS = ['docs', 'examples', 'libs/messaging', 'libs/dashboard', 'libs/smpp'];

/** Names of languages, where they are not the ending of the file. */
const LANGUAGES = { env: 'ini', mjs: 'js' };

const LINK = /\]\((?![a-z]+:|#|\/)([^()\s#]+)/g;

async function pages() {
  const found = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
  for (const folder of FOLDERS) {
    const recursive = folder === 'docs';
    for (const name of await readdir(join(root, folder), { recursive }))
      if (name.endsWith('.md') && !/^(?:reference|gateway-api|source)\//.test(name))
        found.push(posix.join(folder, name));
  }
  return found;
}

/** The files and folders that the pages link to. */
async function linked() {
  const found = new Set();
  for (const page of await pages()) {
    const text = (await readFile(join(root, page), 'utf8')).replaceAll(/^```[^]*?^```$/gm, '');
    for (const [, path] of text.matchAll(LINK))
      if (!/\.(?:md|svg|png)$/.test(path))
        found.add(posix.join(posix.dirname(page), path).replace(/\/$/, ''));
  }
  return found;
}

/** @param {string} path */
async function writePage(path) {
  const target = join(root, path);
  if ((await stat(target)).isDirectory()) return await writeList(path);
  const text = await readFile(target, 'utf8');
  const ending = extname(path).slice(1);
  await write(path, `\`\`\`\`${LANGUAGES[ending] ?? ending}\n${text.trimEnd()}\n\`\`\`\``);
}

/** @param {string} folder */
async function writeList(folder) {
  const names = await readdir(join(root, folder), { withFileTypes: true });
  if (names.some(({ name }) => name === 'README.md')) return;
  const items = [];
  for (const { name } of names.filter((one) => one.isFile())) {
    const path = `${folder}/${name}`;
    if (!name.endsWith('.md')) await writePage(path);
    const page = name.endsWith('.md') ? path : `docs/source/${path}.md`;
    items.push(
      `- [${await titleOf(path)}](${posix.relative(`docs/source/${dirname(folder)}`, page)})`,
    );
  }
  await write(folder, items.sort().join('\n'));
}

/** @param {string} path */
async function titleOf(path) {
  const name = posix.basename(path);
  if (!name.endsWith('.md')) return name;
  const [, title = name] = /^# (.*)$/m.exec(await readFile(join(root, path), 'utf8')) ?? [];
  return title;
}

/**
 * @param {string} path
 * @param {string} content
 */
async function write(path, content) {
  const file = join(to, `${path}.md`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `# ${path}\n\n${content}\n`);
}

await rm(to, { recursive: true, force: true });
for (const path of await linked()) await writePage(path);
