import { Logger } from '@nestjs/common';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** `undefined`: compression would not shorten it. */
  readonly gzip: Buffer | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const BASE = '<base href="./" />';

/** The built pages, from `src` and from the published code. Code in a bundle of an app has none beside it. */
function ownFiles(): string {
  const url: string | undefined = import.meta.url;
  const places = url === undefined ? [] : ['../dist/ui', '../../ui'];
  const paths = places.map((place) => fileURLToPath(new URL(place, url)));
  return paths.find((path) => existsSync(path)) ?? 'dist/ui';
}

/** The built pages, in memory. */
export class PageFiles {
  readonly #assets = new Map<string, PageFile>();
  readonly #page: readonly [string, string] | undefined;

  constructor(directory: string | URL = ownFiles()) {
    const root = typeof directory === 'string' ? directory : fileURLToPath(directory);
    const [before, after, ...others] = read(`${root}/index.html`)?.toString().split(BASE) ?? [];
    if (before === undefined || after === undefined || others.length > 0) {
      new Logger('MessagingDashboard').warn(
        `The pages are not built: ${root} has no index.html with one ${BASE}. In a bundled app copy node_modules/@dundun/dashboard/dist/ui, and set \`files\` to the copy; the API is served without them`,
      );
      return;
    }
    this.#page = [before, after];
    for (const name of readdirSync(`${root}/assets`)) {
      const type = TYPES[extname(name)];
      const bytes = type === undefined ? undefined : read(`${root}/assets/${name}`);
      if (type === undefined || bytes === undefined) continue;
      const gzip = gzipSync(bytes, { level: 9 });
      this.#assets.set(name, {
        type,
        bytes,
        gzip: gzip.length < bytes.length * 0.9 ? gzip : undefined,
      });
    }
  }

  asset(name: string): PageFile | undefined {
    return this.#assets.get(name);
  }

  /** `undefined`: the pages are not built. @param base relative URL of the path of the dashboard */
  page(base: string): string | undefined {
    return this.#page?.join(`<base href="${base}" />`);
  }
}

/** `undefined`: there is no such file. */
function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
