import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { API_ERRORS, ApiError, type ApiErrorCode } from '../../src/http/api-error.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const PAGE = read('docs/errors.md');

/** The rows of the table below a heading, as cells. */
function rowsOf(heading: string): string[][] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  const rows = [...own.matchAll(/^\| (`.*) \|$/gm)];
  return rows.map(([, row = '']) => row.split(' | ').map((cell) => cell.trim()));
}

const codesOf = (heading: string): string[] =>
  rowsOf(heading).map(([code = '']) => code.replaceAll('`', ''));

/** The sources of a library, without its specs. */
const sourcesOf = (library: string): string =>
  readdirSync(join(ROOT, library), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
    .map((path) => read(join(library, path)))
    .join('\n');

const found = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, code = '']) => code)),
];

const sorted = (codes: readonly string[]): string[] => [...codes].toSorted();

describe('docs/errors.md', () => {
  it('has a row for each code of the gateway, with its status and type', () => {
    const written = Object.fromEntries(
      rowsOf('Gateway').map(([code = '', of]) => [code.replaceAll('`', ''), of]),
    );
    const codes = Object.keys(API_ERRORS) as ApiErrorCode[];
    const expected = codes.map((code) => {
      const { status, body } = new ApiError(code);
      return [code, `${status} \`${body.error.type}\``];
    });
    expect(written).toEqual(Object.fromEntries(expected));
  });

  it('has a row for each code of the command line', () => {
    const source = read('src/cli/command-errors.ts') + read('src/cli/output.ts');
    expect(sorted(codesOf('Command line'))).toEqual(sorted(found(source, /code: '([a-z_]+)'/g)));
  });

  it('has a row for each code of @dundun/messaging, with errors that exist', () => {
    const [, union = ''] = /MessagingErrorCode =([^;]+);/.exec(
      read('libs/messaging/src/message/errors.ts'),
    ) ?? [null, ''];
    const [, policies = ''] = /PolicyCode =([^;]+);/.exec(
      read('libs/messaging/src/message/errors.ts'),
    ) ?? [null, ''];
    const codes = found(union + policies, /'([a-z_]+)'/g);
    expect(sorted(codesOf('Library'))).toEqual(sorted(codes));
    const source = sourcesOf('libs/messaging/src');
    // The type also admits codes of an app; those of the library are in its union.
    const thrown = found(
      source,
      /extends (?:MessagingError|MessageValidationError) \{(?:(?!\n\})[^])*?super\(\s*'([a-z_]+)'/g,
    );
    expect(thrown.length).toBeGreaterThan(15);
    expect(thrown.filter((code) => !codes.includes(code))).toEqual([]);
    const classes = rowsOf('Library').flatMap(([, names = '']) => found(names, /`(\w+)`/g));
    expect(classes.filter((name) => !source.includes(`class ${name} `))).toEqual([]);
  });

  it('has a row for each code of @dundun/dashboard', () => {
    const codes = found(
      sourcesOf('libs/dashboard/src'),
      /new DashboardError\(\s*\d+,\s*'([a-z_]+)'/g,
    );
    expect(sorted(codesOf('Dashboard'))).toEqual(sorted(codes));
  });

  it('has a row for each code of @dundun/smpp', () => {
    const codes = found(sourcesOf('libs/smpp/src'), /readonly code = '([a-z_]+)'/g);
    expect(sorted(codesOf('SMPP'))).toEqual(sorted(codes));
  });

  it('says why, and what helps, in every row', () => {
    const rows = [...PAGE.matchAll(/^\| `.*$/gm)].map(([row]) => row.split('|').slice(1, -1));
    expect(rows.length).toBeGreaterThan(80);
    expect(rows.filter((cells) => cells.some((cell) => cell.trim() === ''))).toEqual([]);
  });
});
