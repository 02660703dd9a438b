import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { defineConfig } from 'vitepress';
import { boostOf, loadAtFirstKey, queryWord, sectionsOf, slipsOf, weightOf } from './search.js';

/** The pages are the repository's own: README files and `docs/`. */
const root = resolve(import.meta.dirname, '../..');

const folders = ['examples/', 'libs/messaging/', 'libs/dashboard/', 'libs/smpp/'];

const page = (text, link) => ({ text, link });

/** Pages that are shown on demand. With a page of its own a group has no button in a button. */
const group = (text, link, items) => ({ text, link, collapsed: true, items });

/** The pages of a folder under `docs/`, in the order of their names, by their titles. */
function pagesOf(folder) {
  if (!existsSync(join(root, 'docs', folder))) return [];
  return readdirSync(join(root, 'docs', folder), { recursive: true })
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .sort((a, b) => a.localeCompare(b))
    .map((name) => {
      const [, title = name] =
        /^# (.*)$/m.exec(readFileSync(join(root, 'docs', folder, name), 'utf8')) ?? [];
      return page(title.replaceAll('\\', ''), `/docs/${folder}/${name.replace(/\.md$/, '')}`);
    });
}

/** The operations of the gateway by their tags. */
function operations() {
  const tags = new Map();
  for (const { text, link } of pagesOf('gateway-api')) {
    const file = readFileSync(join(root, `${link.slice(1)}.md`), 'utf8');
    const [, tag = '"Other"'] = /^tag: (.*)$/m.exec(file) ?? [];
    tags.set(tag, [...(tags.get(tag) ?? []), page(text, link)]);
  }
  return [...tags].map(([tag, items]) => ({ text: JSON.parse(tag), items }));
}

/** The way from a folder to the page of a README; that of the repository is beside the landing page. */
function toPage(here, readme) {
  const name = dirname(readme) === root ? 'overview.md' : 'index.md';
  const path = relative(here, join(dirname(readme), name));
  return path.startsWith('.') ? path : `./${path}`;
}

/** The way from a folder to the page of what a link names. */
function pageOf(here, to) {
  if (to === '' || /^(?:[a-z]+:|\/)/.test(to)) return to;
  const target = resolve(here, to);
  const readme = to.endsWith('README.md') ? target : join(target, 'README.md');
  if (existsSync(readme)) return toPage(here, readme);
  const source = join(root, 'docs/source', `${relative(root, target)}.md`);
  return !to.endsWith('.md') && existsSync(source) ? relative(here, source) : to;
}

/** The address of a heading, as GitHub and TypeDoc make it. */
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

/**
 * A place in a page of TypeDoc, which numbers the address of a type beside a constant of its name, though the
 * constant has no heading.
 */
function placeIn(file, hash) {
  const [, first, number] = /^#(.+)-(\d+)$/.exec(hash) ?? [];
  if (number === undefined || !file.includes('/docs/reference/')) return hash;
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm);
  const same = [...headings].filter(([, text]) => slugify(text) === first);
  return same.length > Number(number) ? hash : `#${first}`;
}

/** Links to folders with a README lead to its page, links to other files to the pages of `linked-files.js`. */
function linksToPages(md) {
  md.core.ruler.push('links-to-pages', ({ tokens, env }) => {
    const path = env.realPath ?? env.path;
    // The title of a front matter is no page.
    if (path === undefined) return;
    const here = dirname(path);
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== 'link_open') continue;
      const [, to, hash] = /^([^#?]*)(.*)$/.exec(token.attrGet('href') ?? '');
      token.attrSet('href', pageOf(here, to) + placeIn(to === '' ? path : resolve(here, to), hash));
    }
  });
  // Vue would evaluate the text between the braces.
  const { text } = md.renderer.rules;
  md.renderer.rules.text = (...args) => text(...args).replaceAll('{{', '&#123;&#123;');
}

