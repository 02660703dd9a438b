import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackages } from '../support/builds.js';

const ROOT = join(import.meta.dirname, '../..');
const LIBRARIES = ['smpp', 'messaging', 'dashboard'];
/** Limits of a package, unpacked, in bytes. */
const MOST_CODE = 2_200_000;
const MOST_PAGES = 450_000;

describe('the packages as they are published', () => {
  let data: string;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'dundun-packages-'));
    const packages = await buildPackages();
    for (const library of LIBRARIES) {
      const to = join(data, library);
      await mkdir(to);
      const tarball = join(packages, `${library}.tgz`);
      await promisify(execFile)('tar', ['-xzf', tarball, '-C', to, '--strip-components=1']);
    }
  });

  afterAll(() => rm(data, { recursive: true, force: true }));

  it.each(LIBRARIES)(
    'each link of the pages of %s leads to a file and a heading in it',
    (library) => {
      const pages = filesIn(join(data, library)).filter((file) => file.endsWith('.md'));
      expect(pages).toContain('README.md');
      expect(pages.flatMap((page) => deadLinksIn(join(data, library), page))).toEqual([]);
    },
  );

  it.each(LIBRARIES)(
    'the README of %s keeps all its links, except those to other packages',
    (library) => {
      const source = readFileSync(join(ROOT, 'libs', library, 'README.md'), 'utf8');
      const packed = readFileSync(join(data, library, 'README.md'), 'utf8');
      const kept = linksOf(source).filter(({ path }) => !/^\.\.\/\w/.test(path));
      expect(linksOf(packed).map(({ words }) => words)).toEqual(kept.map(({ words }) => words));
    },
  );

  it('the pages of messaging keep their images and their links to guides', () => {
    const home = join(data, 'messaging');
    for (const page of filesIn(join(home, 'docs')).filter((file) => /^[^/]+\.md$/.test(file))) {
      const kept = (root: string) =>
        linksOf(readFileSync(join(root, 'docs', page), 'utf8')).filter(({ path }) =>
          /^(?:guides|images)\//.test(path),
        );
      expect(kept(home)).toEqual(kept(ROOT));
    }
    expect(filesIn(join(home, 'docs'))).toContain('images/statuses.svg');
  });

  it('the types of options are what an app writes, without the readers behind them', () => {
    const types = filesIn(join(data, 'messaging')).filter((file) => file.endsWith('.d.cts'));
    expect(types.length).toBeGreaterThan(30);
    const withReaders = types.filter((file) =>
      /\bOptionReader\b/.test(readFileSync(join(data, 'messaging', file), 'utf8')),
    );
    expect(withReaders).toEqual([]);
  });

  it(`a package unpacks to at most ${MOST_CODE / 1e6} MB of code and ${MOST_PAGES / 1e6} MB of pages`, () => {
    for (const library of LIBRARIES) {
      const sizeOf = (files: readonly string[]) =>
        files
          .map((file) => statSync(join(data, library, file)).size)
          .reduce((sum, size) => sum + size, 0);
      const files = filesIn(join(data, library));
      const code = files.filter((file) => file.startsWith('dist/'));
      const pages = files.filter((file) => !file.startsWith('dist/'));
      expect(sizeOf(code)).toBeLessThanOrEqual(MOST_CODE);
      expect(sizeOf(pages)).toBeLessThanOrEqual(MOST_PAGES);
    }
  });
});

it('a link of a page to a missing file or heading is found', () => {
  const text =
    '# A [b](c.md)\n[d](#a-b) [e](#no) [f](#a-b-1)\n## A b\n```\n[g](#g)\n```\n[h](https://h.test)';
  expect(headingsOf(text)).toEqual(['a-b', 'a-b-1']);
  expect(linksOf(text)).toEqual([
    { words: 'b', path: 'c.md', heading: '' },
    { words: 'd', path: '', heading: 'a-b' },
    { words: 'e', path: '', heading: 'no' },
    { words: 'f', path: '', heading: 'a-b-1' },
  ]);
});

it('each link of the pages of the repository leads to a file and a heading', () => {
  const below = (folder: string) => filesIn(join(ROOT, folder)).map((file) => join(folder, file));
  const top = readdirSync(ROOT).filter((file) => file.endsWith('.md'));
  const readmes = LIBRARIES.map((library) => `libs/${library}/README.md`);
  const pages = [...top, ...readmes, ...below('docs'), ...below('examples')].filter(
    (file) => file.endsWith('.md') && !/^docs\/(?:reference|gateway-api|source)\//.test(file),
  );
  expect(pages.flatMap((page) => deadLinksIn(ROOT, page))).toEqual([]);
});

/** Each as `docs/email.md: smtp.md#no-such-heading`. */
function deadLinksIn(root: string, page: string): string[] {
  return linksOf(readFileSync(join(root, page), 'utf8'))
    .filter(({ path, heading }) => {
      const target = join(root, path === '' ? page : join(dirname(page), path));
      const isOutside = !target.startsWith(root);
      if (isOutside || !existsSync(target)) return true;
      return heading !== '' && !headingsOf(readFileSync(target, 'utf8')).includes(heading);
    })
    .map(({ path, heading }) => `${page}: ${path}${heading && `#${heading}`}`);
}

interface Link {
  readonly words: string;
  readonly path: string;
  readonly heading: string;
}

/** The relative links of a page. */
function linksOf(text: string): Link[] {
  const link = /\[((?:[^[\]]|\[[^[\]]*\])*)\]\((?![a-z]+:)([^()\s#]*)#?([^()\s]*)\)/g;
  return [...withoutCode(text).matchAll(link)].map(([, words = '', path = '', heading = '']) => ({
    words,
    path,
    heading,
  }));
}

/** The names by which links lead to the headings of a page. */
function headingsOf(text: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutCode(text).matchAll(/^#{1,6} (.*)$/gm)].map(([, title = '']) => {
    const words = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const name = words.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-');
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name}-${times}`;
  });
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```[^]*?^```$/gm, '');
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    statSync(join(folder, file)).isFile(),
  );
}
