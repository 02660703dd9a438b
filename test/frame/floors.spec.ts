import { beforeAll, describe, expect, it } from '@jest/globals';
import { house } from './floors/house.js';
import { type Diagnostic, lint } from './floors/lint.js';
import { planted } from './floors/planted.js';

// A rule that no longer fires looks like clean code, so each rule gets a planted violation.
describe('lint keeps the floors', () => {
  let found: Diagnostic[];

  beforeAll(async () => {
    const files = { ...house };
    for (const [, path, text] of planted) files[path] = [files[path], text].join('\n');
    found = await lint(files);
    // Type-aware lint starts a compiler.
  }, 60_000);

  it('a house in which everybody looks down is clean', async () => {
    expect(await lint(house)).toEqual([]);
  });

  it.each(planted)('%s (%s)', (_wrong, path, _text, rule) => {
    expect(found.filter(({ filename }) => filename === path).map(({ code }) => code)).toContain(
      rule,
    );
  });

  it('and nothing else is found fault with', () => {
    const paths = new Set(planted.map(([, path]) => path));
    expect(found.filter(({ filename }) => !paths.has(filename))).toEqual([]);
  });
});
