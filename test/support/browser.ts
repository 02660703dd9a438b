import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Debian's Chromium with a profile of its own, signed in by a cookie. */
export class Browser {
  /** Console errors and warnings, failed scripts, and requests to other hosts, with their page. */
  readonly complaints: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    private readonly profile: string,
    private readonly origin: string,
  ) {}

  /** @param cookie `name=value`; without it nobody is signed in @param extraHTTPHeaders of each request */
  static async open(
    origin: string,
    cookie?: string,
    extraHTTPHeaders: Readonly<Record<string, string>> = {},
  ): Promise<Browser> {
    const profile = await mkdtemp(join(tmpdir(), 'dundun-chromium-'));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: '/usr/bin/chromium',
      headless: true,
      args: ARGUMENTS,
      viewport: { width: 1280, height: 860 },
      timezoneId: 'Africa/Lagos',
      extraHTTPHeaders: { ...extraHTTPHeaders },
    });
    // Longer than on the slowest machine: the limit of the test ends a hanging step.
    context.setDefaultTimeout(100_000);
    const [name, value] = cookie?.split('=') ?? [];
    if (name && value) await context.addCookies([{ name, value, url: origin }]);
    return new Browser(context, profile, origin);
  }

  async page(): Promise<Page> {
    const page = await this.context.newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()))
        this.complaints.push(`${page.url()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.complaints.push(`${page.url()}: ${String(error)}`));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol !== 'data:' && url.origin !== this.origin)
        this.complaints.push(`${page.url()} asked ${url.origin}`);
    });
    return page;
  }

  async close(): Promise<void> {
    await this.context.close();
    await rm(this.profile, { recursive: true, force: true });
  }
}
