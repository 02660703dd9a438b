import { beforeAll, describe, expect, it } from '@jest/globals';
import { allowedImports } from './layers/allowed-imports.js';
import { type Diagnostic, lint } from './layers/lint.js';
import { violations } from './layers/violations.js';

// A rule that no longer fires looks like clean code, so each rule gets a planted violation.
describe('lint enforces the layers', () => {
  let found: Diagnostic[];

  beforeAll(async () => {
    const files = { ...allowedImports };
    for (const [, path, text] of violations) files[path] = [files[path], text].join('\n');
    found = await lint(files);
  });

  it('imports of lower layers pass lint', async () => {
    expect(await lint(allowedImports)).toEqual([]);
  });

  it.each(violations)('%s (%s)', (_wrong, path, _text, rule) => {
    expect(found.filter(({ filename }) => filename === path).map(({ code }) => code)).toContain(
      rule,
    );
  });

  it('lint reports only the planted violations', () => {
    const paths = new Set(violations.map(([, path]) => path));
    expect(found.filter(({ filename }) => !paths.has(filename))).toEqual([]);
  });
});
