import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { Browser } from '../support/browser.js';
import { buildSite } from '../support/builds.js';
import { wrongInAll } from '../support/page-check.js';
import { describeWithServer } from '../support/servers.js';
import { ROOT } from './markdown-blocks.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** A page of the site for each of its kinds. */
const PAGES = [
  '/',
  '/overview.html',
  '/docs/guides/message-stays-queued.html',
  '/docs/guides/go-live-with-twilio.html',
  '/docs/routes.html',
  '/docs/errors.html',
  '/docs/source/src/webhooks/receivers/receiver.go.html',
  '/docs/decisions/0110-keep-money-as-whole-millionths-in-a-ledger-of-numbered-entries.html',
];

/** Plain questions, and the guide that answers each. */
const QUESTIONS = [
  ['my message stays queued', 'message-stays-queued'],
  ['send my first message', 'first-message'],
  ['how do I test my app', 'test-an-app'],
  ['go live with twilio', 'go-live-with-twilio'],
  ['bind to an smsc', 'go-live-with-smpp'],
  ['whatsapp number of meta', 'go-live-with-whatsapp'],
  ['dkim records of my domain', 'go-live-with-email'],
  ['replace kannel', 'migrate-from-kannel'],
  ['check the signature of a webhook', 'verify-a-webhook'],
  ['run two processes', 'two-processes'],
] as const;

/** What people search for, and the page that is among the first three that are found. */
const SEARCHES = [
  ['TRUSTED_PROXIES', '/docs/configuration.html'],
  ['429', '/docs/errors.html'],
  ['401', '/docs/errors.html'],
  ['unauthorized', '/docs/errors.html'],
  ['insufficient_balance', '/docs/errors.html'],
  ['insufficient balance', '/docs/errors.html'],
  ['sender_not_registered', '/docs/errors.html'],
  ['idempotency key', '/docs/errors.html'],
  ['docker', '/docs/scaling.html'],
  ['rollback', '/docs/transactions.html'],
  ['roll back', '/docs/transactions.html'],
  ['duplicate messages', '/libs/messaging/'],
  ['cancel a message', '/libs/messaging/'],
  ['unknown message', '/docs/delivery-reports.html'],
  ['rate limit', '/docs/configuration.html'],
  ['QUIET_HOURS', '/docs/policy.html'],
  ['dispatch.lease', '/libs/messaging/'],
] as const;

/** Bytes that the search may load before the first key, and at it. */
const MOST_OF_SEARCH = 300_000;
const MOST_OF_INDEX = 1_200_000;

/** The diagrams as their script draws them now. */
function drawn(): [name: string, svg: string][] {
  const script = JSON.stringify(join(ROOT, 'docs/diagrams.js'));
  const code = `const { DIAGRAMS, draw } = await import(${script});
    console.log(JSON.stringify(Object.keys(DIAGRAMS).map((name) => [name, draw(name)])));`;
  const args = ['--input-type=module', '-e', code];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as [
    string,
    string,
  ][];
}

describe('the diagrams', () => {
  const all = drawn();

  it.each(all)('%s is drawn by its script, with a title and a text', (name, svg) => {
    const file = readFileSync(join(ROOT, 'docs/images', `${name}.svg`), 'utf8');
    expect(file).toBe(svg);
    expect(file).toMatch(/role="img".*\n<title [^]*<desc [^>]*>[^<]{80}/);
    expect(file).toContain('prefers-color-scheme:dark');
  });

  it('each is in a page, with an alternative text', () => {
    const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
    const texts = pages.map((page) => readFileSync(join(ROOT, 'docs', page), 'utf8')).join();
    for (const [name] of all)
      expect(texts).toMatch(new RegExp(`!\\[[^\\]]{60,}\\]\\(images/${name}\\.svg\\)`));
  });
});

