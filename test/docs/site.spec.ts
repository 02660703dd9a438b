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
  '/overview',
  '/docs/guides/message-stays-queued',
  '/docs/guides/go-live-with-twilio',
  '/docs/routes',
  '/docs/errors',
  '/docs/decisions/0110-keep-money-as-whole-millionths-in-a-ledger-of-numbered-entries',
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

/** Bytes that the search may load before the first key. */
const MOST_OF_SEARCH = 300_000;

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
  /** Bytes that were sent, by path. */
  const sent = new Map<string, number>();

  beforeAll(async () => {
    const folder = await buildSite();
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://x');
      const file = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
      const path = join(folder, extname(file) === '' ? `${file}.html` : decodeURIComponent(file));
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
    const page = await open(`/docs/gateway-api/${file?.replace(/\.md$/, '')}`);
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

  it('the search loads at most 300 KB before the first key', async () => {
    const page = await open('/');
    await page.waitForLoadState('networkidle');
    sent.clear();
    await page.keyboard.press('Control+k');
    await page.locator('.VPLocalSearchBox input').waitFor();
    await page.waitForLoadState('networkidle');
    // Pages that the landing page leads to are loaded ahead, whether or not one searches.
    const ofSearch = [...sent].filter(([path]) => !/\.md\.[\w-]+\.(?:lean\.)?js$/.test(path));
    const bytes = ofSearch.reduce((sum, [, one]) => sum + one, 0);
    expect(ofSearch.some(([path]) => path.includes('localSearchIndex'))).toBe(true);
    expect(bytes).toBeLessThanOrEqual(MOST_OF_SEARCH);
    await page.close();
  });

  it.each(QUESTIONS)('the question "%s" finds the guide %s first', async (question, guide) => {
    const page = await open('/');
    await page.keyboard.press('Control+k');
    await page.locator('.VPLocalSearchBox input').fill(question);
    const first = page.locator('.VPLocalSearchBox .result').first();
    await first.waitFor();
    await page.waitForTimeout(400);
    expect(await first.getAttribute('href')).toContain(`/docs/guides/${guide}`);
    await page.close();
  });

  it('a guide comes before reference, and reference before decisions', async () => {
    const page = await open('/');
    await page.keyboard.press('Control+k');
    await page.locator('.VPLocalSearchBox input').fill('kannel');
    await page.locator('.VPLocalSearchBox .result').first().waitFor();
    await page.waitForTimeout(400);
    const found = (await page.evaluate(
      `[...document.querySelectorAll('.VPLocalSearchBox .result')].map((one) => one.getAttribute('href'))`,
    )) as string[];
    const place = (kind: RegExp) => found.findIndex((path) => kind.test(path));
    const [guide, reference, decision] = [
      /\/guides\//,
      /\/(?:carriers|providers)/,
      /\/decisions\//,
    ].map(place);
    expect(guide).toBe(0);
    expect(reference).toBeGreaterThan(0);
    expect(decision).toBeGreaterThan(reference ?? 0);
    await page.close();
  });
});
