import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

/** Files and folders of the sources, each after a slash. */
const known = ['src', 'libs', 'test', 'examples', 'docs'].flatMap((top) =>
  readdirSync(join(ROOT, top), { recursive: true })
    .filter((path) => !/node_modules|(?:^|\/)dist(?:\/|$)/.test(String(path)))
    .map((path) => `/${top}/${String(path)}`),
);

it('each file and folder that docs/changing.md names is there', () => {
  const page = readFileSync(join(ROOT, 'docs/changing.md'), 'utf8');
  const named = [...page.matchAll(/`([^`\s<>*()@]+(?:\/|\.tsx?))`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(100);
  const missing = named.filter(
    (path) => !known.some((one) => one.endsWith(`/${path.replace(/\/$/, '')}`)),
  );
  expect(missing).toEqual([]);
});