describeWithServer('chromium', 'the built site', () => {
  let server: Server;
  let browser: Browser;
  let origin: string;
  let folder: string;
  /** Bytes that were sent, by path. */
  const sent = new Map<string, number>();

  beforeAll(async () => {
    folder = await buildSite();
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://x');
      const file = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
      const path = join(folder, decodeURIComponent(file));
      readFile(path).then(
        (body) => {
          sent.set(pathname, body.length);
          response
            .writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain' })
            .end(body);
        },
        () => response.writeHead(404).end(),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await Browser.open(origin);
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  async function open(path: string): Promise<Page> {
    const page = await browser.page();
    await page.goto(origin + path);
    await page.locator('h1').first().waitFor();
    return page;
  }

  it.each(PAGES)(
    '%s has no violation of WCAG 2.2 AA, and no error in its console',
    async (path) => {
      const page = await open(path);
      expect(await wrongInAll(page, `site${path.replaceAll('/', '-')}`)).toEqual([]);
      await page.close();
      expect(browser.complaints).toEqual([]);
    },
  );

  it('the page of a request has its body and its answers', async () => {
    const file = readdirSync(join(ROOT, 'docs/gateway-api')).find((name) =>
      /sendsms|sendSms/i.test(name),
    );
    const page = await open(`/docs/gateway-api/${file?.replace(/\.md$/, '.html')}`);
    const text = await page.locator('main').innerText();
    for (const part of ['POST /ng/v1/sendsms', 'delivery_report', 'Answer 200', 'reference_id'])
      expect(text).toContain(part);
    expect(await wrongInAll(page, 'site-request')).toEqual([]);
    await page.close();
  });

  it('the phone of the landing page moves, and stops by its button and where motion is reduced', async () => {
    const page = await open('/');
    const state = () =>
      page.evaluate(
        `(() => { const { animationName, animationPlayState } = getComputedStyle(document.querySelector('.phone li')); return [animationName !== 'none', animationPlayState]; })()`,
      );
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await state()).toEqual([true, 'running']);
    await page.getByRole('button', { name: 'Pause the phone' }).click();
    expect(await state()).toEqual([true, 'paused']);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(((await state()) as unknown[])[0]).toBe(false);
    await page.close();
  });

  /** The addresses that the search finds, the best first. */
  async function found(page: Page, query: string): Promise<string[]> {
    const input = page.locator('.VPLocalSearchBox input');
    const results = page.locator('.VPLocalSearchBox .result');
    if (!(await input.isVisible())) await page.keyboard.press('Control+k');
    // An empty query has no results, so that none of the query before is left.
    await input.fill('');
    await results.first().waitFor({ state: 'detached' });
    await input.fill(query);
    await results.first().waitFor();
    return (await page.evaluate(
      `[...document.querySelectorAll('.VPLocalSearchBox .result')].map((one) => one.getAttribute('href'))`,
    )) as string[];
  }

  it('the search loads at most 300 KB before the first key, and its index at it', async () => {
    const page = await open('/');
    await page.waitForLoadState('networkidle');
    sent.clear();
    await page.keyboard.press('Control+k');
    await page.locator('.VPLocalSearchBox input').waitFor();
    await page.waitForLoadState('networkidle');
    // Pages that the landing page leads to are loaded ahead, whether or not one searches.
    const ofSearch = [...sent].filter(([path]) => !/\.md\.[\w-]+\.(?:lean\.)?js$/.test(path));
    const bytes = ofSearch.reduce((sum, [, one]) => sum + one, 0);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(MOST_OF_SEARCH);
    const index = () => [...sent].find(([path]) => path.includes('localSearchIndex'));
    expect(index()).toBeUndefined();
    await found(page, 'kannel');
    expect(index()?.[1]).toBeLessThanOrEqual(MOST_OF_INDEX);
    await page.close();
  });

  it('plain questions find the guide that answers them first', async () => {
    const page = await open('/');
    const first: string[] = [];
    for (const [question] of QUESTIONS) first.push((await found(page, question))[0] ?? '');
    expect(first.map((path) => path.replace(/#.*$/, ''))).toEqual(
      QUESTIONS.map(([, guide]) => `/docs/guides/${guide}.html`),
    );
    await page.close();
  });

  it('codes, variables and plain words find their page among the first three', async () => {
    const page = await open('/');
    const missed: unknown[] = [];
    for (const [query, wanted] of SEARCHES) {
      const paths = (await found(page, query)).slice(0, 3);
      if (!paths.some((path) => path.startsWith(wanted))) missed.push({ query, wanted, paths });
    }
    expect(missed).toEqual([]);
    await page.close();
  });

  it('every error code, every variable and every heading is in the index of the search', () => {
    const chunks = join(folder, 'assets/chunks');
    const name = readdirSync(chunks).find((one) => one.includes('localSearchIndex'));
    const index = readFileSync(join(chunks, name ?? ''), 'utf8');
    const missing: string[] = [];
    for (const page of ['errors', 'configuration']) {
      const text = readFileSync(join(ROOT, 'docs', `${page}.md`), 'utf8');
      const codes = [...text.matchAll(/^\| `(\w+)` \|/gm)].map(([, code = '']) => code);
      expect(codes.length).toBeGreaterThan(60);
      for (const code of codes)
        if (!index.includes(`"/docs/${page}.html#${code}"`)) missing.push(`${page} ${code}`);
    }
    for (const page of readdirSync(join(ROOT, 'docs')).filter((one) => /^[\w-]+\.md$/.test(one))) {
      if (page === 'index.md') continue;
      const html = readFileSync(join(folder, 'docs', page.replace(/\.md$/, '.html')), 'utf8');
      for (const [, id] of html.matchAll(/<h[1-6] id="([^"]+)"/g)) {
        const address = `/docs/${page.replace(/\.md$/, '.html')}#${id}`;
        if (!index.includes(`"${address}"`)) missing.push(address);
      }
    }
    expect(missing).toEqual([]);
  });

  it('every link leads to a page and a place in it', () => {
    const pages = new Map<string, ReadonlySet<string>>();
    const links: [from: string, to: string][] = [];
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.html')) continue;
      const html = readFileSync(join(folder, name), 'utf8');
      pages.set(`/${name}`, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)));
      for (const [, to = ''] of html.matchAll(/<a [^>]*href="([^"]+)"/g))
        links.push([`/${name}`, to]);
    }
    expect(pages.size).toBeGreaterThan(200);
    const broken = new Set<string>();
    for (const [from, to] of links) {
      const { origin: host, pathname, hash } = new URL(to, `http://x${from}`);
      if (host !== 'http://x' || from === '/404.html') continue;
      const path = decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      const ids = pages.get(path);
      const place = decodeURIComponent(hash.slice(1)).replaceAll('&', '&amp;');
      if (ids === undefined || (place !== '' && !ids.has(place))) broken.add(`${from}: ${to}`);
    }
    expect([...broken]).toEqual([]);
  });

  it('what a page links to in the repository is a link of its page in the site', () => {
    const dead: string[] = [];
    const [readme, guide] = ['overview.html', 'docs/guides/verify-a-webhook.html'].map((name) =>
      readFileSync(join(folder, name), 'utf8'),
    );
    const sources: [html: string | undefined, file: string][] = [
      [readme, 'README.md'],
      [guide, 'docs/guides/verify-a-webhook.md'],
    ];
    for (const [html, file] of sources) {
      const text = readFileSync(join(ROOT, file), 'utf8');
      for (const [, words = ''] of text.matchAll(/(?<!!)\[([^[\]]+)\]\((?!http)[^)]+\)/g)) {
        const shown = words.replaceAll('`', '');
        const plain = html?.replaceAll(/<\/?code[^>]*>/g, '') ?? '';
        if (
          !plain.includes(`>${shown.replaceAll("'", '’')}</a>`) &&
          !plain.includes(`>${shown}</a>`)
        )
          dead.push(`${file}: ${words}`);
      }
    }
    expect(dead).toEqual([]);
  });

  it('a guide comes before reference, and reference before decisions', async () => {
    const page = await open('/');
    const paths = await found(page, 'kannel');
    const place = (kind: RegExp) => paths.findIndex((path) => kind.test(path));
    const [guide, reference, decision] = [
      /\/guides\//,
      /\/(?:carriers|providers)/,
      /\/decisions\//,
    ].map(place);
    expect(guide).toBe(0);
    expect(reference).toBeGreaterThan(0);
    expect(decision === -1 || (decision ?? 0) > (reference ?? 0)).toBe(true);
    await page.close();
  });
});
