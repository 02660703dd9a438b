import { Get, Inject, Param, Req, Res, StreamableFile } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { pagesMissing, unknownId } from './dashboard.error.js';
import {
  DASHBOARD_MOUNT,
  type DashboardMount,
  type DashboardRequest,
} from './dashboard.options.js';
import { PageFiles } from './page-files.js';

const CONTENT_SECURITY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "font-src 'self'; frame-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

/** Headers of everything that is served. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** Answers at once, whatever interceptors the app has. */
export function reply(
  { httpAdapter }: HttpAdapterHost,
  response: unknown,
  content: string | StreamableFile,
  headers: Readonly<Record<string, string>>,
  status = 200,
): void {
  for (const [header, value] of Object.entries(headers))
    httpAdapter.setHeader(response, header, value);
  httpAdapter.reply(response, content, status);
}

/** The scripts and styles; their names change with their content. */
export class AssetsController {
  constructor(
    @Inject(PageFiles) private readonly files: PageFiles,
    @Inject(DASHBOARD_MOUNT) private readonly mount: DashboardMount,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {}

  @Get('assets/:file')
  asset(@Param('file') name: string, @Req() request: DashboardRequest, @Res() response: unknown) {
    const file = this.files.asset(name);
    if (!file) throw unknownId('file');
    const zipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
    const bytes = (zipped && file.gzip) || file.bytes;
    reply(this.host, response, new StreamableFile(bytes), {
      ...COMMON_HEADERS,
      'Content-Type': file.type,
      'Content-Length': String(bytes.length),
      'Cache-Control': `${this.mount.publicPages ? 'public' : 'private'}, max-age=31536000, immutable`,
      Vary: 'Accept-Encoding',
      ...(bytes === file.gzip && { 'Content-Encoding': 'gzip' }),
    });
  }
}

/** One page for every address of fixed depth; the script in it shows the part that the address names. */
export class PagesController {
  constructor(
    @Inject(PageFiles) private readonly files: PageFiles,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {}

  @Get()
  root(@Req() request: DashboardRequest, @Res() response: unknown): void {
    this.#answer(request, response, 0);
  }

  @Get(':page')
  page(@Param('page') page: string, @Req() request: DashboardRequest, @Res() response: unknown) {
    this.#answer(request, response, 1, page);
  }

  @Get(':page/:id')
  detail(@Param('page') page: string, @Req() request: DashboardRequest, @Res() response: unknown) {
    this.#answer(request, response, 2, page);
  }

  @Get(':page/:id/:tab')
  tab(@Param('page') page: string, @Req() request: DashboardRequest, @Res() response: unknown) {
    this.#answer(request, response, 3, page);
  }

  #answer(request: DashboardRequest, response: unknown, depth: number, page = ''): void {
    // An unknown asset or route of the API must not look like a page.
    if (page === 'api' || page === 'assets') throw unknownId('address');
    const html = this.files.page(this.#baseOf(request, depth));
    if (html === undefined) throw pagesMissing();
    reply(this.host, response, html, {
      ...COMMON_HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': CONTENT_SECURITY,
    });
  }

  /** Relative, because a proxy may have removed a prefix from the path. */
  #baseOf(request: DashboardRequest, depth: number): string {
    const [path = ''] = String(request['originalUrl'] ?? request['url']).split('?');
    const steps = depth + (path.endsWith('/') ? 1 : 0);
    if (steps === 0) return `./${path.split('/').at(-1)}/`;
    return steps === 1 ? './' : '../'.repeat(steps - 1);
  }
}
