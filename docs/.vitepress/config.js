import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { defineConfig } from 'vitepress';

/** The pages are the repository's own: README files and `docs/`. */
const root = resolve(import.meta.dirname, '../..');

const folders = ['', 'examples/', 'libs/messaging/', 'libs/dashboard/', 'libs/smpp/'];

const page = (text, link) => ({ text, link });

/** The pages of a folder under `docs/`, in the order of their names, by their titles. */
function pagesOf(folder) {
  return readdirSync(join(root, 'docs', folder), { recursive: true })
    .filter((name) => name.endsWith('.md'))
    .sort((a, b) => a.localeCompare(b))
    .map((name) => {
      const [, title = name] =
        /^# (.*)$/m.exec(readFileSync(join(root, 'docs', folder, name), 'utf8')) ?? [];
      return page(title.replaceAll('\\', ''), `/docs/${folder}/${name.replace(/\.md$/, '')}`);
    });
}

/** Links to folders with a README lead to its page; links to other files are shown as text. */
function linksToPages(md) {
  md.core.ruler.push('links-to-pages', ({ tokens, env }) => {
    const here = dirname(env.realPath ?? env.path);
    for (const { children } of tokens) {
      let dropped = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const [, path, hash] = /^([^#?]*)(.*)$/.exec(token.attrGet('href') ?? '');
          if (path === '' || /^(?:[a-z]+:|\/)/.test(path)) continue;
          const target = resolve(here, path);
          if (path.endsWith('.md'))
            token.attrSet('href', path.replace(/README\.md$/, 'index.md') + hash);
          else if (existsSync(join(target, 'README.md')))
            token.attrSet('href', `${path.replace(/\/$/, '')}/index.md${hash}`);
          else if (existsSync(target)) {
            dropped = true;
            token.hidden = true;
            token.type = 'text';
          }
        } else if (token.type === 'link_close' && dropped) {
          dropped = false;
          token.type = 'text';
        }
      }
    }
  });
  // Vue would evaluate the text between the braces.
  const { text } = md.renderer.rules;
  md.renderer.rules.text = (...args) => text(...args).replaceAll('{{', '&#123;&#123;');
}

export default defineConfig({
  title: 'Dundun',
  description: 'Background messaging for NestJS',
  srcDir: '..',
  outDir: '../dist/docs',
  cacheDir: '../dist/docs-cache',
  srcExclude: ['**/dist/**', 'data/**', 'src/**', 'test/**', 'libs/*/src/**'],
  rewrites: Object.fromEntries(
    folders.map((folder) => [`${folder}README.md`, `${folder}index.md`]),
  ),
  markdown: { html: false, config: linksToPages },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [
      {
        text: 'Start',
        items: [
          page('Dundun', '/'),
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
      { text: 'API reference', collapsed: true, items: pagesOf('reference') },
      {
        text: 'The project',
        collapsed: true,
        items: [
          page('Architecture', '/docs/architecture'),
          page('Where to change what', '/docs/changing'),
          page('Contributing', '/CONTRIBUTING'),
          page('Changelog', '/CHANGELOG'),
        ],
      },
      { text: 'Decisions', collapsed: true, items: pagesOf('decisions') },
    ],
  },
});