/** A row whose first cell is a code, such as that of an error, has it as its address. */
function addressesOfRows(md) {
  md.core.ruler.push('addresses-of-rows', ({ tokens }) => {
    const taken = new Set(tokens.map((token) => token.attrGet('id')));
    for (const [n, row] of tokens.entries()) {
      const [code] = tokens[n + 2]?.children ?? [];
      if (row.type !== 'tr_open' || tokens[n + 1]?.type !== 'td_open') continue;
      if (code?.type !== 'code_inline' || !/^[\w.-]+$/.test(code.content)) continue;
      const name = code.content.replaceAll('.', '-');
      let id = name;
      for (let number = 2; taken.has(id); number += 1) id = `${name}-${number}`;
      taken.add(id);
      row.attrSet('id', id);
    }
  });
}

/** A drum. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#16507a" d="M2 2h12L10 8l4 6H2l4-6z"/></svg>',
)}`;

export default defineConfig({
  title: 'Dundun',
  description: 'Background messaging for NestJS',
  srcDir: '..',
  outDir: '../dist/docs',
  cacheDir: '../dist/docs-cache',
  srcExclude: ['**/dist/**', 'data/**', 'src/**', 'test/**', 'libs/*/src/**'],
  rewrites: {
    'docs/index.md': 'index.md',
    'README.md': 'overview.md',
    ...Object.fromEntries(folders.map((folder) => [`${folder}README.md`, `${folder}index.md`])),
  },
  head: [['link', { rel: 'icon', href: ICON }]],
  markdown: {
    html: false,
    anchor: { slugify },
    config: (md) => {
      linksToPages(md);
      addressesOfRows(md);
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite: { plugins: [loadAtFirstKey] },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          _splitIntoSections: sectionsOf,
          searchOptions: {
            boostDocument: boostOf,
            boostTerm: weightOf,
            fuzzy: slipsOf,
            processTerm: queryWord,
          },
        },
      },
    },
    outline: [2, 3],
    sidebar: [
      {
        text: 'Start',
        items: [
          page('Dundun', '/overview'),
          page('First message', '/libs/messaging/'),
          page('Examples', '/examples/'),
          page('Glossary', '/docs/glossary'),
        ],
      },
      { text: 'By task', items: pagesOf('guides') },
      {
        text: 'Subjects',
        items: [
          page('Transactions', '/docs/transactions'),
          page('WhatsApp', '/docs/whatsapp'),
          page('Email', '/docs/email'),
          page('Voice', '/docs/voice'),
          page('SMPP for accounts', '/docs/smpp'),
          page('Airtime, data and one-time codes', '/docs/vas'),
          page('Notifications', '/docs/notifications'),
          page('Prices and balances', '/docs/billing'),
          page('Contacts and policy', '/docs/policy'),
          page('Delivery reports', '/docs/delivery-reports'),
          page('Privacy', '/docs/privacy'),
          page('Testing', '/docs/testing'),
          page('Dashboard', '/libs/dashboard/'),
          page('SMPP', '/libs/smpp/'),
        ],
      },
      {
        text: 'Gateway',
        items: [
          page('Configuration', '/docs/configuration'),
          page('Carriers', '/docs/carriers'),
          page('Providers over HTTP', '/docs/providers'),
          page('Routes', '/docs/routes'),
          page('Webhooks', '/docs/webhooks'),
          page('Portal', '/docs/portal'),
          page('Errors', '/docs/errors'),
        ],
      },
      {
        text: 'Operations',
        items: [
          page('Health, metrics, commands', '/docs/operations'),
          page('Scaling', '/docs/scaling'),
          page('Benchmarks', '/docs/benchmarks'),
        ],
      },
      group('Requests of the gateway', '/docs/gateway-api/', operations()),
      group('API reference of the library', '/docs/reference/', pagesOf('reference')),
      group('The project', '/docs/architecture', [
        page('Where to change what', '/docs/changing'),
        page('Contributing', '/CONTRIBUTING'),
        page('Changelog', '/CHANGELOG'),
      ]),
      group('Decisions', pagesOf('decisions')[0].link, pagesOf('decisions')),
    ],
  },
});
